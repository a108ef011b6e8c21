/* The page around the sections of `plan --html`: it needs nothing else, not even a script. */
#include "chart.h"
#include "markup.h"

#include "vramcalc/vramcalc.h"

/* Print takes the light colors, and shows what is folded away. */
static const char style[] =
        ":root{color-scheme:light dark}\n"
        "*{box-sizing:border-box}\n"
        "body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:#222;"
        "background:#fff}\n"
        "main{max-width:70rem;margin:0 auto;padding:1rem;overflow-x:clip}\n"
        "h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0;overflow-wrap:anywhere}\n"
        "h2,h3{font-size:1.25rem;line-height:1.3;margin:2rem 0 .5rem}h3{font-size:1.1rem}\n"
        "p,li{max-width:46rem;overflow-wrap:anywhere}p{margin:.5rem 0}\n"
        ".lead{font-size:1.1rem}\n"
        ".verdict{border:1px solid;border-left-width:.5rem;border-radius:.3rem;"
        "padding:.6rem .9rem;max-width:none}\n"
        ".fits{border-color:#1e7b34}.tight{border-color:#8a6100}.no{border-color:#b3261e}\n"
        ".hint,footer{color:#595959;font-size:.9rem}\n"
        "a{color:#1f5fa8}\n"
        "figure{margin:1rem 0;break-inside:avoid}figcaption{font-size:.9rem}\n"
        "figure svg,.legend svg{display:block;overflow:visible}\n"
        ".legend{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;margin:.7rem 0;padding:0;"
        "list-style:none;font-size:.85rem}\n"
        ".legend li{display:flex;align-items:center;gap:.4rem}\n"
        ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));"
        "gap:0 2.5rem}\n"
        ".scroll{overflow-x:auto;margin:.5rem 0}\n"
        "table{border-collapse:collapse;font-size:.9rem}\n"
        "caption{text-align:left;color:#595959;padding:.2rem 0}\n"
        "th,td{padding:.2rem .7rem;text-align:left;white-space:nowrap;"
        "border-bottom:1px solid #ddd;font-weight:400}\n"
        "thead th{font-weight:600;border-bottom:2px solid #888}\n"
        ".n{text-align:right;font-variant-numeric:tabular-nums}\n"
        ".patterns{position:absolute}\n"
        ".sum>*{font-weight:600;border-top:2px solid #888}\n"
        "details{margin:.5rem 0}summary{cursor:pointer;color:#1f5fa8}\n"
        ".job+.job{margin-top:3rem;border-top:2px solid #888;padding-top:1rem}\n"
        ".narrow{display:none}\n"
        "@media(max-width:719px){.wide{display:none}.narrow{display:inline}}\n"
        "@media screen and (prefers-color-scheme:dark){\n"
        "body{color:#e6e6e6;background:#1b1b1b}\n"
        ".hint,footer,caption{color:#b0b0b0}a,summary{color:#7db7f5}\n"
        ".fits{border-color:#5fbf77}.tight{border-color:#d9a521}.no{border-color:#f2857d}\n"
        "th,td{border-color:#444}thead th,.sum>*,.job+.job{border-color:#888}\n"
        "}\n"
        "@media print{\n"
        "@page{margin:12mm}.bars{zoom:.7}\n"
        ":root{font-size:11px}main{padding:0}body{print-color-adjust:exact;"
        "-webkit-print-color-adjust:exact}\n"
        "h2,h3{break-after:avoid}tr{break-inside:avoid}caption,thead{break-after:avoid}.job+.job{"
        "break-before:page}\n"
        ".scroll{overflow:visible}th,td{padding:.1rem "
        ".35rem;white-space:normal}table{font-size:9px}\n"
        "summary{display:none}details::details-content{content-visibility:visible;"
        "display:block;height:auto}\n"
        "}\n";

void html_file(FILE *file, const struct picture_files *files)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"generator\" content=\"vramcalc " VC_VERSION_STRING "\">\n<title>",
	      file);
	markup_format(file, "GPU memory: %s", files->title);
	fputs("</title>\n<style>\n", file);
	fputs(style, file);
	chart_style(file);
	fputs("</style>\n</head>\n<body>\n"
	      "<svg width=\"0\" height=\"0\" class=\"patterns\" aria-hidden=\"true\">\n",
	      file);
	chart_patterns(file);
	fputs("</svg>\n<main>\n", file);
	if (files->count > 1) {
		fputs("<h1>GPU memory of several jobs</h1>\n<nav aria-label=\"Jobs\">\n<ol>\n",
		      file);
		fwrite(files->contents.text, 1, files->contents.size, file);
		fputs("</ol>\n</nav>\n", file);
	}
	fwrite(files->html.text, 1, files->html.size, file);
	fputs("<footer>\n<p>vramcalc " VC_VERSION_STRING
	      ". GB are 10<sup>9</sup> bytes, GiB 2<sup>30</sup>.</p>\n</footer>\n</main>\n"
	      "</body>\n</html>\n",
	      file);
}
