/* What PyTorch's allocator reserves beyond what a training job has allocated at its peak. */
#ifndef VC_TRAIN_RESERVE_H
#define VC_TRAIN_RESERVE_H

#include "train_phase.h"

/* Fills peak->fragmentation; the rest of the peak is known. */
void train_reserve(const struct train_job *job, struct train_peak *peak);

#endif
