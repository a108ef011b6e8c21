/* GPUs in YAML: each row of a file is laid over the entry of the same id, key by key. */
#include "catalog_draft.h"
#include "catalog_schema.h"
#include "gpu_name.h"
#include "nearest.h"
#include "quantity.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The file being read. */
struct reader {
	struct vc_catalog_draft *draft;
	const struct vc_catalog_text *source;
	const char *name;      /* of the file, in the arena */
	const uint32_t *lines; /* where each row begins */
	const struct vc_catalog_file *file;
	uint32_t index; /* of the row in file->gpus */
};

static void refuse(struct reader *reader, const char *key, const char *message)
{
	char path[96];

	snprintf(path, sizeof path, "gpus[%u]%s%s", reader->index, key ? "." : "", key ? key : "");
	vc_catalog_refuse(reader->draft, reader->source, path, message);
}

/* ---- Fields that only need copying ---- */

struct copied {
	const char *key;
	size_t from, to; /* in struct vc_gpu_row, in struct vc_catalog_gpu */
};

#define TEXT(key, member)                                                                          \
	{                                                                                          \
#key, offsetof(struct vc_gpu_row, key), offsetof(struct vc_catalog_gpu, member)    \
	}

static const struct copied texts[] = {
	TEXT(name, gpu.name),
	TEXT(family, gpu.family),
	TEXT(architecture, gpu.architecture),
	TEXT(form, form),
	TEXT(memory_type, memory_type),
	TEXT(link_scope, link_scope),
	TEXT(mig_table, mig_table),
	TEXT(note, note),
};

static const struct copied flags[] = {
	TEXT(documented, documented),
	TEXT(usable_derived, usable_derived),
	TEXT(verified, gpu.verified),
	TEXT(hidden, hidden),
};

struct number {
	struct copied copied;
	uint64_t unit; /* of a uint64_t member; 0: the member is a uint32_t */
	uint64_t most;
};

#define GB  UINT64_C(1000000000)
#define MIB UINT64_C(1048576)

static const struct number numbers[] = {
	{ TEXT(memory_gb, gpu.memory_bytes), GB, 65536 },
	{ TEXT(driver_mib, gpu.driver_bytes), MIB, 67108864 },
	{ TEXT(usable_mib, gpu.usable_bytes), MIB, 67108864 },
	{ TEXT(bandwidth_gbs, gpu.bandwidth_gbs), 0, 1000000 },
	{ TEXT(link_gbs, gpu.link_gbs), 0, 1000000 },
	{ TEXT(link_gpus, gpu.link_gpus), 0, 100000 },
	{ TEXT(pcie_generation, gpu.pcie_generation), 0, 16 },
	{ TEXT(pcie_lanes, gpu.pcie_lanes), 0, 64 },
	{ TEXT(mig_instances, mig_instances), 0, 64 },
	{ TEXT(tdp_watts, tdp_watts), 0, 100000 },
	{ TEXT(devices_per_board, devices_per_board), 0, 64 },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void copy_texts(struct reader *reader, const struct vc_gpu_row *row,
                       struct vc_catalog_gpu *to)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		const char *text = *(char *const *)((const char *)row + texts[i].from);

		if (text) {
			*(const char **)((char *)to + texts[i].to) =
			        vc_draft_keep(reader->draft, text);
		}
	}
	for (size_t i = 0; i < COUNT(flags); i++) {
		const bool *flag = *(bool *const *)((const char *)row + flags[i].from);

		if (flag) {
			*(bool *)((char *)to + flags[i].to) = *flag;
		}
	}
}

static void copy_numbers(struct reader *reader, const struct vc_gpu_row *row,
                         struct vc_catalog_gpu *to)
{
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const struct copied *at = &numbers[i].copied;
		const uint64_t *value = *(uint64_t *const *)((const char *)row + at->from);
		char message[80];

		if (!value) {
			continue;
		}
		if (*value == 0 || *value > numbers[i].most) {
			snprintf(message, sizeof message, "%llu is out of range (1 to %llu)",
			         (unsigned long long)*value, (unsigned long long)numbers[i].most);
			refuse(reader, at->key, message);
		} else if (numbers[i].unit) {
			*(uint64_t *)((char *)to + at->to) = *value * numbers[i].unit;
		} else {
			*(uint32_t *)((char *)to + at->to) = (uint32_t)*value;
		}
	}
}

