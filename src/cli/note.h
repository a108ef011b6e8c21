/* Notes of a ledger as sentences, and formulas with their numbers put in. */
#ifndef VC_CLI_NOTE_H
#define VC_CLI_NOTE_H

#include "format.h"

#include "vramcalc/vramcalc.h"

/* The note's text as a sentence, with {0}, {0B} and {0%} replaced. */
void note_render(char *to, size_t size, const struct vc_note *note, enum byte_unit unit);

/* Where a formula's label in words begins, " (buckets)" in "elements × b (buckets)"; NULL: it has
 * none. */
const char *formula_label(const char *formula);

/* The formula without its label, with its inputs' values in place of their names:
 * "7000000000 × 0.5". */
void formula_render(char *to, size_t size, const struct vc_line *line);

/* What the formula's names stand for: "P: parameters; b: bytes per element". */
void formula_legend(char *to, size_t size, const struct vc_line *line);

#endif
