#include "yaml_write.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	WIDTH = 96,
	EXACT_DIGITS = 17
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool same_word(const char *a, const char *b)
{
	while (*a && (*a | 32) == (*b | 32)) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Starts with a letter and holds nothing that YAML gives a meaning, and is none of the words that
 * YAML 1.1 reads as a boolean or null. */
static bool is_plain(const char *text)
{
	static const char *const words[] = { "true", "false", "yes", "no",  "on", "off",
		                             "null", "y",     "n",   "inf", "nan" };

	if (!is_letter(*text)) {
		return false;
	}
	for (const char *c = text; *c; c++) {
		if (!is_letter(*c) && !(*c >= '0' && *c <= '9') && !strchr("-./+", *c)) {
			return false;
		}
	}
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (same_word(text, words[i])) {
			return false;
		}
	}
	return true;
}

/* JSON's escapes are YAML's; bytes above ASCII stand for themselves in both. */
static void write_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\') {
			fprintf(out, "\\%c", *c);
		} else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
			fprintf(out, "\\u%04x", (unsigned char)*c);
		} else {
			fputc(*c, out);
		}
	}
	fputc('"', out);
}

void vc_yaml_write_text(const char *text, FILE *out)
{
	if (is_plain(text)) {
		fputs(text, out);
	} else {
		write_quoted(text, out);
	}
}

static void write_number(double number, FILE *out)
{
	bool whole = number > -1e15 && number < 1e15 && (double)(long long)number == number;

	fprintf(out, "%.*g", whole ? EXACT_DIGITS - 1 : EXACT_DIGITS, number);
}

static void write_scalar(const cJSON *item, FILE *out)
{
	if (cJSON_IsString(item)) {
		vc_yaml_write_text(item->valuestring, out);
	} else if (cJSON_IsNumber(item)) {
		write_number(item->valuedouble, out);
	} else if (cJSON_IsBool(item)) {
		fputs(cJSON_IsTrue(item) ? "true" : "false", out);
	} else {
		fputs("null", out);
	}
}

static void write_flow(const cJSON *item, FILE *out)
{
	bool object = cJSON_IsObject(item);

	if (!object && !cJSON_IsArray(item)) {
		write_scalar(item, out);
		return;
	}
	fputc(object ? '{' : '[', out);
	for (const cJSON *entry = item->child; entry; entry = entry->next) {
		if (object) {
			vc_yaml_write_text(entry->string, out);
			fputs(": ", out);
		}
		write_flow(entry, out);
		fputs(entry->next ? ", " : "", out);
	}
	fputc(object ? '}' : ']', out);
}

/* How many columns the entry takes, its comma included. */
static int flow_width(const cJSON *entry)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);

	if (!memory) {
		return WIDTH;
	}
	write_flow(entry, memory);
	fclose(memory);
	free(text);
	return (int)length + 1;
}

static void write_list(const cJSON *list, int indent, int column, FILE *out)
{
	fputc('[', out);
	column++;
	for (const cJSON *entry = list->child; entry; entry = entry->next) {
		int width = flow_width(entry);

		if (entry != list->child && column + 1 + width > WIDTH) {
			fprintf(out, "\n%*s", indent + 2, "");
			column = indent + 2;
		} else if (entry != list->child) {
			fputc(' ', out);
			column++;
		}
		write_flow(entry, out);
		fputs(entry->next ? "," : "", out);
		column += width;
	}
	fputs("]\n", out);
}

static const char *comment_of(const struct vc_yaml_style *style, const char *key)
{
	for (const struct vc_yaml_comment *c = style->comments; c && c->key; c++) {
		if (strcmp(c->key, key) == 0) {
			return c->text;
		}
	}
	return NULL;
}

static void write_member(const cJSON *item, const struct vc_yaml_style *style, FILE *out)
{
	const char *comment = comment_of(style, item->string);
	struct vc_yaml_style inner = { style->indent + 2, style->comments };

	fprintf(out, "%*s", style->indent, "");
	vc_yaml_write_text(item->string, out);
	fputc(':', out);
	if (cJSON_IsObject(item) && item->child) {
		fputc('\n', out);
		vc_yaml_write_object(item, &inner, out);
		return;
	}
	fputc(' ', out);
	if (cJSON_IsArray(item)) {
		write_list(item, style->indent, style->indent + (int)strlen(item->string) + 2, out);
		return;
	}
	write_flow(item, out);
	if (comment) {
		fprintf(out, "  # %s", comment);
	}
	fputc('\n', out);
}

void vc_yaml_write_object(const cJSON *object, const struct vc_yaml_style *style, FILE *out)
{
	for (const cJSON *item = object->child; item; item = item->next) {
		write_member(item, style, out);
	}
}
