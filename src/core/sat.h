/*
 * Saturating arithmetic for byte counts: overflow sticks at UINT64_MAX through any chain of sums
 * and products, so that one check at the end (sat_ok) catches it wherever it happened.
 */
#ifndef VC_SAT_H
#define VC_SAT_H

#include <stdbool.h>
#include <stdint.h>

#define SAT_MAX UINT64_MAX

static inline uint64_t sat_add(uint64_t a, uint64_t b)
{
	return a > SAT_MAX - b ? SAT_MAX : a + b;
}

static inline uint64_t sat_mul(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0) {
		return 0;
	}
	return a > SAT_MAX / b ? SAT_MAX : a * b;
}

static inline uint64_t sat_mul3(uint64_t a, uint64_t b, uint64_t c)
{
	return sat_mul(sat_mul(a, b), c);
}

/* What an overflow leaves is not a number to subtract from: it stays. Below zero is zero. */
static inline uint64_t sat_sub(uint64_t a, uint64_t b)
{
	if (a == SAT_MAX) {
		return SAT_MAX;
	}
	return a > b ? a - b : 0;
}

/* Quotient rounded up; an overflowed dividend stays overflowed, and 0 divides nothing. */
static inline uint64_t sat_div_up(uint64_t dividend, uint64_t divisor)
{
	if (dividend == SAT_MAX || divisor == 0) {
		return SAT_MAX;
	}
	return dividend / divisor + (dividend % divisor != 0);
}

/* a * numerator / denominator, rounded up, exact as long as the result fits. */
static inline uint64_t sat_scale_up(uint64_t a, uint64_t numerator, uint64_t denominator)
{
	uint64_t whole, rest;

	if (a == SAT_MAX) {
		return SAT_MAX;
	}
	whole = sat_mul(a / denominator, numerator);
	rest = sat_mul(a % denominator, numerator);
	return sat_add(whole, sat_div_up(rest, denominator));
}

static inline uint64_t sat_round_up(uint64_t a, uint64_t multiple)
{
	return sat_mul(sat_div_up(a, multiple), multiple);
}

static inline uint64_t sat_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Byte counts end at 2^63-1, so that every consumer can hold them in a signed integer. */
static inline bool sat_ok(uint64_t bytes)
{
	return bytes <= INT64_MAX;
}

#endif
