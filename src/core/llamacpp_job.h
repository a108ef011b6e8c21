/* What llama.cpp would be asked to do, and what it would place on each device. Core-private. */
#ifndef VC_LLAMACPP_JOB_H
#define VC_LLAMACPP_JOB_H

#include "ggml_buffer.h"
#include "gguf_mixture.h"

struct llamacpp_job {
	const struct vc_request *request;
	const struct vc_model *model;
	const struct vc_stack *stack;
	const struct ggml_family *family;
	struct gguf_weights weights;
	struct ggml_run run;
	enum vc_dtype cache_dtype;
	bool cache_type_replaced; /* llama.cpp has no such type for a cache */
	bool flash_forced;        /* a quantized cache needs flash attention */
	uint64_t slots;           /* sequences, each with a context of its own */
	uint64_t ubatch;
	/* Of the layers, those from `first_layer` on are dealt to the devices, and the output after
	 * them; what is left stays in host memory. */
	uint32_t devices, first_layer, units;
	uint32_t host_experts; /* the experts of layers before this one stay there too */
	bool output_offloaded;
	bool all_on_devices; /* gpu_layers is not stated */
	/* Then the file is charged whole, with the token table that llama.cpp leaves in host
	 * memory: it is what "model size" means in logs and file lists. */
	uint64_t charged_table_bytes;
	bool has_output; /* false: an encoder */
	bool scratch_reserved;
	bool copies_given_up; /* inputs in several copies did not fit */
};

/* One GPU's part. */
struct llamacpp_share {
	uint32_t layers;
	bool output;
	uint64_t weights_bytes, kv_bytes, state_bytes;
	uint64_t compute_bytes, logits_bytes; /* the latter is part of the former */
	uint64_t least_compute_bytes;         /* of other builds and programs */
	uint64_t scratch_bytes;
};

/* False: the quantization is not llama.cpp's. */
bool llamacpp_read(struct llamacpp_job *job, const struct vc_request *request);
/* Of the device that holds the most. Several devices hold a batch's inputs in several copies,
 * unless that does not fit the GPU beside `runtime_bytes`: then llama.cpp starts over with one. */
struct llamacpp_share llamacpp_fullest(struct llamacpp_job *job, uint64_t runtime_bytes);

/* What of a layer's weights a device holds. */
uint64_t llamacpp_layer_weights_bytes(const struct llamacpp_job *job, uint32_t layer);
/* Keys and values, or the recurrent state, of one layer for all sequences. */
uint64_t llamacpp_layer_kv_bytes(const struct llamacpp_job *job, uint32_t layer);
uint64_t llamacpp_layer_state_bytes(const struct llamacpp_job *job, uint32_t layer);

#endif
