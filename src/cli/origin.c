#include "origin.h"

#include "print_text.h"

#include <inttypes.h>
#include <string.h>

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

bool price_times(const struct vc_price *price, uint64_t gpus, uint64_t *micros)
{
	if (!price->known || (gpus && price->per_hour_micros > UINT64_MAX / gpus)) {
		return false;
	}
	*micros = price->per_hour_micros * gpus;
	return true;
}

/* A price that no cloud offers has its file and line in the offer's place. */
void price_said_by(char *to, size_t size, const struct vc_price *price)
{
	bool named = price->origin && strcmp(price->origin, price->offer) != 0;

	text_append(to, size, "%s%s%s%s%s", price->offer, *price->as_of ? ", " : "", price->as_of,
	            named ? ", " : "", named ? price->origin : "");
}

void json_price(struct json_writer *json, const char *key, const struct vc_gpu *gpu, uint32_t gpus)
{
	const struct vc_price *price = &gpu->price;
	uint64_t all;

	if (!price_times(price, gpus, &all)) {
		json_null(json, key);
		return;
	}
	json_open(json, key, '{');
	json_ratio(json, "per_hour", all, 1000000);
	json_ratio(json, "per_gpu_hour", price->per_hour_micros, 1000000);
	json_text(json, "currency", price->currency);
	json_text(json, "offer", or_null(price->offer));
	json_text(json, "as_of", or_null(price->as_of));
	json_text(json, "origin", price->origin);
	json_close(json, '}');
}

void json_gpu(struct json_writer *json, const char *key, const struct vc_gpu *gpu, uint32_t gpus)
{
	json_text(json, key, gpu ? gpu->id : NULL);
	json_text(json, "origin", gpu ? gpu->origin : NULL);
	if (gpu) {
		json_price(json, "price", gpu, gpus);
	} else {
		json_null(json, "price");
	}
}

/* Of each GPU once, however often an output is about it. */
static bool is_new(struct origin_note *note, const struct vc_gpu *gpu)
{
	for (size_t i = 0; i < note->count; i++) {
		if (strcmp(note->ids[i], gpu->id) == 0) {
			return false;
		}
	}
	note->more = note->count == ORIGIN_GPUS;
	if (!note->more) {
		note->ids[note->count++] = gpu->id;
	}
	return !note->more;
}

void origin_add(struct origin_note *note, const struct vc_gpu *gpu, bool priced)
{
	const struct vc_price *price = &gpu->price;
	const char *said = priced && price->known ? price->origin : NULL;
	bool together = gpu->origin && said && strcmp(gpu->origin, said) == 0;

	if ((!gpu->origin && !said) || !is_new(note, gpu)) {
		return;
	}
	text_append(note->text, sizeof note->text, "%s",
	            note->count > 1 ? "; " : "From your files: ");
	if (gpu->origin) {
		text_append(note->text, sizeof note->text, "%s%s (%s", gpu->name,
		            together ? " with its price" : "", gpu->origin);
	}
	if (said && !together) {
		text_append(note->text, sizeof note->text, "%s%s (%s",
		            gpu->origin ? "), its price" : "the price of ",
		            gpu->origin ? "" : gpu->name, said);
	}
	text_append(note->text, sizeof note->text, "%s%s)", said && *price->as_of ? ", " : "",
	            said ? price->as_of : "");
}

bool origin_end(struct origin_note *note)
{
	if (note->count) {
		text_append(note->text, sizeof note->text, "%s.", note->more ? "; and more" : "");
	}
	return note->count > 0;
}

void origin_print(struct output *out, struct origin_note *note)
{
	if ((out->format == FORMAT_TEXT || out->format == FORMAT_MARKDOWN) && origin_end(note)) {
		putc('\n', out->file);
		output_paragraph(out, TONE_FAINT, note->text, 0);
	}
}
