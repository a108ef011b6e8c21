#include "note.h"

#include "print_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- Notes ---- */

static void append_argument(char *to, size_t size, uint64_t value, char form, enum byte_unit unit)
{
	char number[64] = "";

	if (form == 's') {
		snprintf(number, sizeof number, "%s", value == 1 ? "" : "s");
	} else if (form == 'B') {
		format_quantity(number, sizeof number, value, unit, ROUND_NEAREST);
	} else if (form == '%') {
		format_ratio(number, sizeof number, value, 10000);
		text_append(number, sizeof number, " %%");
	} else {
		format_ratio(number, sizeof number, value, 1);
	}
	text_append(to, size, "%s", number);
}

/* Length of "{0}", "{0B}", "{0%}" or "{0s}" at `text`; 0: it is none of them. */
static size_t placeholder_length(const char *text)
{
	if (text[0] != '{' || text[1] < '0' || text[1] > '2') {
		return 0;
	}
	if (text[2] == '}') {
		return 3;
	}
	return text[2] && strchr("B%s", text[2]) && text[3] == '}' ? 4 : 0;
}

/* A note may be a phrase; readers get a sentence. Names such as vllm or model.params stay small. */
static void make_sentence(char *to, size_t size)
{
	size_t word = strspn(to, "abcdefghijklmnopqrstuvwxyz");
	size_t length = strlen(to);
	char first[16];

	snprintf(first, sizeof first, "%.*s", (int)word, to);
	if (word > 0 && (to[word] == ' ' || to[word] == ',') &&
	    vc_engine_by_name(first) == VC_ENGINE_COUNT) {
		to[0] = (char)(to[0] - 'a' + 'A');
	}
	if (length > 0 && !strchr(".!?", to[length - 1])) {
		text_append(to, size, ".");
	}
}

void note_render(char *to, size_t size, const struct vc_note *note, enum byte_unit unit)
{
	*to = '\0';
	for (const char *text = note->text; *text;) {
		size_t length = placeholder_length(text);

		if (length) {
			append_argument(to, size, note->args[text[1] - '0'], text[2], unit);
			text += length;
		} else {
			length = strcspn(text + 1, "{") + 1;
			text_append(to, size, "%.*s", (int)length, text);
			text += length;
		}
	}
	make_sentence(to, size);
}

/* ---- Formulas ---- */

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t name_length(const char *text)
{
	size_t length = 0;

	/* × and other operators are beyond ASCII too: a name starts with an ASCII letter. */
	if (!isalpha((unsigned char)*text)) {
		return 0;
	}
	while (in_name(text[length])) {
		length++;
	}
	return length;
}

static const struct vc_input *input_named(const struct vc_line *line, const char *name,
                                          size_t length)
{
	for (uint32_t i = 0; i < line->input_count; i++) {
		if (strlen(line->inputs[i].name) == length &&
		    strncmp(line->inputs[i].name, name, length) == 0) {
			return &line->inputs[i];
		}
	}
	return NULL;
}

const char *formula_label(const char *formula)
{
	const char *open = strrchr(formula, '(');
	const char *close = open ? strchr(open, ')') : NULL;
	bool last = close && close[1] == '\0' && open > formula && open[-1] == ' ';

	return last && !strpbrk(open, "/+*=") && !strstr(open, "×") && !strstr(open, " - ")
	               ? open - 1
	               : NULL;
}

void formula_render(char *to, size_t size, const struct vc_line *line)
{
	const char *end = formula_label(line->formula);

	*to = '\0';
	for (const char *text = line->formula; *text && text != end;) {
		size_t length = name_length(text);
		const struct vc_input *input = length ? input_named(line, text, length) : NULL;
		char number[64];

		if (input) {
			format_ratio(number, sizeof number, input->value,
			             input->divisor ? input->divisor : 1);
			text_append(to, size, "%s", number);
		} else {
			length = length ? length : 1;
			text_append(to, size, "%.*s", (int)length, text);
		}
		text += length;
	}
}

void formula_legend(char *to, size_t size, const struct vc_line *line)
{
	static const struct {
		const char *name, *meaning;
	} meanings[] = {
		{ "P", "parameters" },
		{ "P_train", "trained parameters" },
		{ "A", "adapter parameters" },
		{ "b", "bytes per element" },
		{ "s", "bytes of optimizer state per parameter" },
		{ "W", "bytes of the weights" },
		{ "F", "bytes of the file's tensors" },
		{ "a", "share of the weights" },
		{ "t", "tensor-parallel GPUs" },
		{ "p", "pipeline stages" },
		{ "N", "data-parallel GPUs" },
		{ "batch", "sequences at once" },
		{ "seq", "tokens of each" },
		{ "width", "key/value heads × head size" },
		{ "layers", "layers with a cache" },
		{ "L", "layers" },
		{ "k", "bytes kept per token and layer" },
		{ "w", "bytes per token" },
		{ "bytes", "bytes per element" },
		{ "c", "bytes per logit" },
		{ "R", "sequences of a step" },
		{ "T", "tokens of a step" },
		{ "V", "vocabulary" },
		{ "state", "a sequence's" },
		{ "Q", "bytes of the quantized matrices" },
		{ "S", "bytes of their scales that every GPU keeps" },
		{ "rest", "parameters that are not quantized" },
		{ "root", "bytes gathered throughout" },
		{ "u", "layers gathered beside them" },
		{ "unit", "bytes of one" },
		{ "elements", "elements of a bucket" },
		{ "n", "how many" },
		{ "space", "bytes of one" },
		{ "context", "CUDA's, measured" },
		{ "collectives", "NCCL's buffers, measured" },
		{ "f", "share" },
		{ "g", "share" },
		{ "smaller", "what forward and backward leave behind, or the step's own, if less" },
		{ "transient", "what forward and backward add" },
		{ "asked", "what the loss asks for beyond the peak" },
		{ "allocated", "bytes at the peak" },
		{ "left", "bytes left on the card" },
	};

	*to = '\0';
	for (uint32_t i = 0; i < line->input_count; i++) {
		for (size_t m = 0; m < sizeof meanings / sizeof *meanings; m++) {
			if (strcmp(meanings[m].name, line->inputs[i].name) == 0) {
				text_append(to, size, "%s%s: %s", *to ? "; " : "", meanings[m].name,
				            meanings[m].meaning);
			}
		}
	}
}
