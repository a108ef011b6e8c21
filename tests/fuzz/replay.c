/* Runs a fuzz target over files, for compilers without libFuzzer and for ordinary test runs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	enum {
		LIMIT = 1 << 20
	};
	uint8_t *data = malloc(LIMIT);

	if (!data || argc < 2) {
		fprintf(stderr, "replay: no files given\n");
		free(data);
		return EXIT_FAILURE;
	}
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");

		if (!file) {
			perror(argv[i]);
			free(data);
			return EXIT_FAILURE;
		}
		LLVMFuzzerTestOneInput(data, fread(data, 1, LIMIT, file));
		fclose(file);
	}
	free(data);
	printf("%d inputs\n", argc - 1);
	return EXIT_SUCCESS;
}
