/* How far from the expected peak a training job's memory can lie. */
#ifndef VC_TRAIN_RANGE_H
#define VC_TRAIN_RANGE_H

#include "train_phase.h"

/* Whether samples of several lengths, where a job may have them, would leave much behind. */
bool train_mixes_lengths(const struct train_job *job);

/* Fills low_bytes and high_bytes of the ledger; `total_bytes` is what the driver would show. */
void train_range(const struct train_job *job, const struct train_peak *peak, uint64_t total_bytes,
                 struct vc_ledger *ledger);

#endif
