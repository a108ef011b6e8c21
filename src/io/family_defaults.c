/*
 * What the configuration classes of huggingface/transformers (src/transformers/models/,
 * configuration_*.py) state for keys that a text_config or vision_config may leave out: those files
 * hold only what differs. A config that stands alone has to say its sizes itself.
 */
#include "family.h"

#include <string.h>

#define BERT_BASE                                                                                  \
	"vocab_size=30522 hidden_size=768 intermediate_size=3072 num_hidden_layers=12 "            \
	"num_attention_heads=12 max_position_embeddings=512 type_vocab_size=2"
#define CLIP_TEXT                                                                                  \
	"vocab_size=49408 hidden_size=512 intermediate_size=2048 num_hidden_layers=12 "            \
	"num_attention_heads=8 max_position_embeddings=77"
#define CLIP_VISION                                                                                \
	"hidden_size=768 intermediate_size=3072 num_hidden_layers=12 num_attention_heads=12 "      \
	"image_size=224 patch_size=32 num_channels=3"
#define SIGLIP_TEXT                                                                                \
	"vocab_size=32000 hidden_size=768 intermediate_size=3072 num_hidden_layers=12 "            \
	"num_attention_heads=12 max_position_embeddings=64"
#define SIGLIP_VISION                                                                              \
	"hidden_size=768 intermediate_size=3072 num_hidden_layers=12 num_attention_heads=12 "      \
	"image_size=224 patch_size=16 num_channels=3"
#define IDEFICS3_VISION                                                                            \
	"hidden_size=1152 intermediate_size=3072 num_hidden_layers=12 num_attention_heads=16 "     \
	"image_size=224 patch_size=32 num_channels=3"
#define QWEN2_VL_TEXT                                                                              \
	"vocab_size=152064 hidden_size=8192 intermediate_size=29568 num_hidden_layers=80 "         \
	"num_attention_heads=64 num_key_value_heads=8 max_position_embeddings=32768"

