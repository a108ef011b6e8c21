/* Offers in CSV: a header that names the columns, then one instance type a row. */
#include "catalog_draft.h"
#include "csv.h"
#include "name_set.h"
#include "nearest.h"
#include "quantity.h"

#include <string.h>

enum column {
	CLOUD,
	REGION,
	INSTANCE,
	GPU,
	GPUS,
	HOST,
	KIND,
	ON_DEMAND,
	SPOT,
	CURRENCY,
	AS_OF,
	SOURCE,
	NOTE,
	COLUMNS
};

static const struct {
	const char *name;
	bool required;
} columns[COLUMNS] = {
	[CLOUD] = { "cloud", true },       [REGION] = { "region", false },
	[INSTANCE] = { "instance", true }, [GPU] = { "gpu", true },
	[GPUS] = { "gpus", false },        [HOST] = { "host_gib", false },
	[KIND] = { "kind", false },        [ON_DEMAND] = { "on_demand", true },
	[SPOT] = { "spot", false },        [CURRENCY] = { "currency", false },
	[AS_OF] = { "as_of", false },      [SOURCE] = { "source", false },
	[NOTE] = { "note", false },
};

static const char *const kinds[] = {
	[VC_OFFER_LIST] = "list",         [VC_OFFER_MARKET] = "market",
	[VC_OFFER_FRACTION] = "fraction", [VC_OFFER_QUOTED] = "quoted",
	[VC_OFFER_OWN] = "own",
};

enum {
	KINDS = sizeof kinds / sizeof kinds[0]
};

const char *vc_offer_kind_name(enum vc_offer_kind kind)
{
	return kinds[kind];
}

bool vc_offer_ranks(const struct vc_offer *offer)
{
	return offer->kind != VC_OFFER_FRACTION && offer->kind != VC_OFFER_QUOTED;
}

/* The file being read; index[column] is where a row holds it, or -1. */
struct reader {
	struct vc_catalog_draft *draft;
	const char *name;
	struct vc_csv_row row;
	int index[COLUMNS];
	uint32_t header_count;
};

static struct vc_place place_of(const struct reader *reader, enum column column)
{
	struct vc_place place = { reader->name, reader->row.line, 1 };
	int index = reader->index[column];

	if (index >= 0) {
		place.column = (uint32_t)index < reader->row.count ? reader->row.columns[index]
		                                                   : reader->row.end_column;
	}
	return place;
}

static char *text_of(struct reader *reader, enum column column)
{
	static char empty[1];
	int index = reader->index[column];

	return index >= 0 && (uint32_t)index < reader->row.count ? reader->row.values[index]
	                                                         : empty;
}

static const char *keep(struct reader *reader, enum column column)
{
	return vc_draft_keep(reader->draft, text_of(reader, column));
}

