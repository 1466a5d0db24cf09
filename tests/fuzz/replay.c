/* SPDX-License-Identifier: MIT */

/* The main() of a fuzz target in `make check`: its corpus once more, a file a case, as TAP. Files
 * named on the command line instead: one of them is what a fuzzer found. */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path, int number)
{
	FILE *f = fopen(path, "re"), *copy;
	char *bytes = NULL;
	size_t n = 0;
	int c;

	if (!f || !(copy = open_memstream(&bytes, &n))) {
		printf("Bail out! cannot read %s\n", path);
		exit(EXIT_FAILURE);
	}
	while ((c = getc(f)) != EOF)
		putc(c, copy);
	fclose(f);
	fclose(copy);
	/* ends the program where it fails */
	(void) LLVMFuzzerTestOneInput((const uint8_t *) bytes, n);
	free(bytes);
	printf("ok %d - %s\n", number, path);
}

static int is_file(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int replay_corpus(void)
{
	char *path = test_source_path("tests/fuzz/corpus/" CORPUS);
	struct dirent **list;
	int n = scandir(path, &list, is_file, alphasort);

	if (n < 1) {
		printf("Bail out! no corpus in %s\n", path);
		exit(EXIT_FAILURE);
	}
	for (int i = 0; i < n; i++) {
		char *file = test_dir_path(path, list[i]->d_name);

		replay(file, i + 1);
		free(file);
		free(list[i]);
	}
	free(list);
	free(path);
	return n;
}

int main(int argc, char **argv)
{
	int n = argc - 1;

	for (int i = 1; i < argc; i++)
		replay(argv[i], i);
	if (argc == 1)
		n = replay_corpus();
	printf("1..%d\n", n);
	return EXIT_SUCCESS;
}
