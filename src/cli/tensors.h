/* How a model's number of parameters comes about: its tensors by kind of layer. */
#ifndef VC_CLI_TENSORS_H
#define VC_CLI_TENSORS_H

#include "table.h"

#include "vramcalc/vramcalc.h"

struct tensor_row {
	struct vc_tensor tensor;
	char place[96]; /* "32 layers of attention, gated MLP" */
	bool first;     /* of its place */
	bool total;     /* the sum of all */
	uint64_t times; /* layers x tensors of a layer */
	uint64_t elements;
	const char *remark; /* why the elements are no parameters of their own; NULL: they are */
};

/* The rows and their sum; NULL for a model without a shape, or without memory. To be freed. */
struct tensor_row *tensor_rows(const struct vc_model *model, size_t *count);

extern const struct column tensor_columns[];
extern const size_t tensor_column_count;

#endif
