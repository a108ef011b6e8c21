/* Values of a request as a spec writes them. */
#ifndef VC_CLI_NAMES_H
#define VC_CLI_NAMES_H

#include "vramcalc/vramcalc.h"

const char *name_of_task(enum vc_task task);
const char *name_of_attention(enum vc_attention attention);
const char *name_of_training_method(enum vc_training_method method);
const char *name_of_optimizer_implementation(enum vc_optimizer_implementation implementation);
const char *name_of_mixed_precision(enum vc_mixed_precision mixed);
const char *name_of_checkpointing(enum vc_checkpointing checkpointing);
const char *name_of_loss(enum vc_loss loss);
const char *name_of_offload(enum vc_offload offload);
const char *name_of_method(enum vc_method method);
const char *name_of_source(enum vc_model_source source);
const char *name_of_vendor(enum vc_vendor vendor);
const char *name_of_link(enum vc_link link);

/* "KV cache", for people. */
const char *name_of_component(enum vc_component component);

/* "vllm 0.11.2", "llama.cpp b4567"; without a version where none is given, "" without an engine. */
void name_of_engine(char *to, size_t size, const struct vc_engine_options *engine);

#endif
