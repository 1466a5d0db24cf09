/* SPDX-License-Identifier: MIT */
#include "store/config_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/file.h"
#include "store/unit_index.h"
#include "unit/reader.h"
#include "unit/source.h"

static bool is_shortage(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE;
}

static void fault(struct unit_source *s, const char *path, const char *what)
{
	diag_add(&s->problems, DIAG_ERROR, path, 0, NULL, "%s", what);
}

/* What was opened is judged, not what a name meant a moment before. */
static bool is_fit(struct unit_source *s, const char *path, bool trusted_only,
		   const struct stat *st)
{
	char sentence[128];

	if (unit_is_null(st))
		return false; /* masked, or nothing in it */
	if (!S_ISREG(st->st_mode))
		fault(s, path, "is not a regular file");
	else if (trusted_only && unit_distrust(st->st_uid, st->st_mode, sentence, sizeof(sentence)))
		fault(s, path, sentence);
	else if (st->st_size > UNIT_FILE_MAX)
		fault(s, path, "is too large");
	else
		return true;
	return false;
}

static int add_piece(struct unit_source *s, const char *path, char *bytes, size_t n)
{
	struct unit_piece *bigger = reallocarray(s->piece, s->n_pieces + 1, sizeof(*bigger));
	char *copy = strdup(path);

	if (bigger)
		s->piece = bigger;
	if (!bigger || !copy) {
		free(copy);
		return -ENOMEM;
	}
	s->piece[s->n_pieces++] = (struct unit_piece) { .path = copy, .bytes = bytes, .n = n };
	return 0;
}

static int read_open(struct unit_source *s, int fd, const char *path, bool trusted_only)
{
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	size_t n;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!is_fit(s, path, trusted_only, &st))
		return 0;
	r = file_read_all(fd, (size_t) st.st_size, UNIT_FILE_MAX, &bytes, &n);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		fault(s, path, r == -EFBIG ? "is too large" : "cannot be read");
		return 0;
	}
	r = add_piece(s, path, bytes, n);
	if (r >= 0)
		TAKE_PTR(bytes);
	return r;
}

static int read_one(struct unit_source *s, const char *path, bool is_required, bool trusted_only)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int error = errno;
	char sentence[128];

	if (fd >= 0)
		return read_open(s, fd, path, trusted_only);
	if (is_shortage(error))
		return -error;
	if ((error == ENOENT || error == ENOTDIR) && !is_required)
		return 0;
	(void) snprintf(sentence, sizeof(sentence), "cannot be opened: %s", strerror(error));
	fault(s, path, sentence);
	return 0;
}

static int is_dropin(const struct dirent *e)
{
	return e->d_name[0] != '.' && str_ends(e->d_name, ".conf");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Who may write the directory may put files there. */
static bool is_directory_fit(struct unit_source *s, const char *path, bool trusted_only)
{
	char sentence[128];
	struct stat st;

	if (!trusted_only || stat(path, &st) < 0 ||
	    !unit_distrust(st.st_uid, st.st_mode, sentence, sizeof(sentence)))
		return true;
	fault(s, path, sentence);
	return false;
}

static int read_dropins(struct unit_source *s, const char *dir, bool trusted_only)
{
	struct dirent **entry;
	char sentence[128];
	int n = scandir(dir, &entry, is_dropin, by_name), error = errno, r = 0;

	if (n < 0 && (error == ENOENT || error == ENOTDIR))
		return 0;
	if (n < 0 && is_shortage(error))
		return -error;
	if (n < 0) {
		(void) snprintf(sentence, sizeof(sentence), "cannot be read: %s", strerror(error));
		fault(s, dir, sentence);
		return 0;
	}
	if (!is_directory_fit(s, dir, trusted_only))
		r = 1;
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *path = NULL;

		if (r == 0 && asprintf(&path, "%s/%s", dir, entry[i]->d_name) < 0) {
			path = NULL;
			r = -ENOMEM;
		}
		if (r == 0)
			r = read_one(s, path, true, trusted_only);
		free(entry[i]);
	}
	free(entry);
	return r < 0 ? r : 0;
}

int config_file_read(const char *path, const char *dropins, bool is_required, bool trusted_only,
		     struct unit_source *ret)
{
	struct unit_source s = { 0 };
	int r;

	s.name = strdup("supd.conf");
	r = s.name ? read_one(&s, path, is_required, trusted_only) : -ENOMEM;
	if (r >= 0 && dropins)
		r = read_dropins(&s, dropins, trusted_only);
	if (r < 0) {
		unit_source_done(&s);
		return r;
	}
	*ret = s;
	return 0;
}
