/* Size classes by number of parameters and what each class usually takes. */
#ifndef VC_SIZE_CLASS_H
#define VC_SIZE_CLASS_H

#include "vramcalc/vramcalc.h"

void vc_note_size_class(struct vc_ledger *ledger, enum vc_task task, uint64_t params);

#endif
