#include "quantity.h"
#include "test.h"

struct row {
	enum vc_quantity kind;
	enum vc_quantity_status status;
	const char *text;
	uint64_t value;
};

static const struct row rows[] = {
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "7B", 7000000000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "7e9", 7000000000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "1.07B", 1070000000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "6.738415616B", 6738415616 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "6_738_415_616", 6738415616 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "340M", 340000000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "1.8T", 1800000000000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "128k", 128000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "128Ki", 131072 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "1Mi", 1048576 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "0.5Ki", 512 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "7b", 7000000000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "7 B", 7000000000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "2.50e3", 2500 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "100000000000000000000000e-20", 1000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "1.0000000000000000000000000000B", 1000000000 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "0", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "0e9999999999", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "9223372036854775807", INT64_MAX },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_TOO_LARGE, "9223372036854775808", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_OK, "8388607Ti", 8388607ull << 40 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_TOO_LARGE, "8388608Ti", 0 },
	/* 2^64 and 2^70 */
	{ VC_QUANTITY_COUNT, VC_QUANTITY_TOO_LARGE, "18446744073709551616", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_TOO_LARGE, "1180591620717411303424", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_TOO_LARGE, "1e400", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_TOO_LARGE, "1e99999999999", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_FRACTION, "1.5", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_FRACTION, "1.0000000001B", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_FRACTION, "0.3Ki", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_FRACTION, "1e-400", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_FRACTION, "1.9999999999999999999999999B", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_NEGATIVE, "-1", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_NEGATIVE, "-7B", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "7Q", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "-7Q", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "B", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "7 ", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "7  B", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, " 7", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "+7", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "010", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "0x10", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "7.", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, ".5B", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "1,5B", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "1__0", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "1_", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "7e", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "7e+", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "nan", 0 },
	{ VC_QUANTITY_COUNT, VC_QUANTITY_MALFORMED, "7GB", 0 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_OK, "24GB", 24000000000 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_OK, "80GiB", 85899345920 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_OK, "512MiB", 536870912 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_OK, "1.5 GiB", 1610612736 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_OK, "100B", 100 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_OK, "0", 0 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_OK, "1000000", 1000000 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_NO_UNIT, "100", 0 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_NO_UNIT, "24", 0 },
	{ VC_QUANTITY_BYTES, VC_QUANTITY_MALFORMED, "24G", 0 },
	{ VC_QUANTITY_PPM, VC_QUANTITY_OK, "0.9", 900000 },
	{ VC_QUANTITY_PPM, VC_QUANTITY_OK, "1", 1000000 },
	{ VC_QUANTITY_PPM, VC_QUANTITY_OK, "9e-1", 900000 },
	{ VC_QUANTITY_PPM, VC_QUANTITY_FRACTION, "0.0000001", 0 },
	{ VC_QUANTITY_PPM, VC_QUANTITY_MALFORMED, "90%", 0 },
	{ VC_QUANTITY_MICROS, VC_QUANTITY_OK, "1.25", 1250000 },
	{ VC_QUANTITY_MICROS, VC_QUANTITY_NEGATIVE, "-1", 0 },
};

static void each_text_has_its_value(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t value = 12345;
		enum vc_quantity_status status =
		        vc_quantity_parse(rows[i].kind, rows[i].text, &value);
		uint64_t expected = rows[i].status == VC_QUANTITY_OK ? rows[i].value : 12345;

		if (status != rows[i].status || value != expected) {
			fail_msg("'%s': status %d, value %" PRIu64, rows[i].text, status, value);
		}
	}
}

/* 0.00B to 99.99B: the integer is the hundredths times 10^7, which no double is asked about. */
static void two_decimals_are_exact(void **state)
{
	(void)state;
	for (unsigned hundredths = 0; hundredths < 10000; hundredths++) {
		char text[16];
		uint64_t value;

		(void)snprintf(text, sizeof text, "%u.%02uB", hundredths / 100, hundredths % 100);
		assert_int_equal(vc_quantity_parse(VC_QUANTITY_COUNT, text, &value),
		                 VC_QUANTITY_OK);
		assert_u64(value, hundredths * UINT64_C(10000000));
	}
}

static void round_trip(enum vc_quantity kind, uint64_t value)
{
	char text[VC_QUANTITY_TEXT];
	uint64_t again = ~value;

	vc_quantity_format(kind, value, text);
	if (vc_quantity_parse(kind, text, &again) != VC_QUANTITY_OK || again != value) {
		fail_msg("%" PRIu64 " is written '%s' and read as %" PRIu64, value, text, again);
	}
}

static void what_is_written_is_read_back(void **state)
{
	uint64_t random = 88172645463325252u; /* xorshift64: the same numbers in every run */

	(void)state;
	for (int i = 0; i < 200000; i++) {
		enum vc_quantity kind = (enum vc_quantity)(i % 4);

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		round_trip(kind, (random >> 1) >> (random % 63));
		/* values that end in zeros of either kind */
		round_trip(kind, (random % 4096) << (random % 48));
		round_trip(kind, (random % 10000) * UINT64_C(10000000));
	}
	for (int kind = VC_QUANTITY_COUNT; kind <= VC_QUANTITY_MICROS; kind++) {
		round_trip((enum vc_quantity)kind, 0);
		round_trip((enum vc_quantity)kind, 1);
		round_trip((enum vc_quantity)kind, INT64_MAX);
	}
}

static void people_find_their_own_spelling(void **state)
{
	static const struct {
		enum vc_quantity kind;
		uint64_t value;
		const char *text;
	} spellings[] = {
		{ VC_QUANTITY_COUNT, 7000000000, "7B" },
		{ VC_QUANTITY_COUNT, 1070000000, "1.07B" },
		{ VC_QUANTITY_COUNT, 340000000, "340M" },
		{ VC_QUANTITY_COUNT, 6738415616, "6738415616" },
		{ VC_QUANTITY_COUNT, 1234567890, "1234567890" },
		{ VC_QUANTITY_COUNT, 4096, "4096" },
		{ VC_QUANTITY_COUNT, 131072, "128Ki" },
		{ VC_QUANTITY_COUNT, 128000, "128k" },
		{ VC_QUANTITY_BYTES, 24000000000, "24GB" },
		{ VC_QUANTITY_BYTES, 85899345920, "80GiB" },
		{ VC_QUANTITY_BYTES, 100, "100B" },
		{ VC_QUANTITY_PPM, 900000, "0.9" },
		{ VC_QUANTITY_MICROS, 1250000, "1.25" },
	};
	char text[VC_QUANTITY_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
		assert_string_equal(vc_quantity_format(spellings[i].kind, spellings[i].value, text),
		                    spellings[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_has_its_value),
		cmocka_unit_test(two_decimals_are_exact),
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(people_find_their_own_spelling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
