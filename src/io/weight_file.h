/* What the headers of weight files say, whatever their format and however many files there are. */
#ifndef VC_WEIGHT_FILE_H
#define VC_WEIGHT_FILE_H

#include "errors.h"
#include "stream.h"

struct cJSON;

enum vc_weight_format {
	VC_WEIGHTS_NONE,
	VC_WEIGHTS_GGUF,
	VC_WEIGHTS_SAFETENSORS,
	VC_WEIGHTS_INDEX /* an index.json and the safetensors files that it names */
};

/* What the presence of a tensor in any layer tells about a model. */
enum vc_weight_trait {
	VC_TRAIT_QKV_BIAS = 1,
	VC_TRAIT_O_BIAS = 2,
	VC_TRAIT_FFN_BIAS = 4,
	VC_TRAIT_QK_NORM = 8,
	VC_TRAIT_SECOND_NORM = 16, /* a norm of its own before the feed-forward part, in parallel */
	VC_TRAIT_ROUTER_BIAS = 32
};

struct vc_weight_file {
	enum vc_weight_format format;
	struct vc_file_weights weights; /* sums over all files */
	uint64_t files, tensors;
	uint64_t file_bytes;                   /* that the files would have when complete */
	bool header_only;                      /* a file ends before its tensors do */
	uint64_t vocab_rows;                   /* of the token table; 0: there is none */
	bool has_output;                       /* a head of its own */
	unsigned traits;                       /* of a GGUF file: enum vc_weight_trait */
	uint64_t dtype_params[VC_DTYPE_COUNT]; /* parameters by what they are held in */
	struct cJSON *metadata;                /* of a GGUF file; owned */
};

/* What is known beside the files: how tensors are packed, from a config.json. */
struct vc_weight_packing {
	uint32_t bits; /* of a weight in a packed 32-bit word; 0: 4 */
};

/*
 * Tells the format by name and first bytes (`head` holds the first 16 of them, as many as there
 * are); VC_WEIGHTS_NONE for anything else.
 */
enum vc_weight_format vc_weight_format_of(const char *path, const unsigned char *head,
                                          size_t head_length);

/*
 * Reads the headers of a file, of all parts of a split file, of an index's shards. What is wrong
 * goes to `errors` with the file that it is about. Free with vc_weight_file_drop(), also after a
 * failure.
 */
enum vc_status vc_weight_file_read(const char *path, const struct vc_weight_packing *packing,
                                   struct vc_weight_file *file, struct vc_error_list *errors);
void vc_weight_file_drop(struct vc_weight_file *file);

/*
 * What in a folder holds weights: an index, a safetensors file, or the GGUF file, the first of its
 * parts. NULL when there is none, or git has left pointers in their place; *several says that there
 * are GGUF files to choose from. Owned.
 */
char *vc_weight_folder_pick(const char *folder, bool *several);

/*
 * The paths of the GGUF files of a folder that holds several and no config.json: quantizations of
 * one model to choose from, sorted by name; of split files the first part. NULL for anything else.
 * The paths and the list are the caller's.
 */
char **vc_weight_folder_list(const char *folder, size_t *count);

/* The tensors of one file, one by one, whatever its format. */
struct vc_weight_tensor {
	const char *name;
	enum vc_dtype dtype; /* NONE: an integer type that holds no weights */
	uint64_t parameters; /* elements that it stands for; scales and the like: 0 */
	uint64_t buffers;    /* elements that are no parameters */
	uint64_t bytes;
	uint64_t rows; /* of a matrix: the outermost dimension as a program sees it */
};
void vc_weight_file_add(struct vc_weight_file *file, const struct vc_weight_tensor *tensor);

#endif
