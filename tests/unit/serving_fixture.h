/* GPUs and published decoders for the tests of serving engines. */
#ifndef VC_SERVING_FIXTURE_H
#define VC_SERVING_FIXTURE_H

#include "shapes.h"
#include "test.h"

#define GIB 1073741824.0

/* CUDA's totals as vLLM prints them. */
static const struct vc_gpu a100_80 = { .id = "a100-80gb-sxm",
	                               .name = "A100 80GB",
	                               .usable_bytes = 85093738086, /* 79.25 GiB */
	                               .driver_bytes = 85899345920,
	                               .memory_bytes = 80000000000,
	                               .compute_capability = 80,
	                               .link = VC_LINK_NVSWITCH };
static const struct vc_gpu h100 = { .id = "h100-80gb-sxm",
	                            .name = "H100 80GB",
	                            .usable_bytes = 85061525864, /* 79.22 GiB */
	                            .driver_bytes = 85520809984,
	                            .memory_bytes = 80000000000,
	                            .compute_capability = 90,
	                            .link = VC_LINK_NVSWITCH };
static const struct vc_gpu v100 = { .id = "v100-32gb",
	                            .name = "V100 32GB",
	                            .usable_bytes = 34080565493, /* 31.74 GiB */
	                            .memory_bytes = 32000000000,
	                            .compute_capability = 70,
	                            .link = VC_LINK_NVLINK };
static const struct vc_gpu rtx_4090 = { .id = "rtx-4090",
	                                .name = "RTX 4090",
	                                .usable_bytes = 25383257702, /* 23.64 GiB */
	                                .driver_bytes = 25757220864, /* 24564 MiB */
	                                .memory_bytes = 24000000000,
	                                .compute_capability = 89,
	                                .link = VC_LINK_NONE };

/* config.json of meta-llama/Llama-3.1-8B and Qwen/Qwen2.5-7B-Instruct (its biases left out: 0.1
 * MiB a layer). */
static const struct decoder llama_3_8b = { 4096, 32, 32, 8, 14336, 128256 };
static const struct decoder qwen_2_5_7b = { 3584, 28, 28, 4, 18944, 152064 };

static inline void serving_model(struct vc_model *model, const struct decoder *decoder,
                                 const char *family, uint64_t positions)
{
	shape_decoder(model, decoder);
	strcpy(model->family, family);
	model->rotary_dim = decoder->hidden / decoder->heads;
	model->rotary_tables = 1;
	model->max_position_embeddings = positions;
}

static inline struct vc_request serving_request(const struct vc_model *model, enum vc_engine engine,
                                                const struct vc_gpu *gpu)
{
	struct vc_request request = { .model = model,
		                      .method = VC_METHOD_DETAILED,
		                      .gpu = gpu,
		                      .workload.precision = VC_DTYPE_BF16,
		                      .engine.name = engine };

	return request;
}

/* Within `percent` of a published figure. */
#define assert_near(got, want, percent) assert_near_at((got), (want), (percent), __FILE__, __LINE__)

static inline void assert_near_at(double got, double want, double percent, const char *file,
                                  int line)
{
	double off = 100.0 * (got - want) / want;

	if (off > percent || off < -percent) {
		print_error("%.4f, published %.4f: %.2f %% off\n", got, want, off);
		_fail(file, line);
	}
}

#endif
