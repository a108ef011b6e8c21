/* What every unit test includes: cmocka in the order its header wants, and exact assertions on
 * 64-bit counts, which cmocka prints in hexadecimal. */
#ifndef VC_TEST_H
#define VC_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define assert_u64(got, want) assert_u64_at((got), (want), #got, __FILE__, __LINE__)

static inline void assert_u64_at(uint64_t got, uint64_t want, const char *what, const char *file,
                                 int line)
{
	if (got != want) {
		print_error("%s: %" PRIu64 ", expected %" PRIu64 "\n", what, got, want);
		_fail(file, line);
	}
}

#endif
