/*
 * Light, medium, large, extra-large by number of parameters. A class is a label only: what fits is
 * decided by bytes (a 40B model of class "extra-large" fits one 80 GB card in int8).
 */
#include "size_class.h"

#include "ledger.h"

struct size_class {
	uint64_t below; /* parameters; 0: no upper bound */
	const char *code;
	const char *text[2]; /* by task */
};

static const struct size_class classes[] = {
	{ 100000000,
	  "class-light",
	  { "Size class light (below 100M parameters): usually served by a 16 GB card such as a "
	    "T4; "
	    "choose by price.",
	    "Size class light (below 100M parameters): usually trained on 24 GB (RTX 3090, A10G); "
	    "choose by price." } },
	{ 1000000000,
	  "class-medium",
	  { "Size class medium (100M to 1B parameters): usually served on 24 to 32 GB.",
	    "Size class medium (100M to 1B parameters): usually trained on 32 to 40 GB; a large "
	    "batch may not fit 32 GB." } },
	{ 10000000000,
	  "class-large",
	  { "Size class large (1B to 10B parameters): usually served on 40 to 80 GB.",
	    "Size class large (1B to 10B parameters): usually trained on several GPUs or with "
	    "ZeRO-3 and offload; one 80 GB card is the minimum." } },
	{ 0,
	  "class-extra-large",
	  { "Size class extra-large (10B parameters or more): usually served on several GPUs; "
	    "one card is enough only where it is listed as fitting.",
	    "Size class extra-large (10B parameters or more): usually trained on a cluster, "
	    "with data, tensor and pipeline parallelism together." } },
};

void vc_note_size_class(struct vc_ledger *ledger, enum vc_task task, uint64_t params)
{
	const struct size_class *class = classes;

	while (class->below && params >= class->below) {
		class ++;
	}
	vc_ledger_note(ledger, class->code, class->text[task], NULL);
}
