/* SPDX-License-Identifier: MIT */
/* The pass over the directories: what is in each of them, and what stat() says of it. */
#include "store/unit_index_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/merge.h"
#include "store/parallel.h"

const char *unit_distrust(uid_t uid, mode_t mode, char *buf, size_t size)
{
	if (uid != 0)
		(void) snprintf(buf, size, "belongs to uid %lu, not to root; chown it",
				(unsigned long) uid);
	else if (mode & (S_IWGRP | S_IWOTH))
		(void) snprintf(buf, size, "is writable by others (mode %04o); chmod go-w it",
				(unsigned) mode & 07777);
	else
		return NULL;
	return buf;
}

bool scan_is_wanted_kind(const struct scan *s, const char *name)
{
	return s->kinds & 1u << unit_name_kind(name);
}

bool unit_is_null(const struct stat *st)
{
	if (S_ISCHR(st->st_mode))
		return st->st_rdev == makedev(1, 3);
	return S_ISREG(st->st_mode) && st->st_size == 0;
}

void place_read_link(const struct place *p, const struct dirent *e, char *link)
{
	ssize_t n = -1;

	if (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN)
		n = readlinkat(p->fd, e->d_name, link, PATH_MAX - 1);
	link[n > 0 ? n : 0] = '\0';
}

bool place_find_facts(const struct place *p, const char *name, const char *link,
		      struct unit_file_facts *ret)
{
	struct stat st;

	*ret = (struct unit_file_facts) {.dir = p->dir, .is_link = *link};
	ret->hash = hash_text(hash_text(p->hash, name), link);
	if (fstatat(p->fd, name, &st, 0) < 0) {
		if (errno == ENOENT && !ret->is_link)
			return false;
		ret->error = (uint16_t) errno;
		ret->hash = hash_numbers(ret->hash, (uint64_t[]) {ret->error}, 1);
		return true;
	}
	ret->type = st.st_mode & S_IFMT;
	ret->is_masked = unit_is_null(&st);
	ret->hash = hash_numbers(
		ret->hash,
		(uint64_t[]){ st.st_dev, st.st_ino, st.st_mode, (uint64_t) st.st_size,
			      (uint64_t) st.st_mtim.tv_sec, (uint64_t) st.st_mtim.tv_nsec,
			      (uint64_t) st.st_ctim.tv_sec, (uint64_t) st.st_ctim.tv_nsec },
		8);
	return true;
}

static int look_at_link(struct scan *s, const struct place *p, const struct dirent *d,
			struct unit_entry *e)
{
	char link[PATH_MAX];

	place_read_link(p, d, link);
	if (!place_find_facts(p, d->d_name, link, &e->file)) {
		e->file.is_unread = true;
		return 0;
	}
	/* The file of an alias may be missing where that of the unit it stands for is not: what
	 * counts is its name. */
	if (e->file.is_masked || (e->file.error && e->file.error != ENOENT))
		return 0;
	return scan_set_alias(s, p, e, link);
}

static int add_unit(struct scan *s, const struct place *p, const struct dirent *d)
{
	struct unit_index *x = s->index;
	struct unit_entry *e;

	e = unit_index_grow(x->entry, x->n_entries, &s->entries_size, sizeof(*e));
	if (!e)
		return -ENOMEM;
	x->entry = e;
	e += x->n_entries;
	*e = (struct unit_entry){ .name = arena_strdup(&x->arena, d->d_name),
				  .file.is_unread = true };
	if (!e->name)
		return -ENOMEM;
	x->n_entries++;
	return d->d_type == DT_REG ? 0 : look_at_link(s, p, d, e);
}

static int compare_entries(const void *one, const void *other)
{
	const struct unit_entry *a = one, *b = other;
	int c = strcmp(a->name, b->name);

	return c ? c : (int) a->file.dir - (int) b->file.dir;
}

void unit_index_sort_entries(struct unit_index *x)
{
	size_t n = 0;

	merge_sort(x->entry, x->n_entries, sizeof(*x->entry), compare_entries);
	for (size_t i = 0; i < x->n_entries; i++)
		if (n == 0 || !str_equal(x->entry[n - 1].name, x->entry[i].name))
			x->entry[n++] = x->entry[i];
	x->n_entries = n;
}

/* Files of one directory of which stat() has yet to be asked, among others. */
struct unread {
	const struct place *place;
	struct unit_entry *entry;
};

static void read_some(void *userdata, size_t first, size_t end)
{
	const struct unread *u = userdata;

	for (size_t i = first; i < end; i++)
		if (u->entry[i].file.is_unread &&
		    !place_find_facts(u->place, u->entry[i].name, "", &u->entry[i].file))
			u->entry[i].file.is_unread = true;
	/* All are sorted at the end, which then is but to merge. */
	if (first < end)
		qsort(u->entry + first, end - first, sizeof(*u->entry), compare_entries);
}

