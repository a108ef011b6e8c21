/* Text as bytes: is it UTF-8, and which line and column is a byte at. */
#ifndef VC_UTF8_H
#define VC_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Both count from 1; columns are characters. */
struct vc_text_mark {
	uint32_t line, column;
};

/* What makes these bytes no text, and where: NUL, other control characters, invalid UTF-8. */
const char *vc_text_problem(const char *text, size_t length, struct vc_text_mark *mark);

struct vc_text_mark vc_text_mark_at(const char *text, size_t offset);

/*
 * libyaml refuses the pairs in which JSON writes characters beyond U+FFFF (libyaml issue 110).
 * Rewrites each as the one escape that YAML has for it, in place; the blanks that this frees go
 * behind the string, so that no other column moves.
 */
void vc_text_join_surrogates(char *text, size_t length);

/* Python writes Infinity and NaN into JSON (the time_step_limit of Mamba-2). Nothing that sizes a
 * model is infinite: each becomes 0, in place. */
void vc_text_replace_infinities(char *text, size_t length);

#endif