/* ---- Fields of their own kind ---- */

static void copy_aliases(struct reader *reader, const struct vc_gpu_row *row,
                         struct vc_catalog_gpu *to)
{
	const char **aliases;

	if (!row->aliases) {
		return;
	}
	aliases = vc_arena_take(&reader->draft->arena, (row->aliases_count + 1) * sizeof *aliases);
	if (!aliases) {
		vc_draft_no_memory(reader->draft);
		return;
	}
	for (uint32_t i = 0; i < row->aliases_count; i++) {
		aliases[i] = vc_draft_keep(reader->draft, row->aliases[i]);
	}
	to->gpu.aliases = aliases;
}

static void copy_supports(const struct vc_gpu_row *row, struct vc_gpu *gpu)
{
	bool has[VC_SUPPORTS_INT8 + 1] = { false };

	if (!row->supports) {
		return;
	}
	for (uint32_t i = 0; i < row->supports_count; i++) {
		has[row->supports[i]] = true;
	}
	gpu->supports_bf16 = has[VC_SUPPORTS_BF16];
	gpu->supports_fp8 = has[VC_SUPPORTS_FP8];
	gpu->supports_fp4 = has[VC_SUPPORTS_FP4];
	gpu->supports_int8 = has[VC_SUPPORTS_INT8];
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "8.6" is 86, "12.0" is 120. */
static void copy_capability(struct reader *reader, const struct vc_gpu_row *row, struct vc_gpu *gpu)
{
	const char *at = row->compute_capability;
	uint32_t value = 0;

	if (!at) {
		return;
	}
	while (is_digit(*at) && value < 10) {
		value = value * 10 + (uint32_t)(*at++ - '0');
	}
	if (value == 0 || at[0] != '.' || !is_digit(at[1]) || at[2]) {
		refuse(reader, "compute_capability", "not a compute capability (such as \"8.6\")");
		return;
	}
	gpu->compute_capability = value * 10 + (uint32_t)(at[1] - '0');
}

static const char *resolve_source(const struct reader *reader, const char *key)
{
	for (uint32_t i = 0; i < reader->file->sources_count; i++) {
		if (strcmp(reader->file->sources[i].id, key) == 0) {
			return reader->file->sources[i].ref;
		}
	}
	return key;
}

static const char *join_citations(struct reader *reader, const struct vc_catalog_gpu *entry)
{
	size_t room = 1, at = 0;
	char *text;

	for (uint32_t i = 0; i < entry->citation_count; i++) {
		room += strlen(entry->citations[i].field) + strlen(entry->citations[i].source) +
		        strlen(": ; ");
	}
	text = vc_arena_take(&reader->draft->arena, room);
	if (!text) {
		vc_draft_no_memory(reader->draft);
		return "";
	}
	for (uint32_t i = 0; i < entry->citation_count; i++) {
		at += (size_t)snprintf(text + at, room - at, "%s%s: %s", i ? "; " : "",
		                       entry->citations[i].field, entry->citations[i].source);
	}
	return text;
}

static void copy_citations(struct reader *reader, const struct vc_gpu_row *row,
                           struct vc_catalog_gpu *to)
{
	const struct vc_gpu_sources *sources = row->sources;
	struct vc_citation *citations;

	if (!sources) {
		return;
	}
	const struct vc_citation given[] = {
		{ "memory", sources->memory },
		{ "usable", sources->usable },
		{ "bandwidth", sources->bandwidth },
		{ "link", sources->link },
		{ "mig", sources->mig },
		{ "tdp", sources->tdp },
		{ "compute_capability", sources->compute_capability },
	};

	citations = vc_arena_take(&reader->draft->arena, sizeof given);
	if (!citations) {
		vc_draft_no_memory(reader->draft);
		return;
	}
	to->citations = citations;
	to->citation_count = 0;
	for (size_t i = 0; i < COUNT(given); i++) {
		if (given[i].source) {
			citations[to->citation_count++] = (struct vc_citation){
				given[i].field,
				vc_draft_keep(reader->draft,
				              resolve_source(reader, given[i].source)),
			};
		}
	}
	to->sources = join_citations(reader, to);
}

static void copy_price(struct reader *reader, const struct vc_gpu_row *row,
                       const struct vc_catalog_gpu *to)
{
	struct vc_offer offer = { .kind = VC_OFFER_OWN, .gpus_micros = 1000000 };
	const char *currency = row->currency ? row->currency : "USD";
	struct vc_offer *added;

	if (!row->price_per_hour) {
		return;
	}
	if (vc_quantity_parse(VC_QUANTITY_MICROS, row->price_per_hour, &offer.on_demand_micros) !=
	            VC_QUANTITY_OK ||
	    offer.on_demand_micros == 0 || offer.on_demand_micros > VC_MOST_PRICE_MICROS) {
		refuse(reader, "price_per_hour",
		       "not a positive number up to 9000000 (such as 1.25)");
		return;
	}
	if (strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
		refuse(reader, "currency", "no currency (three capitals such as USD)");
		return;
	}
	added = vc_draft_add_offer(reader->draft);
	if (!added) {
		return;
	}
	memcpy(offer.currency, currency, 4);
	offer.cloud = offer.region = offer.instance = offer.source = offer.note = "";
	offer.gpu_id = to->gpu.id;
	offer.as_of = row->price_as_of ? vc_draft_keep(reader->draft, row->price_as_of) : "";
	offer.origin = to->origin;
	*added = offer;
}

static void check_mig_table(struct reader *reader, const char *id)
{
	const char *(*known)(size_t) = reader->draft->mig_table;
	struct vc_nearest nearest = { .wanted = id ? id : "" };
	char message[160];

	if (!id || !known) {
		return;
	}
	for (size_t i = 0; known(i); i++) {
		if (strcmp(known(i), id) == 0) {
			return;
		}
		vc_nearest_offer(&nearest, known(i));
	}
	snprintf(message, sizeof message, "unknown '%.40s' (%s%s, a way to partition a GPU)", id,
	         nearest.best ? "did you mean " : "such as ",
	         nearest.best ? nearest.best : known(0));
	refuse(reader, "mig_table", message);
}

/* ---- What must hold of a whole entry ---- */

static void check_entry(struct reader *reader, const struct vc_catalog_gpu *to)
{
	uint64_t marketed_gib = to->gpu.memory_bytes / GB << 30;

	if (to->gpu.memory_bytes == 0) {
		refuse(reader, NULL, "memory_gb is missing (a new GPU needs its marketed size)");
		return;
	}
	if (to->gpu.driver_bytes > marketed_gib / 50 * 51) {
		refuse(reader,
		       reader->file->gpus[reader->index].driver_mib ? "driver_mib" : "memory_gb",
		       "the driver's total exceeds the marketed size by more than 2 %");
	}
	if (to->gpu.usable_bytes > (to->gpu.driver_bytes ? to->gpu.driver_bytes : marketed_gib)) {
		refuse(reader, "usable_mib", "more than the GPU has (at most driver_mib)");
	}
}

static bool answers_to(const struct vc_catalog_gpu *entry, const char *name)
{
	if (vc_names_equal(entry->gpu.id, name) || vc_names_equal(entry->gpu.name, name)) {
		return true;
	}
	for (size_t i = 0; entry->gpu.aliases[i]; i++) {
		if (vc_names_equal(entry->gpu.aliases[i], name)) {
			return true;
		}
	}
	return false;
}

/* "local" and "local-0" are this machine's, a bare "A100" all of that family. */
static const char *taken_by(const struct vc_catalog_gpu *other, const struct vc_catalog_gpu *mine,
                            const char *name)
{
	if (answers_to(other, name)) {
		return other->gpu.id;
	}
	return vc_names_equal(other->gpu.family, name) &&
	                       !vc_names_equal(other->gpu.family, mine->gpu.family)
	               ? "all GPUs of that family"
	               : NULL;
}

static void check_name(struct reader *reader, const struct vc_catalog_gpu *mine, const char *name)
{
	const struct vc_catalog_draft *draft = reader->draft;
	char message[240];

	if (vc_names_equal(name, "")) {
		refuse(reader, NULL, "a name without a letter or digit");
		return;
	}
	if (strncmp(name, "local", 5) == 0 && strchr("-: ", name[5])) {
		refuse(reader, NULL, "'local' names this machine's GPUs (a name of its own)");
		return;
	}
	for (size_t i = 0; i < draft->gpu_count; i++) {
		const char *other =
		        &draft->gpus[i] == mine ? NULL : taken_by(&draft->gpus[i], mine, name);

		if (other) {
			snprintf(message, sizeof message,
			         "'%s' already names %s (a name of its own)", name, other);
			refuse(reader, NULL, message);
			return;
		}
	}
}

/* ---- Rows ---- */

static struct vc_catalog_gpu *entry_for(struct reader *reader, const char *id)
{
	static const char *const no_aliases[] = { NULL };
	struct vc_catalog_draft *draft = reader->draft;
	struct vc_catalog_gpu *entry;

	for (size_t i = 0; i < draft->gpu_count; i++) {
		if (vc_names_equal(draft->gpus[i].gpu.id, id)) {
			return &draft->gpus[i];
		}
	}
	entry = vc_draft_add_gpu(draft);
	if (entry) {
		entry->gpu.id = vc_draft_keep(reader->draft, id);
		entry->gpu.name = entry->gpu.family = entry->gpu.id;
		entry->gpu.architecture = "";
		entry->gpu.aliases = no_aliases;
		entry->form = entry->memory_type = entry->link_scope = entry->note = "";
		entry->sources = "";
		entry->mig_table = "";
		entry->devices_per_board = 1;
	}
	return entry;
}

/* What a user's file names is shown, unless one says otherwise. */
static void show(const struct reader *reader, const struct vc_gpu_row *row,
                 struct vc_catalog_gpu *to)
{
	if (row->documented) {
		to->unlisted = !*row->documented;
	} else if (reader->draft->is_users) {
		to->documented = !to->unlisted;
	}
}

static void read_row(struct reader *reader)
{
	const struct vc_gpu_row *row = &reader->file->gpus[reader->index];
	struct vc_catalog_gpu *to = entry_for(reader, row->id);

	if (!to) {
		return;
	}
	if (to->origin.file == reader->name) {
		refuse(reader, "id", "is in this file already (one row each)");
	}
	to->origin = vc_draft_origin(reader->draft, reader->name, reader->lines[reader->index]);
	to->gpu.origin = reader->draft->is_users ? to->origin.text : NULL;
	copy_texts(reader, row, to);
	show(reader, row, to);
	copy_numbers(reader, row, to);
	copy_aliases(reader, row, to);
	copy_supports(row, &to->gpu);
	copy_capability(reader, row, &to->gpu);
	copy_citations(reader, row, to);
	to->gpu.vendor = row->vendor ? *row->vendor : to->gpu.vendor;
	to->gpu.link = row->link ? *row->link : to->gpu.link;
	to->gpu.mig_capable = *to->mig_table != 0;
	to->gpu.unified_memory = strcmp(to->form, "soc") == 0;
	check_mig_table(reader, row->mig_table);
	copy_price(reader, row, to);
	check_entry(reader, to);
	check_name(reader, to, to->gpu.id);
	check_name(reader, to, to->gpu.name);
	for (size_t i = 0; to->gpu.aliases[i]; i++) {
		check_name(reader, to, to->gpu.aliases[i]);
	}
}

void vc_catalog_lay_gpus(struct vc_catalog_draft *draft, const struct vc_catalog_text *source,
                         const struct vc_catalog_file *file)
{
	struct reader reader = { .draft = draft, .source = source, .file = file };

	reader.name = vc_draft_keep(draft, source->name);
	reader.lines = vc_catalog_lines(draft, source, "gpus", file->gpus_count);
	for (reader.index = 0; reader.lines && reader.index < file->gpus_count; reader.index++) {
		read_row(&reader);
	}
}
