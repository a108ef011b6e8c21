#include "decoder.h"

const struct family expert_families[] = { { .model_type = NULL } };
