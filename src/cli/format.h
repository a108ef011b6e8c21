/* Numbers as people read them: bytes in a unit, counts, money. Integer arithmetic throughout. */
#ifndef VC_CLI_FORMAT_H
#define VC_CLI_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum byte_unit {
	UNIT_GB,
	UNIT_GIB,
	UNIT_MIB,
	UNIT_B,
	UNIT_COUNT
};

/* What a GPU must offer is rounded up and what is left over down, so that no table promises more
 * than there is. */
enum rounding {
	ROUND_NEAREST,
	ROUND_UP,
	ROUND_DOWN
};

const char *format_unit_name(enum byte_unit unit);
uint64_t format_unit_bytes(enum byte_unit unit);

/* Digits behind the point that keep a value of this size readable in this unit: two, or three
 * significant ones below 1. */
unsigned format_decimals(uint64_t bytes, enum byte_unit unit);
/* At least so many, and up to two more where that tells a size from nothing: 0.003, not 0.00. */
unsigned format_visible_decimals(uint64_t bytes, enum byte_unit unit, unsigned decimals);

/* "13.48", without the unit's name. */
struct byte_style {
	enum byte_unit unit;
	unsigned decimals;
	enum rounding rounding;
};
void format_bytes(char *to, size_t size, uint64_t bytes, struct byte_style style);

/* "13.48 GB", in as many digits as its size asks for; exact values lose their trailing zeros. */
void format_quantity(char *to, size_t size, uint64_t bytes, enum byte_unit unit,
                     enum rounding rounding);

/* "6.74B", "335M", "512": four significant digits at most, trailing zeros dropped. */
void format_count(char *to, size_t size, uint64_t count);

/* value / divisor in the fewest digits that are exact, or nine behind the point. */
void format_ratio(char *to, size_t size, uint64_t value, uint64_t divisor);

/* "$0.53" or "3.85 CNY" from millionths; three digits below a tenth. */
void format_price(char *to, size_t size, uint64_t micros, const char *currency);

#endif