/* For fewer a thread is not worth its beginning. */
#define FILES_PER_THREAD 1000

/* Entries from @first on are of this place. */
static void read_units(struct scan *s, const struct place *p, size_t first)
{
	struct unit_index *x = s->index;
	struct unread u = { .place = p };
	size_t n = first;

	if (n == x->n_entries)
		return; /* of none there may be no array, either */
	u.entry = x->entry + first;
	parallel_for(x->n_entries - first, FILES_PER_THREAD, read_some, &u);
	for (size_t i = first; i < x->n_entries; i++) {
		if (x->entry[i].file.is_unread)
			continue;
		x->entry[n] = x->entry[i];
		x->entry[n].fingerprint = x->entry[n].file.hash;
		n++;
	}
	x->n_entries = n;
}

/* A failure of the system ends the pass; what is wrong with one directory is told and passed
 * over. */
static int open_failed(struct scan *s, const char *path, int error)
{
	if (error == ENOENT)
		return 0;
	if (error == ENOMEM || error == EMFILE || error == ENFILE || error == EIO)
		return -error;
	diag_add(s->diag, DIAG_ERROR, path, 0, NULL, "cannot be read: %s", strerror(error));
	return 0;
}

int scan_judge(struct scan *s, struct place *p)
{
	char sentence[128];
	struct stat st;

	if (fstat(p->fd, &st) < 0)
		return -errno;
	if (!s->trusted_only || !unit_distrust(st.st_uid, st.st_mode, sentence, sizeof(sentence)))
		return 0;
	p->distrust = arena_strdup(&s->index->arena, sentence);
	p->hash = hash_text(p->hash, sentence);
	return p->distrust ? 0 : -ENOMEM;
}

static int each_entry(struct scan *s, const struct place *p, DIR *handle, entry_fn *fn)
{
	struct dirent *e;
	int r;

	for (;;) {
		errno = 0;
		e = readdir(handle);
		if (!e)
			return errno ? -errno : 0;
		/* What editors leave behind begins with a dot, too. */
		if (e->d_name[0] == '.')
			continue;
		r = fn(s, p, e);
		if (r < 0)
			return r;
	}
}

/* Calls @fn for the entries of @p->path; @at, @name: how to open it. */
static int scan_place(struct scan *s, int at, const char *name, struct place *p, entry_fn *fn)
{
	size_t first = s->index->n_entries;
	DIR *handle;
	int r;

	p->hash = hash_text(TEXT_HASH_INIT, p->path);
	p->fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (p->fd < 0)
		return open_failed(s, p->path, errno);
	handle = fdopendir(p->fd);
	if (!handle) {
		r = -errno;
		(void) close(p->fd);
		return r;
	}
	r = scan_judge(s, p);
	if (r == 0)
		r = each_entry(s, p, handle, fn);
	if (r == 0)
		read_units(s, p, first);
	(void) closedir(handle);
	return r;
}

static int scan_subdir(struct scan *s, const struct place *above, const char *name, entry_fn *fn)
{
	_cleanup_free_ char *path = NULL;
	struct place p = {.in = name, .dir = above->dir};

	if (asprintf(&path, "%s/%s", above->path, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	p.path = path;
	return scan_place(s, above->fd, name, &p, fn);
}

static int add_any(struct scan *s, const struct place *p, const struct dirent *e)
{
	if (unit_name_is_valid(e->d_name))
		return scan_is_wanted_kind(s, e->d_name) ? add_unit(s, p, e) : 0;
	if (unit_name_suffix(e->d_name) && scan_is_wanted_kind(s, e->d_name))
		diag_add(s->diag, DIAG_WARNING, p->path, 0, NULL,
			 "'%s' cannot be the name of a unit, ignored", e->d_name);
	if (e->d_type != DT_DIR && e->d_type != DT_LNK && e->d_type != DT_UNKNOWN)
		return 0;
	if (scan_is_dropin_dir(s, e->d_name))
		return scan_subdir(s, p, e->d_name, scan_add_dropin);
	if (scan_is_link_dir(s, e->d_name))
		return scan_subdir(s, p, e->d_name, scan_add_want);
	return 0;
}

static void identify(struct scan *s)
{
	struct stat st;

	for (size_t i = 0; i < s->n_dirs; i++)
		if (stat(s->dirs[i].path, &st) == 0)
			s->identity[i] = (struct identity) { st.st_dev, st.st_ino, true };
}

int scan_directories(struct scan *s)
{
	identify(s);
	for (size_t i = 0; i < s->n_dirs; i++) {
		struct place p = {.path = s->dirs[i].path, .dir = (uint16_t) i};
		int r = scan_place(s, AT_FDCWD, p.path, &p, add_any);

		if (r < 0)
			return r;
		s->index->distrust[i] = p.distrust;
	}
	unit_index_sort_entries(s->index);
	unit_index_sort_dropins(s->index);
	return 0;
}