static int column_by_name(const char *name)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (strcmp(columns[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

static void refuse_column(struct reader *reader, uint32_t i)
{
	struct vc_place place = { reader->name, reader->row.line, reader->row.columns[i] };
	struct vc_nearest nearest = { .wanted = reader->row.values[i] };

	for (int c = 0; c < COLUMNS; c++) {
		vc_nearest_offer(&nearest, columns[c].name);
	}
	if (nearest.best) {
		vc_errors_add(reader->draft->errors, &place, nearest.wanted,
		              "unknown column (did you mean %s?)", nearest.best);
	} else {
		vc_errors_add(reader->draft->errors, &place, nearest.wanted,
		              "unknown column (cloud, region, instance, gpu, gpus, host_gib, kind, "
		              "on_demand, spot, currency, as_of, source, note)");
	}
}

static bool read_header(struct reader *reader)
{
	struct vc_place start = { reader->name, reader->row.line, 1 };
	size_t errors = reader->draft->errors->count;

	memset(reader->index, -1, sizeof reader->index);
	reader->header_count = reader->row.count;
	for (uint32_t i = 0; i < reader->row.count; i++) {
		int column = column_by_name(reader->row.values[i]);

		if (column < 0) {
			refuse_column(reader, i);
		} else if (reader->index[column] >= 0) {
			start.column = reader->row.columns[i];
			vc_errors_add(reader->draft->errors, &start, columns[column].name,
			              "named twice (each column once)");
		} else {
			reader->index[column] = (int)i;
		}
	}
	for (int i = 0; i < COLUMNS; i++) {
		if (columns[i].required && reader->index[i] < 0) {
			start.column = 1;
			vc_errors_add(reader->draft->errors, &start, columns[i].name,
			              "column is missing (the first line names the columns)");
		}
	}
	return reader->draft->errors->count == errors;
}

/* An empty value is 0: unknown. A price of 0 would rank first, so it is refused. */
static uint64_t amount(struct reader *reader, enum column column)
{
	struct vc_place place = place_of(reader, column);
	const char *text = text_of(reader, column);
	uint64_t value = 0;

	if (!*text) {
		return 0;
	}
	if (vc_quantity_parse(VC_QUANTITY_MICROS, text, &value) != VC_QUANTITY_OK || value == 0) {
		vc_errors_add(reader->draft->errors, &place, columns[column].name,
		              "'%s' is not a positive number (such as 1.25; empty: unknown)", text);
		return 0;
	}
	return value;
}

static uint64_t price(struct reader *reader, enum column column)
{
	struct vc_place place = place_of(reader, column);
	uint64_t micros = amount(reader, column);

	if (micros > VC_MOST_PRICE_MICROS) {
		vc_errors_add(reader->draft->errors, &place, columns[column].name,
		              "'%s' is too much (9000000 an hour at most)",
		              text_of(reader, column));
		return 0;
	}
	return micros;
}

static uint32_t gpus(struct reader *reader)
{
	struct vc_place place = place_of(reader, GPUS);
	uint64_t micros = reader->index[GPUS] < 0 ? 1000000 : amount(reader, GPUS);

	if (micros > UINT64_C(1024000000)) {
		vc_errors_add(reader->draft->errors, &place, "gpus",
		              "'%s' is too many (1024 GPUs at most)", text_of(reader, GPUS));
		return 0;
	}
	return (uint32_t)micros;
}

/* In thousandths of a GiB, of which 2^64 bytes hold more than any machine has. */
static uint64_t host_bytes(struct reader *reader)
{
	enum {
		MOST_GIB = 1000000
	};
	struct vc_place place = place_of(reader, HOST);
	uint64_t micros = amount(reader, HOST);

	if (micros > UINT64_C(1000000) * MOST_GIB) {
		vc_errors_add(reader->draft->errors, &place, "host_gib",
		              "'%s' is too much (1000000 GiB at most)", text_of(reader, HOST));
		return 0;
	}
	return micros / 1000 * (UINT64_C(1) << 30) / 1000;
}

static enum vc_offer_kind kind(struct reader *reader)
{
	struct vc_place place = place_of(reader, KIND);
	const char *text = text_of(reader, KIND);

	for (int i = 0; i < KINDS; i++) {
		if (strcmp(text, kinds[i]) == 0) {
			return (enum vc_offer_kind)i;
		}
	}
	if (*text) {
		vc_errors_add(reader->draft->errors, &place, "kind",
		              "unknown '%s' (list, market, fraction, quoted or own)", text);
	}
	return VC_OFFER_LIST;
}

static void currency(struct reader *reader, char code[4])
{
	struct vc_place place = place_of(reader, CURRENCY);
	const char *text = text_of(reader, CURRENCY);

	memcpy(code, "USD", 4);
	if (!*text) {
		return;
	}
	if (strlen(text) != 3 || strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
		vc_errors_add(reader->draft->errors, &place, "currency",
		              "'%s' is no currency (three capitals such as USD)", text);
		return;
	}
	memcpy(code, text, 4);
}

/* ---- Which offers there are, by cloud, region and instance ---- */

enum {
	BUCKETS = 65536
};

/* Numbers of offers, from 1; 0: none. */
struct vc_offer_index {
	uint32_t first[BUCKETS];
	uint32_t *next; /* of the offer at this place; as much room as there is for offers */
	size_t room;
};

static bool same_offer(const struct vc_offer *a, const struct vc_offer *b)
{
	return strcmp(a->cloud, b->cloud) == 0 && strcmp(a->region, b->region) == 0 &&
	       strcmp(a->instance, b->instance) == 0;
}

static uint32_t *bucket_of(struct vc_offer_index *index, const struct vc_offer *offer)
{
	const char *const names[] = { offer->cloud, offer->region, offer->instance };
	uint64_t value = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		value = value * 31 + vc_name_hash(names[i], strlen(names[i]));
	}
	return &index->first[(value >> 32) % BUCKETS];
}

/* Puts draft->offers[i] in; false without memory. */
static bool index_offer(struct vc_catalog_draft *draft, size_t i)
{
	struct vc_offer_index *index = draft->index;
	uint32_t *bucket = bucket_of(index, &draft->offers[i]);

	if (index->room < draft->offer_room) {
		uint32_t *next =
		        vc_arena_take(&draft->arena, draft->offer_room * sizeof *index->next);

		if (!next) {
			vc_draft_no_memory(draft);
			return false;
		}
		if (index->room) {
			memcpy(next, index->next, index->room * sizeof *next);
		}
		index->next = next;
		index->room = draft->offer_room;
	}
	index->next[i] = *bucket;
	*bucket = (uint32_t)i + 1;
	return true;
}

static bool start_index(struct vc_catalog_draft *draft)
{
	bool good = true;

	draft->index = vc_arena_take(&draft->arena, sizeof *draft->index);
	if (!draft->index) {
		vc_draft_no_memory(draft);
		return false;
	}
	for (size_t i = 0; i < draft->offer_count && good; i++) {
		good = index_offer(draft, i);
	}
	return good;
}

static struct vc_offer *find_offer(struct vc_catalog_draft *draft, const struct vc_offer *like)
{
	for (uint32_t at = *bucket_of(draft->index, like); at; at = draft->index->next[at - 1]) {
		if (same_offer(&draft->offers[at - 1], like)) {
			return &draft->offers[at - 1];
		}
	}
	return NULL;
}

static void put(struct reader *reader, const struct vc_offer *offer)
{
	struct vc_catalog_draft *draft = reader->draft;
	struct vc_offer *to = find_offer(draft, offer), *replaced = NULL;
	struct vc_place place = place_of(reader, INSTANCE);

	if (!to) {
		to = vc_draft_add_offer(draft);
		if (to) {
			*to = *offer;
			(void)index_offer(draft, draft->offer_count - 1);
		}
		return;
	}
	if (to->origin.file == reader->name) {
		vc_errors_add(draft->errors, &place, columns[INSTANCE].name,
		              "has the cloud, region and instance of line %u (each once in a file)",
		              (unsigned)to->origin.line);
		return;
	}
	if (to->origin.file) {
		replaced = vc_draft_add_replaced(draft);
	}
	if (replaced) {
		*replaced = *to;
	}
	*to = *offer;
}

static void read_row(struct reader *reader)
{
	size_t errors = reader->draft->errors->count;
	struct vc_offer offer = { .origin = vc_draft_origin(reader->draft, reader->name,
		                                            reader->row.line) };

	if (reader->row.count > reader->header_count) {
		struct vc_place place = { reader->name, reader->row.line,
			                  reader->row.columns[reader->header_count] };

		vc_errors_add(reader->draft->errors, &place, "",
		              "more values than columns (%u at most)", reader->header_count);
	}
	for (int i = 0; i < COLUMNS; i++) {
		struct vc_place place = place_of(reader, (enum column)i);

		if (columns[i].required && i != ON_DEMAND && !*text_of(reader, (enum column)i)) {
			vc_errors_add(reader->draft->errors, &place, columns[i].name,
			              "is empty (a name)");
		}
	}
	offer.cloud = keep(reader, CLOUD);
	offer.region = keep(reader, REGION);
	offer.instance = keep(reader, INSTANCE);
	offer.gpu_id = keep(reader, GPU);
	offer.gpu_column = place_of(reader, GPU).column;
	offer.as_of = keep(reader, AS_OF);
	offer.source = keep(reader, SOURCE);
	offer.note = keep(reader, NOTE);
	offer.kind = kind(reader);
	offer.gpus_micros = gpus(reader);
	offer.host_bytes = host_bytes(reader);
	offer.on_demand_micros = price(reader, ON_DEMAND);
	offer.spot_micros = price(reader, SPOT);
	currency(reader, offer.currency);
	if (reader->draft->errors->count == errors) {
		put(reader, &offer);
	}
}

void vc_draft_read_offers(struct vc_catalog_draft *draft, const struct vc_catalog_text *source)
{
	char *text = vc_arena_text(&draft->arena, source->text, source->length);
	struct reader reader = { .draft = draft };
	struct vc_csv csv = { 0 };

	reader.name = vc_arena_text(&draft->arena, source->name, strlen(source->name));
	if (!text || !reader.name) {
		vc_draft_no_memory(draft);
		return;
	}
	if (!draft->index && !start_index(draft)) {
		return;
	}
	csv.at = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
	csv.end = text + source->length;
	if (vc_csv_next(&csv, &reader.row) && read_header(&reader)) {
		while (vc_csv_next(&csv, &reader.row)) {
			read_row(&reader);
		}
	} else if (!csv.problem && reader.row.count == 0) {
		struct vc_place place = { reader.name, 1, 1 };

		vc_errors_add(draft->errors, &place, "", "the file is empty (a header and rows)");
	}
	if (csv.problem) {
		struct vc_place place = { reader.name, reader.row.line, csv.problem_column };

		vc_errors_add(draft->errors, &place, "", "%s", csv.problem);
	}
}
