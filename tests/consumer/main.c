/* A program outside the tree: does 7B in fp16 for inference weigh what the documents say? */
#include <vramcalc/vramcalc.h>

#include <stdio.h>

int main(void)
{
	struct vc_model model = { .params = 7000000000 };
	struct vc_request request = { .model = &model, .workload.precision = VC_DTYPE_FP16 };
	struct vc_ledger ledger;
	struct vc_error error;

	if (vc_estimate(&request, &ledger, &error) != VC_OK) {
		fprintf(stderr, "%s: %s\n", error.field, error.message);
		return 2;
	}
	/* 7e9 parameters of 2 bytes */
	return vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS) == 14000000000 ? 0 : 1;
}