static const struct {
	const char *model_type, *defaults;
} classes[] = {
	{ "bert", BERT_BASE },
	{ "bridgetower_text_model", BERT_BASE },
	{ "clip_text_model", CLIP_TEXT },
	{ "clip_vision_model", CLIP_VISION },
	{ "cohere2",
	  "vocab_size=256000 hidden_size=8192 intermediate_size=22528 num_hidden_layers=40 "
	  "num_attention_heads=64 max_position_embeddings=8192 sliding_window=4096" },
	{ "deepseek_v2",
	  "vocab_size=102400 hidden_size=4096 intermediate_size=11008 num_hidden_layers=32 "
	  "num_attention_heads=32" },
	{ "dinov2", "hidden_size=768 num_hidden_layers=12 num_attention_heads=12 image_size=224 "
	            "patch_size=14 num_channels=3" },
	{ "gemma",
	  "vocab_size=256000 hidden_size=3072 intermediate_size=24576 num_hidden_layers=28 "
	  "num_attention_heads=16 num_key_value_heads=16 head_dim=256 "
	  "max_position_embeddings=8192" },
	{ "gemma2",
	  "vocab_size=256000 hidden_size=2304 intermediate_size=9216 num_hidden_layers=26 "
	  "num_attention_heads=8 num_key_value_heads=4 head_dim=256 "
	  "max_position_embeddings=8192 sliding_window=4096" },
	{ "gemma3_text",
	  "vocab_size=262208 hidden_size=2304 intermediate_size=9216 num_hidden_layers=26 "
	  "num_attention_heads=8 num_key_value_heads=4 head_dim=256 "
	  "max_position_embeddings=131072 sliding_window=4096" },
	{ "granite",
	  "vocab_size=32000 hidden_size=4096 intermediate_size=11008 num_hidden_layers=32 "
	  "num_attention_heads=32 max_position_embeddings=2048" },
	{ "idefics3_vision", IDEFICS3_VISION },
	{ "internvl_vision",
	  "hidden_size=1024 intermediate_size=4096 num_hidden_layers=24 num_attention_heads=16 "
	  "image_size=448 patch_size=14 num_channels=3" },
	{ "llama", "vocab_size=32000 hidden_size=4096 intermediate_size=11008 num_hidden_layers=32 "
	           "num_attention_heads=32 max_position_embeddings=2048" },
	{ "llama4_text",
	  "vocab_size=202048 hidden_size=5120 intermediate_size=8192 intermediate_size_mlp=16384 "
	  "num_hidden_layers=48 num_attention_heads=40 num_key_value_heads=8 head_dim=128 "
	  "num_local_experts=16 num_experts_per_tok=1 attention_chunk_size=8192 "
	  "max_position_embeddings=131072" },
	{ "llama4_vision_model",
	  "hidden_size=768 intermediate_size=5632 num_hidden_layers=34 num_attention_heads=16 "
	  "image_size=448 patch_size=14 num_channels=3 vision_output_dim=7680 "
	  "projector_input_dim=4096 projector_output_dim=4096" },
	{ "mistral",
	  "vocab_size=32000 hidden_size=4096 intermediate_size=14336 num_hidden_layers=32 "
	  "num_attention_heads=32 num_key_value_heads=8 max_position_embeddings=131072" },
	{ "mixtral",
	  "vocab_size=32000 hidden_size=4096 intermediate_size=14336 num_hidden_layers=32 "
	  "num_attention_heads=32 num_key_value_heads=8 num_local_experts=8 "
	  "num_experts_per_tok=2 max_position_embeddings=131072" },
	{ "mllama_text_model",
	  "vocab_size=128256 hidden_size=4096 intermediate_size=14336 num_hidden_layers=40 "
	  "num_attention_heads=32 num_key_value_heads=8 max_position_embeddings=131072" },
	{ "mllama_vision_model",
	  "hidden_size=1280 intermediate_size=5120 num_hidden_layers=32 attention_heads=16 "
	  "num_global_layers=8 max_num_tiles=4 image_size=448 patch_size=14 num_channels=3 "
	  "vision_output_dim=7680" },
	{ "opt", "vocab_size=50272 hidden_size=768 ffn_dim=3072 num_hidden_layers=12 "
	         "num_attention_heads=12 max_position_embeddings=2048" },
	{ "phi", "vocab_size=51200 hidden_size=2048 intermediate_size=8192 num_hidden_layers=24 "
	         "num_attention_heads=32 max_position_embeddings=2048" },
	{ "phi3", "vocab_size=32064 hidden_size=3072 intermediate_size=8192 num_hidden_layers=32 "
	          "num_attention_heads=32 max_position_embeddings=4096" },
	{ "phi3_v_clip", "hidden_size=1024 intermediate_size=4096 num_hidden_layers=24 "
	                 "num_attention_heads=16 image_size=336 patch_size=14 num_channels=3" },
	{ "pixtral",
	  "hidden_size=1024 intermediate_size=4096 num_hidden_layers=24 num_attention_heads=16 "
	  "image_size=1024 patch_size=16 num_channels=3" },
	{ "qwen2",
	  "vocab_size=151936 hidden_size=4096 intermediate_size=22016 num_hidden_layers=32 "
	  "num_attention_heads=32 num_key_value_heads=32 max_position_embeddings=32768" },
	{ "qwen2_5_vl_text", QWEN2_VL_TEXT },
	{ "qwen2_vl_text", QWEN2_VL_TEXT },
	{ "qwen3",
	  "vocab_size=151936 hidden_size=4096 intermediate_size=22016 num_hidden_layers=32 "
	  "num_attention_heads=32 num_key_value_heads=32 head_dim=128 "
	  "max_position_embeddings=32768" },
	{ "qwen3_vl_text",
	  "vocab_size=151936 hidden_size=4096 intermediate_size=22016 num_hidden_layers=32 "
	  "num_attention_heads=32 num_key_value_heads=32 head_dim=128 "
	  "max_position_embeddings=128000" },
	{ "siglip2_text_model", SIGLIP_TEXT },
	{ "siglip2_vision_model", SIGLIP_VISION " num_patches=256" },
	{ "siglip_text_model", SIGLIP_TEXT },
	{ "siglip_vision_model", SIGLIP_VISION },
	{ "smolvlm_vision", IDEFICS3_VISION },
	{ "vit", SIGLIP_VISION },
};

const char *family_defaults(const char *model_type)
{
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
		if (strcmp(classes[i].model_type, model_type) == 0) {
			return classes[i].defaults;
		}
	}
	return NULL;
}
