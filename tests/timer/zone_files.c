/* SPDX-License-Identifier: MIT */
#include "tests/timer/zone_files.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse_error.h"
#include "timer/zone.h"

#define FILE_MAX 65536

/* nftw() knows no userdata. */
static struct zone_files *filling;
static char **contents;
static size_t *sizes;

static int is_double(const void *data, size_t size)
{
	for (size_t i = 0; i < filling->count; i++)
		if (sizes[i] == size && memcmp(contents[i], data, size) == 0)
			return 1;
	return 0;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	const char *name = path + strlen(ZONE_DIR) + 1;
	static char data[FILE_MAX];
	struct parse_error error;
	struct zone *zone;
	size_t size, n = filling->count;
	FILE *f;

	(void) st;
	(void) walk;
	if (type != FTW_F || strncmp(name, "right/", 6) == 0 || strncmp(name, "posix/", 6) == 0)
		return 0;
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	if (size < 4 || memcmp(data, "TZif", 4) != 0 || is_double(data, size))
		return 0;
	if (zone_from_tzif(data, size, &zone, &error) < 0)
		ck_abort_msg("%s: %s", name, error.sentence);
	filling->file = realloc(filling->file, (n + 1) * sizeof(filling->file[0]));
	contents = realloc(contents, (n + 1) * sizeof(contents[0]));
	sizes = realloc(sizes, (n + 1) * sizeof(sizes[0]));
	contents[n] = malloc(size);
	memcpy(contents[n], data, size);
	sizes[n] = size;
	filling->file[n] = (struct zone_file) { strdup(name), zone };
	filling->count++;
	return 0;
}

void zone_files_load(struct zone_files *ret)
{
	*ret = (struct zone_files) { 0, NULL };
	filling = ret;
	ck_assert_int_eq(nftw(ZONE_DIR, visit, 16, FTW_PHYS), 0);
	for (size_t i = 0; i < ret->count; i++)
		free(contents[i]);
	free(contents);
	free(sizes);
	contents = NULL;
	sizes = NULL;
	ck_assert_uint_gt(ret->count, 100);
}

void zone_files_done(struct zone_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->file[i].name);
		zone_free(files->file[i].zone);
	}
	free(files->file);
}

int test_is_full(void)
{
	return getenv("SUPD_TEST_FULL") != NULL;
}

void zone_files_or_skip(void)
{
	if (access(ZONE_DIR "/Europe/Berlin", R_OK) == 0)
		return;
	printf("1..0 # SKIP no time zones in " ZONE_DIR " (tzdata is not installed)\n");
	exit(EXIT_SUCCESS);
}
