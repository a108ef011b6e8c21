/* Numbers with units, as people write them: 7B, 6_738_415_616, 128Ki, 24GB, 0.9. Exact. */
#ifndef VC_QUANTITY_H
#define VC_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vc_quantity {
	VC_QUANTITY_COUNT, /* k M B G T are powers of 10^3, Ki Mi Gi Ti of 2^10: 7B, 128k, 128Ki */
	VC_QUANTITY_BYTES, /* B kB MB GB TB and KiB MiB GiB TiB; bare, a million bytes or more: 24GB
	                    */
	VC_QUANTITY_PPM,   /* a plain decimal in millionths: 0.9 is 900000 */
	VC_QUANTITY_MICROS /* the same, for money: 1.25 is 1250000 */
};

enum vc_quantity_status {
	VC_QUANTITY_OK,
	VC_QUANTITY_MALFORMED, /* not a number with a known suffix */
	VC_QUANTITY_NO_UNIT,   /* bytes that must be meant in another unit */
	VC_QUANTITY_NEGATIVE,
	VC_QUANTITY_FRACTION, /* not a whole number of the smallest unit */
	VC_QUANTITY_TOO_LARGE /* above 2^63-1 */
};

/* One decimal conversion without floating point: "1.07B" is exactly 1070000000. */
enum vc_quantity_status vc_quantity_parse(enum vc_quantity kind, const char *text, uint64_t *value);

/* What a field of this kind expects, for messages: "a whole number such as 7B, ...". */
const char *vc_quantity_expected(enum vc_quantity kind);

/* The shortest text that vc_quantity_parse() turns back into `value`: 7000000000 is "7B". */
enum {
	VC_QUANTITY_TEXT = 32
};
char *vc_quantity_format(enum vc_quantity kind, uint64_t value, char text[VC_QUANTITY_TEXT]);

#endif
