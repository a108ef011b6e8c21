/* Text in XML, SVG and HTML. */
#ifndef VC_CLI_MARKUP_H
#define VC_CLI_MARKUP_H

#include <stdio.h>

/*
 * Text that is neither trusted nor known to be UTF-8, as content or within a quoted attribute:
 * what means something to a parser is escaped, what XML cannot hold is shown as \x1b, and an
 * override of the reading direction as its number, so that a name cannot reverse what follows it.
 */
void markup_text(FILE *file, const char *text);

/* The same of what printf would write; what is longer than a note is cut. */
__attribute__((format(printf, 2, 3))) void markup_format(FILE *file, const char *format, ...);

#endif
