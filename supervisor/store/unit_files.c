/* SPDX-License-Identifier: MIT */
#include "store/unit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/file.h"
#include "store/unit_index.h"

struct unit_files {
	struct unit_dir *dir; /* high priority first */
	size_t n_dirs;
	bool trusted_only;
	struct unit_index index;
	uint64_t revision;
	uint64_t n_scans;
	struct unit_scan *ahead; /* made beside the loop, and not looked at yet; or NULL */
	char resolved[UNIT_NAME_MAX + 1];
};

/* ---- making ---- */

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Without slashes at the end, so that a file's path reads well. */
static char *copy_path(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

static bool is_runtime(const char *path, const char *runtime_dir)
{
	return str_starts(path, "/run/") || (runtime_dir && str_equal(path, runtime_dir));
}

static int add_dirs(struct unit_files *f, const char *const *paths, bool is_systemd,
		    const char *runtime_dir)
{
	for (size_t i = 0; i < count(paths); i++) {
		f->dir[f->n_dirs] = (struct unit_dir) {copy_path(paths[i]), is_systemd,
						       is_runtime(paths[i], runtime_dir)};
		if (!f->dir[f->n_dirs++].path)
			return -ENOMEM;
	}
	return 0;
}

int unit_files_new(const struct unit_files_config *config, struct unit_files **ret)
{
	size_t n = count(config->dirs) + count(config->systemd_dirs);
	struct unit_files *f;

	if (n > UINT16_MAX)
		return -E2BIG;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->trusted_only = config->trusted_only;
	f->dir = calloc(n + 1, sizeof(*f->dir));
	if (!f->dir || add_dirs(f, config->dirs, false, config->runtime_dir) < 0 ||
	    add_dirs(f, config->systemd_dirs, true, config->runtime_dir) < 0) {
		unit_files_free(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

struct unit_files *unit_files_free(struct unit_files *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n_dirs; i++)
		free(f->dir[i].path);
	free(f->dir);
	unit_scan_free(f->ahead);
	unit_index_done(&f->index);
	free(f);
	return NULL;
}

/* ---- the index ---- */

struct unit_scan {
	/* of the files, which do not change them */
	const struct unit_dir *dir;
	size_t n_dirs;
	bool trusted_only;
	uint64_t n_scans; /* those before it */
	unsigned kinds;
	int result;
	struct unit_index index;
	struct diag problems;
};

int unit_scan_begin(struct unit_files *f, unsigned kinds, struct unit_scan **ret)
{
	struct unit_scan *scan = calloc(1, sizeof(*scan));

	if (!scan)
		return -ENOMEM;
	*scan = (struct unit_scan){
		.dir = f->dir,
		.n_dirs = f->n_dirs,
		.trusted_only = f->trusted_only,
		.n_scans = f->n_scans,
		.kinds = kinds,
		.result = -ECANCELED,
	};
	*ret = scan;
	return 0;
}

void unit_scan_make(struct unit_scan *scan)
{
	scan->result = unit_index_build(scan->dir, scan->n_dirs, scan->trusted_only, scan->kinds,
					&scan->index, &scan->problems);
}

void unit_scan_give(struct unit_files *f, struct unit_scan *scan)
{
	unit_scan_free(f->ahead);
	f->ahead = scan;
}

struct unit_scan *unit_scan_free(struct unit_scan *scan)
{
	if (!scan)
		return NULL;
	unit_index_done(&scan->index);
	diag_done(&scan->problems);
	free(scan);
	return NULL;
}

static int take_ahead(struct unit_scan *scan, struct unit_index *ret, struct diag *d)
{
	*ret = scan->index;
	scan->index = (struct unit_index) { 0 };
	diag_move(d, &scan->problems);
	return scan->result;
}

/* What was found ahead may be older than what a scan found that began, and ended, meanwhile. */
static int look(struct unit_files *f, unsigned kinds, struct unit_index *ret, struct diag *d)
{
	struct unit_scan *scan = TAKE_PTR(f->ahead);
	bool is_good = scan && scan->kinds == kinds && scan->n_scans == f->n_scans;
	int r = is_good ? take_ahead(scan, ret, d) : -ECANCELED;

	unit_scan_free(scan);
	f->n_scans++;
	return is_good ? r : unit_index_build(f->dir, f->n_dirs, f->trusted_only, kinds, ret, d);
}

int unit_files_scan(struct unit_files *f, unsigned kinds, struct diag *d)
{
	struct unit_index fresh;
	int r;

	r = look(f, kinds, &fresh, d);
	if (r < 0)
		return r;
	if (!unit_index_is_same(&f->index, &fresh))
		f->revision++;
	unit_index_done(&f->index);
	f->index = fresh;
	return 0;
}

int unit_files_scan_only(struct unit_files *f, unsigned kinds, const char *const *names,
			 struct diag *d)
{
	int r = kinds == f->index.kinds
			? unit_index_refresh(&f->index, f->dir, f->n_dirs, f->trusted_only, names)
			: -EAGAIN;

	if (r == -EAGAIN)
		return unit_files_scan(f, kinds, d);
	if (r > 0) {
		f->n_scans++;
		f->revision++;
	}
	return r < 0 ? r : 0;
}

uint64_t unit_files_revision(const struct unit_files *f)
{
	return f->revision;
}

const char *unit_files_name(const struct unit_files *f, size_t i)
{
	return i < f->index.n_entries ? f->index.entry[i].name : NULL;
}

size_t unit_files_count(const struct unit_files *f)
{
	return f->index.n_entries;
}

static uint64_t fingerprint_of(const struct unit_entry *e)
{
	return e->fingerprint ? e->fingerprint : 1;
}

uint64_t unit_files_fingerprint(struct unit_files *f, const char *name)
{
	struct unit_entry e;

	return unit_index_find(&f->index, name, &e) > 0 ? fingerprint_of(&e) : 0;
}

const char *unit_files_resolve(struct unit_files *f, const char *name)
{
	return unit_index_resolve(&f->index, name, f->resolved);
}

/* ---- reading ---- */

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory, not a regular file";
	case S_IFIFO:
		return "a fifo, not a regular file";
	case S_IFSOCK:
		return "a socket, not a regular file";
	case S_IFCHR:
	case S_IFBLK:
		return "a device, not a regular file";
	default:
		return "not a regular file";
	}
}

static void problem(struct unit_source *s, const char *path, const char *fmt, ...) _printf_(3, 4);
static void problem(struct unit_source *s, const char *path, const char *fmt, ...)
{
	char sentence[256];
	va_list ap;

	va_start(ap, fmt);
	(void) vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	diag_add(&s->problems, DIAG_ERROR, path, 0, NULL, "%s", sentence);
}

/* Worded for @path; a failure of the system that says nothing about the file is passed up. */
static int open_problem(struct unit_source *s, const char *path, bool is_link, int error)
{
	if (error == ENOMEM || error == EMFILE || error == ENFILE || error == EINTR)
		return -error;
	if (error == ELOOP)
		problem(s, path, "is a link that leads back to itself");
	else if (error == ENOENT && is_link)
		problem(s, path, "is a link to a file that does not exist");
	else if (error == ENOENT)
		problem(s, path, "has vanished");
	else
		problem(s, path, "cannot be opened: %s", strerror(error));
	return 0;
}

/* The verdict on what was opened, not on what a name meant a moment before. 1: read it. */
static int judge(struct unit_source *s, const char *path, bool trusted_only, const struct stat *st)
{
	char sentence[128];

	if (!S_ISREG(st->st_mode))
		problem(s, path, "is %s", type_name(st->st_mode));
	else if (trusted_only && unit_distrust(st->st_uid, st->st_mode, sentence, sizeof(sentence)))
		problem(s, path, "%s", sentence);
	else if (st->st_size > UNIT_FILE_MAX)
		problem(s, path, "is larger than %d KiB", UNIT_FILE_MAX / 1024);
	else
		return 1;
	return 0;
}

static int add_piece(struct unit_source *s, char *path, char *bytes, size_t n)
{
	struct unit_piece *bigger = reallocarray(s->piece, s->n_pieces + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	s->piece = bigger;
	s->piece[s->n_pieces++] = (struct unit_piece) {.path = path, .bytes = bytes, .n = n};
	return 0;
}

/* Takes @path when it returns 1: a piece was added. 0: it was not; a problem says why, or it is
 * empty now. */
static int read_open_file(struct unit_source *s, int fd, char *path, bool trusted_only)
{
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	size_t n;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	r = judge(s, path, trusted_only, &st);
	if (r <= 0)
		return r;
	r = file_read_all(fd, (size_t) st.st_size, UNIT_FILE_MAX, &bytes, &n);
	if (r == -ENOMEM)
		return r;
	if (r == -EFBIG)
		problem(s, path, "has grown while it was read");
	else if (r < 0)
		problem(s, path, "cannot be read: %s", strerror(-r));
	if (r < 0 || n == 0)
		return 0;
	r = add_piece(s, path, bytes, n);
	if (r < 0)
		return r;
	TAKE_PTR(bytes);
	return 1;
}

static int read_path(struct unit_source *s, const char *given, const struct unit_file_facts *facts,
		     bool trusted_only)
{
	_cleanup_free_ char *path = strdup(given);
	_cleanup_close_ int fd = -1;
	int r;

	if (!path)
		return -ENOMEM;
	if (facts->error)
		return open_problem(s, path, facts->is_link, facts->error);
	if (facts->is_crossed || facts->type != S_IFREG) { /* to open a device may do something */
		problem(s, path, "is %s", facts->is_crossed ? "a link to a unit of another kind"
							   : type_name(facts->type));
		return 0;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return open_problem(s, path, facts->is_link, errno);
	r = read_open_file(s, fd, path, trusted_only);
	if (r > 0)
		TAKE_PTR(path);
	return r;
}

/* @parent, @distrust: the directory it stands in, and what is wrong with that. */
static int read_piece(const struct unit_files *f, struct unit_source *s, const char *parent,
		      const char *distrust, const char *name, const struct unit_file_facts *facts)
{
	_cleanup_free_ char *path = NULL;

	if (distrust) {
		problem(s, parent, "%s", distrust);
		return 0;
	}
	if (asprintf(&path, "%s/%s", parent, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return read_path(s, path, facts, f->trusted_only);
}

static int read_dropin(const struct unit_files *f, struct unit_source *s,
		       const struct unit_dropin *dropin)
{
	_cleanup_free_ char *parent = NULL;

	if (asprintf(&parent, "%s/%s.d", f->dir[dropin->facts.dir].path, dropin->stem) < 0) {
		parent = NULL;
		return -ENOMEM;
	}
	return read_piece(f, s, parent, dropin->distrust, dropin->file, &dropin->facts);
}

static int read_dropins(const struct unit_files *f, struct unit_source *s)
{
	const struct unit_dropin **dropin = NULL;
	size_t n;
	int r;

	r = unit_index_dropins(&f->index, s->name, &dropin, &n);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = read_dropin(f, s, dropin[i]);
	free(dropin);
	return r < 0 ? r : 0;
}

static int read_all(const struct unit_files *f, struct unit_source *s, const struct unit_entry *e)
{
	const struct unit_dir *dir = &f->dir[e->file.dir];
	char template[UNIT_NAME_MAX + 1];
	const char *file = e->is_made && unit_name_template(e->name, template) == 0 ? template
										    : e->name;
	int r;

	r = read_piece(f, s, dir->path, f->index.distrust[e->file.dir], file, &e->file);
	if (r < 0)
		return r;
	if (r > 0)
		s->piece[0].folder = dir->path;
	if (r == 0 && s->problems.n_errors == 0)
		s->is_masked = true; /* emptied since the scan */
	/* Without the file itself nothing that is added to it makes sense. */
	return r == 0 ? 0 : read_dropins(f, s);
}

/* Their names alone: what they lead to is of no matter. */
static int read_links(const struct unit_files *f, struct unit_source *s)
{
	size_t n;
	const struct unit_index_link *link = unit_index_links(&f->index, s->name, &n);

	if (n == 0)
		return 0;
	s->pull = calloc(n, sizeof(*s->pull));
	if (!s->pull)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct unit_pull *to = &s->pull[s->n_pulls++];

		to->is_required = link[i].is_required;
		to->unit = strdup(link[i].unit);
		if (asprintf(&to->file, "%s/%s/%s", f->dir[link[i].dir].path, link[i].in,
			     link[i].unit) < 0)
			to->file = NULL;
		if (!to->unit || !to->file)
			return -ENOMEM;
	}
	return 0;
}

int unit_files_read(struct unit_files *f, const char *name, struct unit_source *ret)
{
	struct unit_source s = {0};
	struct unit_entry e;
	int r;

	r = unit_index_find(&f->index, name, &e);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	s.name = strdup(name);
	if (!s.name)
		return -ENOMEM;
	s.fingerprint = fingerprint_of(&e);
	s.is_masked = e.file.is_masked;
	s.is_systemd = f->dir[e.file.dir].is_systemd;
	s.is_runtime = f->dir[e.file.dir].is_runtime;
	s.is_wanted = e.is_wanted;
	s.is_made = e.is_made;
	s.is_outside = e.is_outside;
	s.is_linked = e.is_linked;
	s.is_linked_for_good = e.is_linked_for_good;
	r = s.is_masked ? 0 : read_all(f, &s, &e);
	if (r >= 0 && !s.is_masked)
		r = read_links(f, &s);
	if (r < 0) {
		unit_source_done(&s);
		return r;
	}
	*ret = s;
	return 0;
}

int unit_files_read_path(const char *path, struct unit_source *ret)
{
	const char *slash = strrchr(path, '/');
	struct unit_file_facts facts = {0};
	struct unit_source s = {0};
	struct stat st;
	int r = 0;

	facts.is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	if (stat(path, &st) < 0)
		facts.error = (uint16_t) errno;
	else
		facts.type = st.st_mode & S_IFMT;
	if (facts.error == ENOENT && !facts.is_link)
		return -ENOENT;
	s.name = strdup(slash ? slash + 1 : path);
	s.is_masked = !facts.error && unit_is_null(&st);
	if (!s.name)
		r = -ENOMEM;
	else if (!s.is_masked)
		r = read_path(&s, path, &facts, false);
	if (r < 0) {
		unit_source_done(&s);
		return r;
	}
	*ret = s;
	return 0;
}
