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

/* Parameters by the parts that a file's header is added up in. */
struct parts {
	uint64_t embedding, output, layers;
};

static void count_part(const struct vc_visit *visit, void *context)
{
	const struct vc_tensor *tensor = visit->tensor;
	struct parts *parts = context;
	uint64_t elements = sat_mul3(visit->layers, tensor->count,
	                             sat_add(sat_mul(tensor->out, tensor->in), tensor->bias));

	if (visit->stack->role == VC_STACK_MTP ||
	    (visit->extra && (visit->extra->tied || visit->extra->buffer))) {
		return;
	}
	if (!visit->extra) {
		parts->layers = sat_add(parts->layers, elements);
	} else if (tensor->module == VC_MODULE_EMBEDDING) {
		parts->embedding = sat_add(parts->embedding, elements);
	} else if (visit->extra->last) {
		parts->output = sat_add(parts->output, elements);
	}
}

static void note_part(struct vc_ledger *ledger, const char *code, const char *text,
                      const uint64_t bytes[2])
{
	if (bytes[0] != bytes[1]) {
		vc_ledger_note(ledger, code, text, (const uint64_t[3]){ bytes[0], bytes[1], 0 });
	}
}

/* Which tensors make the difference: only where every parameter takes the same bytes. */
static void note_parts(const struct vc_model *model, struct vc_ledger *ledger)
{
	const struct vc_file_weights *file = &model->file;
	uint64_t elements = sat_add(file->params, file->buffers);
	uint64_t each = elements ? file->total_bytes / elements : 0;
	struct parts parts = { 0 };
	uint64_t layer_bytes = 0;

	if (file->quantized || model->source == VC_SOURCE_GGUF || each == 0 ||
	    sat_mul(each, elements) != file->total_bytes || layers_of(model) == 0) {
		return;
	}
	for (uint32_t i = 0; i < file->layers && i < VC_MAX_LAYERS; i++) {
		layer_bytes = sat_add(layer_bytes, file->layer_bytes[i]);
	}
	vc_model_walk(model, count_part, &parts);
	note_part(ledger, "weights-embedding-differs",
	          "The token table takes {0B} in the file and {1B} by the shape.",
	          (const uint64_t[2]){ file->embedding_bytes, sat_mul(each, parts.embedding) });
	note_part(ledger, "weights-head-differs",
	          "The head and the last norms take {0B} in the file and {1B} by the shape.",
	          (const uint64_t[2]){ file->output_bytes, sat_mul(each, parts.output) });
	note_part(ledger, "weights-of-layers-differ",
	          "The tensors of the layers take {0B} in the file and {1B} by the shape.",
	          (const uint64_t[2]){ layer_bytes, sat_mul(each, parts.layers) });
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
	if (counted && counted != file->params) {
		note_parts(request->model, ledger);
	}
}
