/* printf belongs to stdio and follows the locale; the few messages of the core need neither. */
#include "text.h"

#include <string.h>

static size_t append(char *to, size_t size, size_t length, const char *text)
{
	while (*text && length + 1 < size) {
		to[length++] = *text++;
	}
	to[length] = '\0';
	return length;
}

static const char *decimal(uint64_t value, char digits[21])
{
	char *at = digits + 20;

	*at = '\0';
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return at;
}

static void format_list(char *to, size_t size, const char *format, va_list list)
{
	char digits[21], one[2] = "";
	size_t length = 0;

	to[0] = '\0';
	for (; *format; format++) {
		const char *piece = one;

		if (*format == '%' && format[1] == 's') {
			piece = va_arg(list, const char *);
			format++;
		} else if (*format == '%' && format[1] == 'u') {
			piece = decimal(va_arg(list, uint64_t), digits);
			format++;
		} else {
			one[0] = *format;
		}
		length = append(to, size, length, piece);
	}
}

void vc_format(char *to, size_t size, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	format_list(to, size, format, list);
	va_end(list);
}

enum vc_status vc_fail(struct vc_error *error, enum vc_status status, const char *field,
                       const char *format, ...)
{
	va_list list;

	memset(error, 0, sizeof *error);
	error->status = status;
	append(error->field, sizeof error->field, 0, field);
	va_start(list, format);
	format_list(error->message, sizeof error->message, format, list);
	va_end(list);
	return status;
}

static const char *skip_separators(const char *s)
{
	while (*s == '-' || *s == '_' || *s == ' ' || *s == '.') {
		s++;
	}
	return s;
}

bool vc_same_name(const char *a, const char *b)
{
	for (;;) {
		a = skip_separators(a);
		b = skip_separators(b);
		char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a;
		char y = *b >= 'A' && *b <= 'Z' ? (char)(*b + 32) : *b;

		if (x != y) {
			return false;
		}
		if (x == '\0') {
			return true;
		}
		a++;
		b++;
	}
}
