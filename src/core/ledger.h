/* Writing a ledger: lines, notes, phases. */
#ifndef VC_LEDGER_H
#define VC_LEDGER_H

#include "vramcalc/vramcalc.h"

/* Adds a line and returns it so that inputs can be put in; lines of 0 bytes are kept out by
 * callers. */
struct vc_line *vc_ledger_add(struct vc_ledger *ledger, enum vc_component component, uint64_t bytes,
                              const char *formula);
struct vc_line *vc_ledger_add_host(struct vc_ledger *ledger, enum vc_component component,
                                   uint64_t bytes, const char *formula);
void vc_line_input(struct vc_line *line, const char *name, uint64_t value);
/* What the line may be off by. */
void vc_line_range(struct vc_line *line, uint64_t below, uint64_t above);
void vc_line_ratio(struct vc_line *line, const char *name, uint64_t value, uint64_t divisor);
/* Up to three numbers; a code that is there already is not added again. */
void vc_ledger_note(struct vc_ledger *ledger, const char *code, const char *text,
                    const uint64_t args[3]);
void vc_ledger_phase(struct vc_ledger *ledger, const char *name, uint64_t total_bytes);
/* Sums the lines into total_bytes and checks every byte count. */
enum vc_status vc_ledger_finish(struct vc_ledger *ledger, struct vc_error *error);

#endif
