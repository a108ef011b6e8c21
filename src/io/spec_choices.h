/* The lists of names that fields take; most of them are the core's own tables. */
#ifndef VC_SPEC_CHOICES_H
#define VC_SPEC_CHOICES_H

#include "spec_fields.h"

extern const struct vc_choices vc_choices_task, vc_choices_precision, vc_choices_quantization,
        vc_choices_kv_cache, vc_choices_attention, vc_choices_method, vc_choices_optimizer,
        vc_choices_optimizer_implementation, vc_choices_mixed_precision, vc_choices_checkpointing,
        vc_choices_loss, vc_choices_offload, vc_choices_data_parallel, vc_choices_engine,
        vc_choices_lora_target, vc_choices_saved_module;

/* What a target of LoRA means: a set of bits 1 << enum vc_module; UINT64_MAX for all-linear. */
uint64_t vc_lora_target_modules(long choice);
/* Likewise one table of modules_to_save. */
uint64_t vc_saved_module(long choice);

#endif
