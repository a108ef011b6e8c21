/* `plan --explain` ends with what no estimate replaces. docs/diagnose.md#the-documents-statements
 */
#include "plan_checklist.h"

/* None of these changes the estimate: they are about the run. */
static const char *const steps[] = {
	"Before a long rental, check the GPUs: dcgmi diag -r 4 is the full test. It needs an idle "
	"GPU "
	"and may take an hour or more.",
	"Start small, and compare: vramcalc diagnose reads torch.cuda.memory_summary() and "
	"nvidia-smi's readings of the first ten steps.",
	"Scale up step by step, and see in Nsight Systems (nsys profile) whether the GPU or the "
	"input "
	"is the limit.",
	"Feed it in parallel: DataLoader(num_workers=4) or tf.data's prefetch(). That takes host "
	"memory, none of the GPU.",
	"Quiet logs, transformers.logging.set_verbosity_error(), are for reading: log text is host "
	"memory and takes none of the GPU.",
};

void plan_print_checklist(struct output *out)
{
	output_heading(out, "When it runs");
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		fputs("- ", out->file);
		output_paragraph(out, TONE_PLAIN, steps[i], 2);
	}
}
