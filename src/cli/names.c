#include "names.h"

#include "print_text.h"

#include <inttypes.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define NAME_FROM(names, value)                                                                    \
	((size_t)(value) < LENGTH(names) && (names)[value] ? (names)[value] : "unknown")

const char *name_of_task(enum vc_task task)
{
	static const char *const names[] = {
		[VC_TASK_INFERENCE] = "inference", [VC_TASK_TRAINING] = "training"
	};

	return NAME_FROM(names, task);
}

const char *name_of_attention(enum vc_attention attention)
{
	static const char *const names[] = {
		[VC_ATTENTION_DEFAULT] = "flash",
		[VC_ATTENTION_FLASH] = "flash",
		[VC_ATTENTION_SDPA] = "sdpa",
		[VC_ATTENTION_EAGER] = "eager",
	};

	return NAME_FROM(names, attention);
}

const char *name_of_training_method(enum vc_training_method method)
{
	static const char *const names[] = { [VC_TRAINING_FULL] = "full",
		                             [VC_TRAINING_LORA] = "lora",
		                             [VC_TRAINING_QLORA] = "qlora" };

	return NAME_FROM(names, method);
}

const char *name_of_optimizer_implementation(enum vc_optimizer_implementation implementation)
{
	static const char *const names[] = {
		[VC_OPTIMIZER_IMPL_DEFAULT] = "foreach",
		[VC_OPTIMIZER_IMPL_FOREACH] = "foreach",
		[VC_OPTIMIZER_IMPL_FUSED] = "fused",
		[VC_OPTIMIZER_IMPL_FOR_LOOP] = "for-loop",
	};

	return NAME_FROM(names, implementation);
}

const char *name_of_mixed_precision(enum vc_mixed_precision mixed)
{
	static const char *const names[] = {
		[VC_MIXED_DEFAULT] = "master",
		[VC_MIXED_NONE] = "none",
		[VC_MIXED_AMP] = "amp",
		[VC_MIXED_MASTER] = "master",
	};

	return NAME_FROM(names, mixed);
}

const char *name_of_checkpointing(enum vc_checkpointing checkpointing)
{
	static const char *const names[] = { [VC_CHECKPOINTING_NONE] = "none",
		                             [VC_CHECKPOINTING_SELECTIVE] = "selective",
		                             [VC_CHECKPOINTING_FULL] = "full" };

	return NAME_FROM(names, checkpointing);
}

const char *name_of_loss(enum vc_loss loss)
{
	static const char *const names[] = {
		[VC_LOSS_EAGER] = "eager", [VC_LOSS_CHUNKED] = "chunked", [VC_LOSS_FUSED] = "fused"
	};

	return NAME_FROM(names, loss);
}

const char *name_of_offload(enum vc_offload offload)
{
	static const char *const names[] = {
		[VC_OFFLOAD_NONE] = "none", [VC_OFFLOAD_CPU] = "cpu", [VC_OFFLOAD_NVME] = "nvme"
	};

	return NAME_FROM(names, offload);
}

const char *name_of_method(enum vc_method method)
{
	static const char *const names[] = {
		[VC_METHOD_RULE] = "rule", [VC_METHOD_DETAILED] = "detailed"
	};

	return NAME_FROM(names, method);
}

const char *name_of_source(enum vc_model_source source)
{
	static const char *const names[] = {
		[VC_SOURCE_PARAMS] = "params",           [VC_SOURCE_ARCHITECTURE] = "architecture",
		[VC_SOURCE_CONFIG] = "config",           [VC_SOURCE_GGUF] = "gguf",
		[VC_SOURCE_SAFETENSORS] = "safetensors", [VC_SOURCE_BUNDLED] = "bundled",
	};

	return NAME_FROM(names, source);
}

const char *name_of_vendor(enum vc_vendor vendor)
{
	static const char *const names[] = {
		[VC_VENDOR_OTHER] = "other",   [VC_VENDOR_NVIDIA] = "NVIDIA",
		[VC_VENDOR_AMD] = "AMD",       [VC_VENDOR_INTEL] = "Intel",
		[VC_VENDOR_GOOGLE] = "Google", [VC_VENDOR_HUAWEI] = "Huawei",
		[VC_VENDOR_APPLE] = "Apple",
	};

	return NAME_FROM(names, vendor);
}

const char *name_of_link(enum vc_link link)
{
	static const char *const names[] = {
		[VC_LINK_UNKNOWN] = "unknown", [VC_LINK_NONE] = "PCIe",
		[VC_LINK_NVLINK] = "NVLink",   [VC_LINK_NVSWITCH] = "NVSwitch",
		[VC_LINK_XGMI] = "xGMI",       [VC_LINK_OTHER] = "other",
	};

	return NAME_FROM(names, link);
}

const char *name_of_component(enum vc_component component)
{
	static const char *const names[VC_COMPONENT_COUNT] = {
		[VC_COMPONENT_WEIGHTS] = "weights",
		[VC_COMPONENT_KV_CACHE] = "KV cache",
		[VC_COMPONENT_RECURRENT_STATE] = "recurrent state",
		[VC_COMPONENT_ACTIVATIONS] = "activations",
		[VC_COMPONENT_LOGITS] = "logits",
		[VC_COMPONENT_GRADIENTS] = "gradients",
		[VC_COMPONENT_MASTER_WEIGHTS] = "master weights",
		[VC_COMPONENT_OPTIMIZER_STATES] = "optimizer states",
		[VC_COMPONENT_ADAPTERS] = "adapters",
		[VC_COMPONENT_COMMUNICATION] = "communication",
		[VC_COMPONENT_CUDA_GRAPHS] = "CUDA graphs",
		[VC_COMPONENT_FRAMEWORK] = "framework",
		[VC_COMPONENT_FRAGMENTATION] = "fragmentation",
	};

	return NAME_FROM(names, component);
}

void name_of_engine(char *to, size_t size, const struct vc_engine_options *engine)
{
	const struct vc_version *version = &engine->version;
	const char *name = vc_engine_name(engine->name);

	*to = '\0';
	if (engine->name == VC_ENGINE_NONE) {
		return;
	}
	text_append(to, size, "%s", name ? name : "");
	if (engine->name == VC_ENGINE_LLAMACPP && version->major) {
		text_append(to, size, " b%" PRIu32, version->major);
	} else if (version->major || version->minor || version->patch) {
		text_append(to, size, " %" PRIu32 ".%" PRIu32, version->major, version->minor);
		if (version->patch) {
			text_append(to, size, ".%" PRIu32, version->patch);
		}
	}
}
