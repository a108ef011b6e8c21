#include "file_weights.h"

#include "sat.h"

static bool is_none(const struct vc_quantization *quantization)
{
	return !quantization || quantization->quantizer == VC_QUANTIZER_NONE;
}

/* Quantized files and GGUF files are computed with as they are; plain ones may be converted. */
bool file_weights_hold(const struct vc_model *model, enum vc_dtype precision,
                       const struct vc_quantization *quantization)
{
	bool same = is_none(quantization) ? is_none(model->quantization)
	                                  : quantization == model->quantization;

	if (model->file.total_bytes == 0 || !same) {
		return false;
	}
	return model->source == VC_SOURCE_GGUF || !is_none(quantization) || model->file.quantized ||
	       vc_dtype_bytes(precision, model->file.params) == model->file.total_bytes ||
	       vc_dtype_bytes(precision, 8) == vc_dtype_bytes(model->dtype, 8);
}

/* Layers of a model that is one stack, next-token-prediction layers aside; 0: of several. */
static uint32_t layers_of(const struct vc_model *model)
{
	uint32_t layers = 0;

	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_MTP) {
			continue;
		}
		if (layers > 0) {
			return 0;
		}
		layers = model->stacks[i].layers;
	}
	return layers;
}

static void note_layers(const struct vc_model *model, struct vc_ledger *ledger)
{
	uint32_t layers = layers_of(model);

	if (layers > 0 && model->file.layers > 0 && layers != model->file.layers) {
		vc_ledger_note(ledger, "weights-layers-differ",
		               "The file holds tensors of {0} layers, the shape has {1}: the file "
		               "is of another model, or carries next-token-prediction layers.",
		               (const uint64_t[3]){ model->file.layers, layers, 0 });
	}
}

void file_weights_note(const struct vc_request *request, uint64_t counted, struct vc_ledger *ledger)
{
	const struct vc_file_weights *file = &request->model->file;
	bool from_file = request->model->source == VC_SOURCE_GGUF ||
	                 request->model->source == VC_SOURCE_SAFETENSORS;

	if (from_file && file->total_bytes == 0) {
		vc_ledger_note(ledger, "weights-empty", "The file holds no tensors.", NULL);
	}
	if (file->total_bytes == 0) {
		return;
	}
	if (file_weights_hold(request->model, request->workload.precision,
	                      request->workload.quantization)) {
		vc_ledger_note(ledger, "weights-from-file",
		               "The weights are the tensors of the file, {0B} for {1} parameters.",
		               (const uint64_t[3]){ file->total_bytes, file->params, 0 });
	} else {
		vc_ledger_note(ledger, "weights-not-from-file",
		               "The file holds {0B}; the weights are computed, because another "
		               "precision or quantization is asked for.",
		               (const uint64_t[3]){ file->total_bytes, 0, 0 });
	}
	if (file->buffers > 0) {
		vc_ledger_note(ledger, "weights-buffers",
		               "{0} elements of the file are no parameters: tables that a program "
		               "computes, such as rotary frequencies.",
		               (const uint64_t[3]){ file->buffers, 0, 0 });
	}
	note_layers(request->model, ledger);
	if (counted && counted > file->params) {
		vc_ledger_note(
		        ledger, "weights-differ",
		        "The shape has {0} parameters more than the file's {1}: tied heads "
		        "stored once, poolers left out, or a part of the model in a file of "
		        "its own.",
		        (const uint64_t[3]){ sat_sub(counted, file->params), file->params, 0 });
	} else if (counted && counted < file->params) {
		vc_ledger_note(
		        ledger, "weights-differ",
		        "The file's {1} parameters are {0} more than the shape's: tied heads "
		        "stored twice, next-token-prediction layers, or a tower that the "
		        "configuration leaves out.",
		        (const uint64_t[3]){ sat_sub(file->params, counted), file->params, 0 });
	}
}
