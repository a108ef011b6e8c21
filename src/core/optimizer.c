/*
 * What each optimizer keeps per trained element. `states` is the documents' count, in copies the
 * size of a parameter; state_bytes in state_elements is what implementations keep beside fp32
 * parameters: torch.optim; bitsandbytes (arxiv.org/abs/2110.02861: 8 bits and an fp32 scale per
 * block of 256 for each of two moments); torchao's 4-bit AdamW (blocks of 128); Adafactor
 * (arxiv.org/abs/1804.04235) keeps sums of rows and columns only; GaLore (arxiv.org/abs/2403.03507)
 * keeps low-rank moments.
 */
#include "text.h"
#include "vramcalc/vramcalc.h"

#include <string.h>

static const struct vc_optimizer_info optimizers[VC_OPTIMIZER_COUNT] = {
	[VC_OPTIMIZER_DEFAULT] = { .name = "adamw",
	                           .states = 2,
	                           .state_bytes = 8,
	                           .state_elements = 1,
	                           .follows_dtype = true,
	                           .summary = "two moments" },
	[VC_OPTIMIZER_NONE] = { .name = "none", .state_elements = 1, .summary = "no state" },
	[VC_OPTIMIZER_SGD] = { .name = "sgd", .state_elements = 1, .summary = "no state" },
	[VC_OPTIMIZER_SGD_MOMENTUM] = { .name = "sgd-momentum",
	                                .states = 1,
	                                .state_bytes = 4,
	                                .state_elements = 1,
	                                .follows_dtype = true,
	                                .summary = "momentum" },
	[VC_OPTIMIZER_ADAM] = { .name = "adam",
	                        .states = 2,
	                        .state_bytes = 8,
	                        .state_elements = 1,
	                        .follows_dtype = true,
	                        .summary = "two moments" },
	[VC_OPTIMIZER_ADAMW] = { .name = "adamw",
	                         .states = 2,
	                         .state_bytes = 8,
	                         .state_elements = 1,
	                         .follows_dtype = true,
	                         .summary = "two moments" },
	[VC_OPTIMIZER_ADAMW_8BIT] = { .name = "adamw-8bit",
	                              .states = 2,
	                              .state_bytes = 520,
	                              .state_elements = 256,
	                              .summary = "two moments in 8 bits, a scale per 256" },
	[VC_OPTIMIZER_ADAMW_4BIT] = { .name = "adamw-4bit",
	                              .states = 2,
	                              .state_bytes = 136,
	                              .state_elements = 128,
	                              .summary = "two moments in 4 bits, a scale per 128" },
	[VC_OPTIMIZER_PAGED_ADAMW] = { .name = "paged-adamw",
	                               .states = 2,
	                               .state_bytes = 8,
	                               .state_elements = 1,
	                               .paged = true,
	                               .summary =
	                                       "two fp32 moments that may spill to host memory" },
	[VC_OPTIMIZER_PAGED_ADAMW_8BIT] = { .name = "paged-adamw-8bit",
	                                    .states = 2,
	                                    .state_bytes = 520,
	                                    .state_elements = 256,
	                                    .paged = true,
	                                    .summary = "8-bit moments that may spill" },
	[VC_OPTIMIZER_ADAFACTOR] = { .name = "adafactor",
	                             .state_elements = 1,
	                             .summary = "row and column sums of the second moment" },
	[VC_OPTIMIZER_LION] = { .name = "lion",
	                        .states = 1,
	                        .state_bytes = 4,
	                        .state_elements = 1,
	                        .follows_dtype = true,
	                        .summary = "one moment" },
	[VC_OPTIMIZER_LION_8BIT] = { .name = "lion-8bit",
	                             .states = 1,
	                             .state_bytes = 260,
	                             .state_elements = 256,
	                             .summary = "one moment in 8 bits" },
	[VC_OPTIMIZER_ADAGRAD] = { .name = "adagrad",
	                           .states = 1,
	                           .state_bytes = 4,
	                           .state_elements = 1,
	                           .follows_dtype = true,
	                           .summary = "sum of squares" },
	[VC_OPTIMIZER_RMSPROP] = { .name = "rmsprop",
	                           .states = 1,
	                           .state_bytes = 4,
	                           .state_elements = 1,
	                           .follows_dtype = true,
	                           .summary = "mean of squares" },
	[VC_OPTIMIZER_LAMB] = { .name = "lamb",
	                        .states = 2,
	                        .state_bytes = 8,
	                        .state_elements = 1,
	                        .follows_dtype = true,
	                        .summary = "two moments" },
	[VC_OPTIMIZER_MUON] = { .name = "muon",
	                        .states = 1,
	                        .state_bytes = 4,
	                        .state_elements = 1,
	                        .follows_dtype = true,
	                        .summary = "momentum on matrices, Adam on the rest" },
	[VC_OPTIMIZER_GALORE_ADAMW] = { .name = "galore-adamw",
	                                .states = 1,
	                                .state_bytes = 4,
	                                .state_elements = 1,
	                                .follows_dtype = true,
	                                .summary = "moments of low-rank projections" },
};

const struct vc_optimizer_info *vc_optimizer_info(enum vc_optimizer optimizer)
{
	return &optimizers[optimizer < VC_OPTIMIZER_COUNT ? optimizer : VC_OPTIMIZER_DEFAULT];
}

enum vc_optimizer vc_optimizer_by_name(const char *name)
{
	for (int i = VC_OPTIMIZER_DEFAULT + 1; i < VC_OPTIMIZER_COUNT; i++) {
		if (vc_same_name(optimizers[i].name, name)) {
			return (enum vc_optimizer)i;
		}
	}
	return VC_OPTIMIZER_COUNT;
}
