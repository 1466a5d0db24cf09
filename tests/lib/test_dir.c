/* SPDX-License-Identifier: MIT */
#include "tests/lib/test_dir.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_join(const char *dir, const char *name)
{
	char *path = malloc(strlen(dir) + strlen(name) + 2);

	/* Used by programs that run no libcheck case, too: it may only be spoken to in case of
	 * failure. */
	if (!path)
		ck_abort_msg("out of memory");
	stpcpy(stpcpy(stpcpy(path, dir), "/"), name);
	return path;
}

char *test_dir_new(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = path_join(tmp && *tmp ? tmp : "/tmp", "supd-test-XXXXXX");

	if (!mkdtemp(dir))
		ck_abort_msg("cannot make %s: %s", dir, strerror(errno));
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path) < 0 ? -errno : 0;
}

char *test_dir_free(char *dir)
{
	if (!dir)
		return NULL;
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(dir);
	return NULL;
}

char *test_dir_path(const char *dir, const char *name)
{
	return path_join(dir, name);
}

/* Makes each folder on the way to @path; the last component is the file's own. */
static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			ck_abort_msg("cannot make %s: %s", path, strerror(errno));
		*slash = '/';
	}
}

void test_dir_write(const char *dir, const char *name, const void *data, size_t size)
{
	char *path = path_join(dir, name);
	FILE *f;

	make_parents(path);
	f = fopen(path, "we");
	if (!f)
		ck_abort_msg("cannot write %s: %s", path, strerror(errno));
	if (fwrite(data, 1, size, f) != size || fclose(f) != 0)
		ck_abort_msg("cannot write %s: %s", path, strerror(errno));
	free(path);
}

void test_dir_write_text(const char *dir, const char *name, const char *text)
{
	test_dir_write(dir, name, text, strlen(text));
}

char *test_dir_read(const char *dir, const char *name, size_t *ret_size)
{
	char *path = path_join(dir, name), *data = NULL;
	size_t size = 0;
	FILE *f = fopen(path, "re"), *memory;
	int c;

	if (!f)
		ck_abort_msg("cannot read %s: %s", path, strerror(errno));
	memory = open_memstream(&data, &size);
	ck_assert_ptr_nonnull(memory);
	while ((c = getc(f)) != EOF)
		putc(c, memory);
	if (ferror(f) || fclose(memory) != 0)
		ck_abort_msg("cannot read %s: %s", path, strerror(errno));
	fclose(f);
	free(path);
	if (ret_size)
		*ret_size = size;
	return data;
}

static char *tree_path(const char *variable, const char *built_in, const char *name)
{
	const char *top = getenv(variable);

	return path_join(top && *top ? top : built_in, name);
}

char *test_source_path(const char *name)
{
	return tree_path("TOP_SRCDIR", ABS_TOP_SRCDIR, name);
}

char *test_build_path(const char *name)
{
	return tree_path("TOP_BUILDDIR", ABS_TOP_BUILDDIR, name);
}
