/* A diagnosis for people and for programs. */
#ifndef VC_CLI_DIAGNOSE_PRINT_H
#define VC_CLI_DIAGNOSE_PRINT_H

#include "diagnose_theory.h"

struct finding {
	const char *file;
	const struct log *log;
	const struct theory *theory; /* NULL without a spec */
	struct vc_diagnosis diagnosis;
};

void finding_json(struct json_writer *json, const struct finding *finding);
void finding_text(struct output *out, const struct finding *finding);

#endif
