#include "log.h"

#include <string.h>

static struct log_json_object *object_of(struct log_json *json)
{
	return &json->objects[json->depth <= LOG_JSON_DEPTH ? json->depth : LOG_JSON_DEPTH];
}

static void copy(char *to, const char *from)
{
	size_t length = strnlen(from, LOG_JSON_TOKEN - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

/* ---- What the members mean ----------------------------------------------------------------- */

/* torch.cuda.memory_stats_as_nested_dict(); the flat form is read line by line. */
static void take_statistic(struct log *log, const char *path, const char *key, uint64_t value)
{
	size_t length = strlen(path);

	if (length >= 3 && strcmp(path + length - 3, "all") == 0) {
		bool current = strcmp(key, "current") == 0;

		if (current && strstr(path, "allocated_bytes.all")) {
			vc_series_add(&log->allocated, value);
			log_know(log, VC_KNOWS_ALLOCATED, value);
		} else if (current && strstr(path, "reserved_bytes.all")) {
			vc_series_add(&log->reserved, value);
			log_know(log, VC_KNOWS_RESERVED, value);
		} else if (strcmp(key, "peak") == 0 && strstr(path, "allocated_bytes.all")) {
			vc_series_add(&log->peak, value);
		}
	}
}

static void take_member(struct log *log)
{
	struct log_json *json = &log->json;
	struct log_json_object *object = object_of(json);
	uint64_t value = 0;

	json->token[json->length] = '\0';
	if (strcmp(json->key, "action") == 0) {
		object->out_of_memory = strcmp(json->token, "oom") == 0;
	} else if (json->length == 0 || json->depth > LOG_JSON_DEPTH ||
	           !log_count(json->token, &value)) {
		return;
	} else if (strcmp(json->key, "total_size") == 0) {
		object->segment = true;
		object->total = value;
	} else if (strcmp(json->key, "allocated_size") == 0) {
		object->allocated = value;
	} else if (strcmp(json->key, "device") == 0) {
		object->device = value;
	} else if (strcmp(json->key, "size") == 0) {
		object->size = value;
	} else if (strcmp(json->key, "device_free") == 0) {
		object->device_free = value;
	} else {
		take_statistic(log, json->path, json->key, value);
	}
}

static void end_object(struct log *log)
{
	struct log_json *json = &log->json;
	const struct log_json_object *object = object_of(json);

	if (object->segment) {
		struct log_json_device *device = &json->devices[object->device % LOG_JSON_DEVICES];

		/* values have at most 18 digits: some hundred million segments could be added */
		json->snapshot = true;
		device->total_bytes += object->total < 1ull << 48 ? object->total : 0;
		device->allocated_bytes += object->allocated < 1ull << 48 ? object->allocated : 0;
	}
	if (object->out_of_memory && object->size) {
		log->evidence.out_of_memory = true;
		log_know(log, VC_KNOWS_REQUESTED, object->size);
		log_know(log, VC_KNOWS_FREE, object->device_free);
	}
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void enter(struct log_json *json)
{
	size_t length = strlen(json->path), more = strlen(json->key);

	json->depth++;
	memset(object_of(json), 0, sizeof *object_of(json));
	object_of(json)->path = length;
	if (json->depth <= LOG_JSON_DEPTH && length + more + 2 < sizeof json->path) {
		if (length) {
			json->path[length++] = '.';
		}
		memcpy(json->path + length, json->key, more + 1);
	}
	json->key[0] = '\0';
}

/* The key of the object that ended is again the key of what follows it in the same list. */
static void leave(struct log_json *json)
{
	if (json->depth <= LOG_JSON_DEPTH) {
		size_t before = object_of(json)->path;
		const char *last = json->path + before;

		copy(json->key, *last == '.' ? last + 1 : last);
		json->path[before] = '\0';
	}
	json->depth--;
}

static void take_string(struct log_json *json, char c)
{
	if (!json->escaped && c == json->quote) {
		json->quote = '\0';
		return;
	}
	if (c == '\n') {
		json->depth = 0;
		return;
	}
	json->escaped = !json->escaped && c == '\\';
	if (json->length + 1 < sizeof json->token) {
		json->token[json->length++] = c;
	}
}

static void take(struct log *log, char c)
{
	struct log_json *json = &log->json;

	switch (c) {
	case '"':
	case '\'':
		json->quote = c;
		json->length = 0;
		break;
	case ':':
		json->token[json->length] = '\0';
		copy(json->key, json->token);
		json->length = 0;
		break;
	case '{':
		enter(json);
		json->length = 0;
		break;
	case ',':
	case ']':
	case '}':
		take_member(log);
		json->length = 0;
		if (c == '}') {
			end_object(log);
			leave(json);
		}
		break;
	case '[':
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		break;
	default:
		if (c < ' ' || c > '~' || c == '(' || c == '/' || c == '<') {
			json->depth = 0; /* this is no JSON */
		} else if (json->length + 1 < sizeof json->token) {
			json->token[json->length++] = c;
		}
		break;
	}
}

void log_json_feed(struct log *log, const char *bytes, size_t size)
{
	struct log_json *json = &log->json;

	for (size_t i = 0; i < size; i++) {
		if (json->depth == 0) {
			const char *brace = memchr(bytes + i, '{', size - i);

			if (!brace) {
				return;
			}
			i = (size_t)(brace - bytes);
			json->path[0] = json->key[0] = '\0';
			json->quote = '\0';
			json->escaped = false;
			enter(json);
			json->length = 0;
		} else if (json->quote) {
			take_string(json, bytes[i]);
		} else {
			take(log, bytes[i]);
		}
	}
}

void log_json_finish(struct log *log)
{
	const struct log_json_device *fullest = NULL;

	for (size_t i = 0; log->json.snapshot && i < LOG_JSON_DEVICES; i++) {
		if (!fullest || log->json.devices[i].total_bytes > fullest->total_bytes) {
			fullest = &log->json.devices[i];
		}
	}
	if (fullest) {
		log_know(log, VC_KNOWS_RESERVED, fullest->total_bytes);
		log_know(log, VC_KNOWS_ALLOCATED, fullest->allocated_bytes);
		if (log->evidence.software < VC_SOFTWARE_PYTORCH) {
			log->evidence.software = VC_SOFTWARE_PYTORCH;
		}
	}
}
