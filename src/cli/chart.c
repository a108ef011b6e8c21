#include "chart.h"

#include "format.h"
#include "markup.h"

/* Fills are pale, or in the dark deep, so that labels can stand on them. */
static const struct {
	const char *light, *dark;
	const char *pattern; /* a path in a tile of 8 by 8 */
} looks[VC_COMPONENT_COUNT] = {
	[VC_COMPONENT_WEIGHTS] = { "#a9cdf5", "#2a5788", "" },
	[VC_COMPONENT_KV_CACHE] = { "#f9d09a", "#82560f", "M-2 2 2-2M0 8 8 0M6 10 10 6" },
	[VC_COMPONENT_RECURRENT_STATE] = { "#f3e596", "#6b5e10", "M2 2h.01M6 6h.01" },
	[VC_COMPONENT_ACTIVATIONS] = { "#b5e3bc", "#2b6639", "M-2 6 2 10M0 0 8 8M6-2 10 2" },
	[VC_COMPONENT_LOGITS] = { "#dcc8f2", "#593e83", "M0 2h8M0 6h8" },
	[VC_COMPONENT_GRADIENTS] = { "#f6bdbd", "#843838", "M2 0v8M6 0v8" },
	[VC_COMPONENT_MASTER_WEIGHTS] = { "#bfd0e0", "#3b5369", "M0 4h8M4 0v8" },
	[VC_COMPONENT_OPTIMIZER_STATES] = { "#f3c3dd", "#7d3d66", "M0 0 8 8M0 8 8 0" },
	[VC_COMPONENT_ADAPTERS] = { "#b7e6df", "#21635b", "M1 2h3M5 6h3" },
	[VC_COMPONENT_COMMUNICATION] = { "#ddd5c3", "#5b5443", "M0 5 2 3 4 5 6 3 8 5" },
	[VC_COMPONENT_CUDA_GRAPHS] = { "#d5deb0", "#556029", "M1 1h3v3h-3z" },
	[VC_COMPONENT_FRAMEWORK] = { "#d0d0d0", "#505050", "M2 4h4M4 2v4" },
	[VC_COMPONENT_FRAGMENTATION] = { "#f1f1f1", "#383838", "M2 2 4 4M4 2 2 4" },
};

/* A class is its rules in the light, then its rules in the dark; print is always light. */
static const char light[] =
        "text{font:12px system-ui,sans-serif;fill:#222}\n"
        ".name{font-weight:600;font-size:13px}.end{font-weight:600}\n"
        ".soft{fill:#595959}.on{paint-order:stroke;stroke:#fff;stroke-width:3px}\n"
        ".room{fill:#f3f3f3;stroke:#555;stroke-width:1}\n"
        ".edge{stroke:#333;stroke-width:1}.limit-edge{stroke:#222;stroke-width:3}.rule{stroke:#ddd}"
        "\n"
        ".low-high{stroke:#333;stroke-width:1.5;fill:none}\n"
        ".need{stroke:#a3003d;stroke-width:2}.mark{fill:#a3003d}\n"
        ".phase{fill:#c9d8e8;stroke:#333}.peak{fill:#7fa6cf}\n"
        ".grown{stroke:#1f5fa8;stroke-width:2.5;stroke-linecap:round}\n"
        ".likely{stroke:#1f5fa8;stroke-width:1.5;stroke-dasharray:2 4}\n"
        ".limit{stroke:#a3003d;stroke-width:2;stroke-dasharray:8 4}\n"
        ".now{fill:#1f5fa8;stroke:#fff;stroke-width:1.5}\n"
        ".most{fill:#fff;stroke:#1f5fa8;stroke-width:2}\n"
        ".ink{fill:none;stroke:#000;stroke-opacity:.42;stroke-linecap:round}\n";
static const char dark[] = "text{fill:#e6e6e6}.soft{fill:#b0b0b0}.on{stroke:#1b1b1b}\n"
                           ".room{fill:#2b2b2b;stroke:#aaa}.edge{stroke:#ccc}.limit-edge{stroke:#"
                           "eee}.rule{stroke:#444}\n"
                           ".low-high{stroke:#ddd}.need{stroke:#ff8fb0}.mark{fill:#ff8fb0}\n"
                           ".phase{fill:#34475b;stroke:#ccc}.peak{fill:#47719c}\n"
                           ".grown,.likely{stroke:#7db7f5}.limit{stroke:#ff8fb0}\n"
                           ".now{fill:#7db7f5;stroke:#1b1b1b}.most{fill:#1b1b1b;stroke:#7db7f5}\n"
                           ".ink{stroke:#fff;stroke-opacity:.45}\n";

void chart_style(FILE *file)
{
	fputs(light, file);
	for (int c = 0; c < VC_COMPONENT_COUNT; c++) {
		fprintf(file, ".t-%s{fill:%s}.%s{fill:url(#p-%s)}\n",
		        vc_component_name((enum vc_component)c), looks[c].light,
		        vc_component_name((enum vc_component)c),
		        vc_component_name((enum vc_component)c));
	}
	fprintf(file, "@media screen and (prefers-color-scheme:dark){\n%s", dark);
	for (int c = 0; c < VC_COMPONENT_COUNT; c++) {
		fprintf(file, ".t-%s{fill:%s}\n", vc_component_name((enum vc_component)c),
		        looks[c].dark);
	}
	fputs("}\n", file);
}

void chart_patterns(FILE *file)
{
	fputs("<defs>\n", file);
	for (int c = 0; c < VC_COMPONENT_COUNT; c++) {
		const char *name = vc_component_name((enum vc_component)c);

		fprintf(file,
		        "<pattern id=\"p-%s\" width=\"8\" height=\"8\" "
		        "patternUnits=\"userSpaceOnUse\"><rect class=\"t-%s\" width=\"8\" "
		        "height=\"8\"/>",
		        name, name);
		if (*looks[c].pattern) {
			fprintf(file, "<path class=\"ink\" d=\"%s\"/>", looks[c].pattern);
		}
		fputs("</pattern>\n", file);
	}
	fputs("</defs>\n", file);
}

double chart_percent(const struct chart *chart, uint64_t bytes)
{
	return chart->top_bytes ? 100.0 * (double)bytes / (double)chart->top_bytes : 0;
}

uint64_t chart_step(const struct chart *chart, unsigned marks)
{
	static const uint64_t factors[] = { 1, 2, 5 };

	for (uint64_t power = format_unit_bytes(chart->unit); power < UINT64_MAX / 100;
	     power *= 10) {
		for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
			if (chart->top_bytes / (factors[i] * power) <= marks) {
				return factors[i] * power;
			}
		}
	}
	return chart->top_bytes;
}

void chart_text(const struct chart *chart, const char *class, struct chart_place at,
                const char *text)
{
	fprintf(chart->file, "<text class=\"%s\" x=\"%.2f%%\" y=\"%d\"", class, at.x, at.y);
	if (at.anchor != 's') {
		fprintf(chart->file, " text-anchor=\"%s\"", at.anchor == 'e' ? "end" : "middle");
	}
	putc('>', chart->file);
	markup_text(chart->file, text);
	fputs("</text>\n", chart->file);
}

void chart_mark(const struct chart *chart, const char *class, struct chart_place at,
                const char *path)
{
	fprintf(chart->file,
	        "<svg x=\"%.2f%%\" y=\"%d\" overflow=\"visible\"><path class=\"%s\" "
	        "d=\"%s\"/></svg>\n",
	        at.x, at.y, class, path);
}
