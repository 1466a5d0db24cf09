/* SPDX-License-Identifier: MIT */
#include "store/unit_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/merge.h"
#include "base/text.h"
#include "store/file.h"
#include "store/parallel.h"
#include "unit/name.h"

/* A link in a .wants, .requires or .upholds directory. */
struct want {
	const char *unit, *in; /* "a.timer", "timers.target.wants" */
	uint16_t dir;
	bool is_masked; /* a link to /dev/null: as if those in directories below were not there */
	bool counts;    /* starts the unit with supd, or activates the timer */
};

/* Which directory a path leads to, whatever its name. */
struct identity {
	dev_t dev;
	ino_t ino;
	bool is_known;
};

/* One pass over the directories. */
struct scan {
	const struct unit_dir *dirs;
	size_t n_dirs;
	struct identity *identity; /* of each of dirs */
	struct unit_index *index;
	size_t entries_size, dropins_size;
	struct want *want;
	size_t n_wants, wants_size;
	unsigned kinds;
	bool trusted_only;
	struct diag *diag;
};

/* An open directory in that pass. */
struct place {
	DIR *handle;
	const char *path;
	uint64_t hash;        /* of the path, of trust */
	const char *distrust; /* in the index's arena, or NULL */
	uint16_t dir;
};

typedef int entry_fn(struct scan *s, const struct place *p, const struct dirent *e);

/* Room for one more; NULL when memory ran out. */
static void *grow(void *array, size_t n, size_t *size, size_t element)
{
	size_t bigger_size = *size ? 2 * *size : 64;
	void *bigger;

	if (n < *size)
		return array;
	bigger = reallocarray(array, bigger_size, element);
	if (bigger)
		*size = bigger_size;
	return bigger;
}

static void read_units(struct scan *s, const struct place *p, size_t first);

static uint64_t hash_text(uint64_t h, const char *s)
{
	return text_hash(h, s, strlen(s) + 1);
}

/* A word at a time: what stat() says of each file passes here at each reload. The factor and the
 * shift are MurmurHash's. */
static uint64_t hash_numbers(uint64_t h, const uint64_t *number, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		h = (h ^ number[i]) * UINT64_C(0xc6a4a7935bd1e995);
		h ^= h >> 47;
	}
	return h;
}

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

/* ---- directories ---- */

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

static int judge_place(struct scan *s, int fd, struct place *p)
{
	char sentence[128];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!s->trusted_only || !unit_distrust(st.st_uid, st.st_mode, sentence, sizeof(sentence)))
		return 0;
	p->distrust = arena_strdup(&s->index->arena, sentence);
	p->hash = hash_text(p->hash, sentence);
	return p->distrust ? 0 : -ENOMEM;
}

static int each_entry(struct scan *s, struct place *p, entry_fn *fn)
{
	struct dirent *e;
	int r;

	for (;;) {
		errno = 0;
		e = readdir(p->handle);
		if (!e)
			return errno ? -errno : 0;
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
	int fd, r;

	p->hash = hash_text(TEXT_HASH_INIT, p->path);
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return open_failed(s, p->path, errno);
	p->handle = fdopendir(fd);
	if (!p->handle) {
		r = -errno;
		(void) close(fd);
		return r;
	}
	r = judge_place(s, fd, p);
	if (r == 0)
		r = each_entry(s, p, fn);
	if (r == 0)
		read_units(s, p, first);
	(void) closedir(p->handle);
	return r;
}

static int scan_subdir(struct scan *s, const struct place *above, const char *name, entry_fn *fn)
{
	_cleanup_free_ char *path = NULL;
	struct place p = {.dir = above->dir};

	if (asprintf(&path, "%s/%s", above->path, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	p.path = path;
	return scan_place(s, dirfd(above->handle), name, &p, fn);
}

/* ---- files ---- */

static bool is_wanted_kind(const struct scan *s, const char *name)
{
	return s->kinds & 1u << unit_name_kind(name);
}

bool unit_is_null(const struct stat *st)
{
	if (S_ISCHR(st->st_mode))
		return st->st_rdev == makedev(1, 3);
	return S_ISREG(st->st_mode) && st->st_size == 0;
}

/* @link: PATH_MAX bytes; "" if the entry is no link. */
static void read_link(const struct place *p, const struct dirent *e, char *link)
{
	ssize_t n = -1;

	if (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN)
		n = readlinkat(dirfd(p->handle), e->d_name, link, PATH_MAX - 1);
	link[n > 0 ? n : 0] = '\0';
}

/* False: it has vanished since its name was read. */
static bool find_facts_at(int fd, const struct place *p, const char *name, const char *link,
			  struct unit_file_facts *ret)
{
	struct stat st;

	*ret = (struct unit_file_facts) {.dir = p->dir, .is_link = *link};
	ret->hash = hash_text(hash_text(p->hash, name), link);
	if (fstatat(fd, name, &st, 0) < 0) {
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

static bool find_facts(const struct place *p, const char *name, const char *link,
		       struct unit_file_facts *ret)
{
	return find_facts_at(dirfd(p->handle), p, name, link, ret);
}

/* ---- drop-ins ---- */

/* "a.service" of "a.service.d", "service" of "service.d"; false if @name is no directory of
 * drop-ins for a kind that is asked for. */
static bool parse_dropin_dir(const struct scan *s, const char *name,
			     char ret_stem[UNIT_NAME_MAX + 1])
{
	char as_unit[NAME_MAX + 8];
	size_t n = strlen(name);

	if (n > UNIT_NAME_MAX + 2 || !str_ends(name, ".d"))
		return false;
	memcpy(ret_stem, name, n - 2);
	ret_stem[n - 2] = '\0';
	(void) snprintf(as_unit, sizeof(as_unit), "%s%s", strchr(ret_stem, '.') ? "" : "a.",
			ret_stem);
	return unit_name_is_valid(as_unit) && is_wanted_kind(s, as_unit);
}

static int add_dropin(struct scan *s, const struct place *p, const struct dirent *e)
{
	struct unit_index *x = s->index;
	char link[PATH_MAX], stem[UNIT_NAME_MAX + 1];
	struct unit_dropin *dropin;

	if (!str_ends(e->d_name, ".conf") || !parse_dropin_dir(s, strrchr(p->path, '/') + 1, stem))
		return 0;
	dropin = grow(x->dropin, x->n_dropins, &s->dropins_size, sizeof(*dropin));
	if (!dropin)
		return -ENOMEM;
	x->dropin = dropin;
	dropin += x->n_dropins;
	*dropin = (struct unit_dropin) {
		.stem = arena_strdup(&x->arena, stem),
		.file = arena_strdup(&x->arena, e->d_name),
		.distrust = p->distrust,
	};
	if (!dropin->stem || !dropin->file)
		return -ENOMEM;
	read_link(p, e, link);
	if (find_facts(p, e->d_name, link, &dropin->facts))
		x->n_dropins++;
	return 0;
}

static int compare_dropins(const void *one, const void *other)
{
	const struct unit_dropin *a = one, *b = other;
	int c = strcmp(a->stem, b->stem);

	if (c == 0)
		c = strcmp(a->file, b->file);
	return c ? c : (int) a->facts.dir - (int) b->facts.dir;
}

/* ---- what is wanted ---- */

static bool is_link_dir(const struct scan *s, const char *name)
{
	static const char *const suffix[] = { ".wants", ".requires", ".upholds" };

	/* Nothing of a kind that is not asked for is looked at. */
	if (str_equal(name, "timers.target.wants"))
		return s->kinds & 1u << UNIT_TIMER;
	for (size_t i = 0; i < ELEMENTS(suffix); i++)
		if (str_ends(name, suffix[i]))
			return true;
	return false;
}

/* In a directory of supd's a service is started with the daemon if default.target wants it; where
 * systemd rules, also if its multi-user.target does. A timer is active if any unit wants it. */
static bool counts(const struct scan *s, const struct place *p, const char *in, const char *unit)
{
	if (unit_name_kind(unit) == UNIT_TIMER || str_equal(in, "default.target.wants"))
		return true;
	return s->dirs[p->dir].is_systemd && (str_equal(in, "multi-user.target.wants") ||
					      str_equal(in, "graphical.target.wants"));
}

static int add_want(struct scan *s, const struct place *p, const struct dirent *e)
{
	const char *in = strrchr(p->path, '/') + 1;
	char link[PATH_MAX];
	struct want *want;

	if (!unit_name_is_valid(e->d_name) || !is_wanted_kind(s, e->d_name))
		return 0;
	if (p->distrust) {
		diag_add(s->diag, DIAG_WARNING, p->path, 0, NULL, "%s; '%s' in it is ignored",
			 p->distrust, e->d_name);
		return 0;
	}
	want = grow(s->want, s->n_wants, &s->wants_size, sizeof(*want));
	if (!want)
		return -ENOMEM;
	s->want = want;
	want += s->n_wants++;
	read_link(p, e, link);
	*want = (struct want) {
		.unit = arena_strdup(&s->index->arena, e->d_name),
		.in = arena_strdup(&s->index->arena, in),
		.dir = p->dir,
		.is_masked = str_equal(link, "/dev/null"),
		.counts = counts(s, p, in, e->d_name),
	};
	return want->unit && want->in ? 0 : -ENOMEM;
}

static int compare_wants(const void *one, const void *other)
{
	const struct want *a = one, *b = other;
	int c = strcmp(a->unit, b->unit);

	if (c == 0)
		c = strcmp(a->in, b->in);
	return c ? c : (int) a->dir - (int) b->dir;
}

static struct unit_entry *find(struct unit_index *x, const char *name);

/* Of the wants of one unit from @first on: the first directory of supd's that says no in its
 * default.target.wants/. What directories below it want does not count. */
static size_t refusing_dir(const struct scan *s, const struct want *first)
{
	size_t dir = SIZE_MAX;

	for (const struct want *w = first;
	     w < s->want + s->n_wants && str_equal(w->unit, first->unit); w++)
		if (w->is_masked && w->counts && !s->dirs[w->dir].is_systemd && w->dir < dir)
			dir = w->dir;
	return dir;
}

static void mark_wanted(struct scan *s)
{
	const struct want *before = NULL;
	size_t refusing = SIZE_MAX;

	if (s->n_wants)
		qsort(s->want, s->n_wants, sizeof(*s->want), compare_wants);
	for (size_t i = 0; i < s->n_wants; before = &s->want[i++]) {
		const struct want *w = &s->want[i];
		struct unit_entry *e;

		if (!before || !str_equal(before->unit, w->unit))
			refusing = refusing_dir(s, w);
		/* Of the same link in several directories the first one decides. */
		if (before && str_equal(before->unit, w->unit) && str_equal(before->in, w->in))
			continue;
		e = find(s->index, w->unit);
		if (!e)
			continue;
		e->fingerprint = hash_text(e->fingerprint, w->in);
		e->fingerprint =
			hash_numbers(e->fingerprint, (uint64_t[]){ w->dir, w->is_masked }, 2);
		if (w->is_masked)
			continue;
		if (w->counts && w->dir < refusing)
			e->is_wanted = true;
		if (!w->counts || w->dir < refusing) {
			e->is_linked = true;
			e->is_linked_for_good |= !s->dirs[w->dir].is_runtime;
		}
	}
}

/* ---- units ---- */

/* systemd's own directories: a copy of its units, in a tree that is looked at from outside, has
 * links that name them. */
static bool is_of_systemd(const char *dir)
{
	static const char *const known[] = { "/etc/systemd/system",     "/run/systemd/system",
					     "/usr/lib/systemd/system", "/usr/local/lib/systemd/system",
					     "/lib/systemd/system" };

	for (size_t i = 0; i < ELEMENTS(known); i++)
		if (str_equal(dir, known[i]))
			return true;
	return false;
}

/* Is where a link leads a place in the unit path? */
static bool leads_into_path(const struct scan *s, const struct place *p, const char *link)
{
	const char *slash = strrchr(link, '/');
	char dir[PATH_MAX];
	struct stat st;

	if (!slash)
		return true;
	(void) snprintf(dir, sizeof(dir), "%.*s", (int) (slash == link ? 1 : slash - link), link);
	if (s->dirs[p->dir].is_systemd && is_of_systemd(dir))
		return true;
	if (fstatat(dirfd(p->handle), dir, &st, 0) < 0)
		return false;
	for (size_t i = 0; i < s->n_dirs; i++)
		if (s->identity[i].is_known && s->identity[i].dev == st.st_dev &&
		    s->identity[i].ino == st.st_ino)
			return true;
	return false;
}

/* The name of the instance that a link of an instance's name to a template stands for: a@b.service
 * → c@.service is c@b.service. */
static int alias_of_instance(struct scan *s, struct unit_entry *e, const char *target)
{
	char name[UNIT_NAME_MAX + 1];

	if (unit_name_instance_of(target, e->name, name) < 0 || str_equal(name, e->name))
		return 0;
	e->alias_of = arena_strdup(&s->index->arena, name);
	return e->alias_of ? 0 : -ENOMEM;
}

/* What a link may stand for: the last part of where it leads, if that is a unit's name and not its
 * own, and lies in the unit path. What is not there at all is known by its name alone. */
static int set_alias(struct scan *s, const struct place *p, struct unit_entry *e, const char *link)
{
	const char *slash = strrchr(link, '/'), *target = slash ? slash + 1 : link;

	if (!*link)
		return 0;
	e->is_outside = !e->file.error && !leads_into_path(s, p, link);
	if (!unit_name_is_valid(target) || str_equal(target, e->name))
		return 0;
	e->file.is_crossed = !str_equal(unit_name_suffix(target), unit_name_suffix(e->name));
	if (e->file.is_crossed || e->is_outside)
		return 0;
	if (unit_name_is_instance(e->name) && unit_name_is_template(target))
		return alias_of_instance(s, e, target);
	e->alias_of = arena_strdup(&s->index->arena, target);
	return e->alias_of ? 0 : -ENOMEM;
}

/* What is a link, or may be one, is looked at in whole; of all others stat() is asked later, of
 * many at once. */
static int look_at_link(struct scan *s, const struct place *p, const struct dirent *d,
			struct unit_entry *e)
{
	char link[PATH_MAX];

	read_link(p, d, link);
	if (!find_facts(p, d->d_name, link, &e->file)) {
		e->file.is_unread = true;
		return 0;
	}
	/* The file of an alias may be missing where that of the unit it stands for is not: what
	 * counts is its name. */
	if (e->file.is_masked || (e->file.error && e->file.error != ENOENT))
		return 0;
	return set_alias(s, p, e, link);
}

static int add_unit(struct scan *s, const struct place *p, const struct dirent *d)
{
	struct unit_index *x = s->index;
	struct unit_entry *e;

	e = grow(x->entry, x->n_entries, &s->entries_size, sizeof(*e));
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
		    !find_facts(u->place, u->entry[i].name, "", &u->entry[i].file))
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
	struct unread u = { p, x->entry + first };
	size_t n = first;

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

static int add_any(struct scan *s, const struct place *p, const struct dirent *e)
{
	char stem[UNIT_NAME_MAX + 1];

	if (unit_name_is_valid(e->d_name))
		return is_wanted_kind(s, e->d_name) ? add_unit(s, p, e) : 0;
	/* What editors leave behind begins with a dot. */
	if (unit_name_suffix(e->d_name) && e->d_name[0] != '.' && is_wanted_kind(s, e->d_name))
		diag_add(s->diag, DIAG_WARNING, p->path, 0, NULL,
			 "'%s' cannot be the name of a unit, ignored", e->d_name);
	if (e->d_type != DT_DIR && e->d_type != DT_LNK && e->d_type != DT_UNKNOWN)
		return 0;
	if (parse_dropin_dir(s, e->d_name, stem))
		return scan_subdir(s, p, e->d_name, add_dropin);
	if (is_link_dir(s, e->d_name))
		return scan_subdir(s, p, e->d_name, add_want);
	return 0;
}

/* Of one name in several directories the first one's stays. */
static void sort_entries(struct unit_index *x)
{
	size_t n = 0;

	merge_sort(x->entry, x->n_entries, sizeof(*x->entry), compare_entries);
	for (size_t i = 0; i < x->n_entries; i++)
		if (n == 0 || !str_equal(x->entry[n - 1].name, x->entry[i].name))
			x->entry[n++] = x->entry[i];
	x->n_entries = n;
}

/* Who asks for one after the other, in their order, finds the next near the last: steps that
 * double, then halves. */
static struct unit_entry *find(struct unit_index *x, const char *name)
{
	size_t low = x->last < x->n_entries && strcmp(name, x->entry[x->last].name) >= 0 ? x->last
											 : 0;
	size_t high = low, step = 1;

	while (high < x->n_entries && strcmp(name, x->entry[high].name) > 0) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	high = high < x->n_entries ? high + 1 : x->n_entries;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(name, x->entry[middle].name);

		if (c == 0) {
			x->last = middle;
			return &x->entry[middle];
		}
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

#define ALIAS_CHAIN_MAX 40

/* ---- instances without a file ---- */

static struct unit_entry *template_of(struct unit_index *x, const char *name)
{
	char template[UNIT_NAME_MAX + 1];

	return unit_name_template(name, template) == 0 ? find(x, template) : NULL;
}

/* Not yet with its drop-ins and links. */
static struct unit_entry make_instance(const struct unit_entry *template, const char *name)
{
	return (struct unit_entry) {
		.name = name,
		.fingerprint = hash_text(template->file.hash, name),
		.file = template->file,
		.is_outside = template->is_outside,
		.is_made = true,
	};
}

/* Instances that are to be, behind the sorted ones. */
struct instances {
	struct scan *s;
	size_t n; /* all entries */
};

static int append_instance(struct instances *i, const struct unit_entry *template, const char *name)
{
	struct unit_index *x = i->s->index;
	struct unit_entry e = make_instance(template, arena_strdup(&x->arena, name)), *all;

	if (!e.name)
		return -ENOMEM;
	if (template->alias_of) {
		char target[UNIT_NAME_MAX + 1];

		if (unit_name_instance_of(template->alias_of, name, target) == 0) {
			e.alias_of = arena_strdup(&x->arena, target);
			if (!e.alias_of)
				return -ENOMEM;
		}
	}
	all = grow(x->entry, i->n, &i->s->entries_size, sizeof(*all));
	if (!all)
		return -ENOMEM;
	x->entry = all;
	all[i->n++] = e;
	return 0;
}

/* A name that something names: if it is an instance without a file, its template makes it; and what
 * that one is an alias of, likewise. */
static int need_instance(struct instances *i, const char *name)
{
	struct unit_index *x = i->s->index;
	int r = 0;

	for (int depth = 0; depth < ALIAS_CHAIN_MAX && name && !find(x, name); depth++) {
		const struct unit_entry *template = template_of(x, name);

		if (!template || template->file.is_crossed)
			return 0;
		r = append_instance(i, template, name);
		if (r < 0)
			return r;
		name = x->entry[i->n - 1].alias_of;
	}
	return r;
}

static void sort_entries(struct unit_index *x);

/* What links name, in .wants/ and the like or as aliases, is there although it has no file. */
static int add_instances(struct scan *s)
{
	struct unit_index *x = s->index;
	struct instances i = { s, x->n_entries };
	size_t n = x->n_entries;
	int r = 0;

	for (size_t k = 0; r == 0 && k < s->n_wants; k++)
		if (!s->want[k].is_masked)
			r = need_instance(&i, s->want[k].unit);
	for (size_t k = 0; r == 0 && k < n; k++)
		r = need_instance(&i, x->entry[k].alias_of);
	if (r < 0 || i.n == n)
		return r;
	x->n_entries = i.n;
	sort_entries(x);
	return 0;
}

/* ---- aliases ---- */

/* What an alias stands for in the end; NULL if that is in none of the directories. A chain within
 * one directory has an end, else stat() had failed; but several directories can bend one into a
 * circle. */
static struct unit_entry *follow_alias(struct unit_index *x, const struct unit_entry *alias)
{
	struct unit_entry *e = NULL;

	for (int i = 0; i < ALIAS_CHAIN_MAX && alias->alias_of; i++) {
		e = find(x, alias->alias_of);
		if (!e)
			return NULL;
		alias = e;
	}
	return alias->alias_of ? NULL : e;
}

/* A link to what is in none of the directories is a unit itself. What an alias is wanted for, its
 * unit is. */
static void resolve_aliases(struct unit_index *x)
{
	for (size_t i = 0; i < x->n_entries; i++) {
		struct unit_entry *e = &x->entry[i], *target = follow_alias(x, e);

		e->alias_of = target ? target->name : NULL;
		if (target) {
			target->is_linked |= e->is_linked;
			target->is_linked_for_good |= e->is_linked_for_good;
		}
		if (target && e->is_wanted && !target->is_wanted) {
			target->is_wanted = true;
			target->fingerprint = hash_text(target->fingerprint, e->name);
		}
	}
}

const char *unit_index_resolve(struct unit_index *x, const char *name, char buf[UNIT_NAME_MAX + 1])
{
	const struct unit_entry *e = find(x, name);

	if (!e) {
		e = template_of(x, name);
		if (!e || e->file.is_crossed)
			return NULL;
		if (!e->alias_of || unit_name_instance_of(e->alias_of, name, buf) < 0)
			(void) snprintf(buf, UNIT_NAME_MAX + 1, "%s", name);
		e = find(x, buf);
		if (!e)
			return buf;
	}
	(void) snprintf(buf, UNIT_NAME_MAX + 1, "%s", e->alias_of ? e->alias_of : e->name);
	return buf;
}

/* ---- what units want by links ---- */

/* "a.target" of "a.target.wants": a service or target that has a file. */
static struct unit_entry *owner_of(struct unit_index *x, const char *in)
{
	char name[NAME_MAX + 1];
	struct unit_entry *e;

	(void) snprintf(name, sizeof(name), "%.*s", (int) (strrchr(in, '.') - in), in);
	e = unit_name_is_valid(name) ? find(x, name) : NULL;
	if (e && e->alias_of)
		e = find(x, e->alias_of);
	if (!e ||
	    (unit_name_kind(e->name) != UNIT_SERVICE && unit_name_kind(e->name) != UNIT_TARGET))
		return NULL;
	return e;
}

static int compare_links(const void *one, const void *other)
{
	const struct unit_index_link *a = one, *b = other;
	int c = strcmp(a->owner, b->owner);

	return c ? c : strcmp(a->unit, b->unit);
}

/* The wants stand in the order of mark_wanted(): of the same link in several directories the first
 * one decides. */
static int keep_links(struct scan *s)
{
	struct unit_index *x = s->index;
	const struct want *before = NULL;
	size_t allocated = 0;

	for (size_t i = 0; i < s->n_wants; before = &s->want[i++]) {
		const struct want *w = &s->want[i];
		struct unit_index_link *grown;
		struct unit_entry *owner;

		if (before && str_equal(before->unit, w->unit) && str_equal(before->in, w->in))
			continue;
		owner = w->is_masked ? NULL : owner_of(x, w->in);
		if (!owner)
			continue;
		grown = grow(x->link, x->n_links, &allocated, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		x->link = grown;
		x->link[x->n_links++] = (struct unit_index_link) {
			.owner = owner->name, .unit = w->unit, .in = w->in, .dir = w->dir,
			.is_required = str_ends(w->in, ".requires"),
		};
		owner->fingerprint = hash_text(hash_text(owner->fingerprint, w->in), w->unit);
	}
	if (x->n_links > 0)
		qsort(x->link, x->n_links, sizeof(*x->link), compare_links);
	return 0;
}

const struct unit_index_link *unit_index_links(const struct unit_index *x, const char *owner,
					       size_t *ret_n)
{
	size_t low = 0, high = x->n_links, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(x->link[middle].owner, owner) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < x->n_links && str_equal(x->link[end].owner, owner); end++)
		;
	*ret_n = end - low;
	return x->link + low;
}

/* ---- the drop-ins of a unit ---- */

struct chosen {
	const struct unit_dropin *dropin;
	unsigned rank; /* smaller wins */
};

struct choice {
	struct chosen *item;
	size_t n, size;
};

#define RANK_OF_TYPE UINT_MAX
#define STEMS_MAX 1024u /* no name has more dashes, twice, as there is a template, too */

static int choose_stem(const struct unit_index *x, const char *stem, unsigned specificity,
		       struct choice *c)
{
	size_t low = 0, high = x->n_dropins;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(x->dropin[middle].stem, stem) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < x->n_dropins && str_equal(x->dropin[low].stem, stem); low++) {
		const struct unit_dropin *dropin = &x->dropin[low];
		struct chosen *item = grow(c->item, c->n, &c->size, sizeof(*item));

		if (!item)
			return -ENOMEM;
		c->item = item;
		c->item[c->n++] = (struct chosen){
			.dropin = dropin,
			.rank = specificity == RANK_OF_TYPE
					? RANK_OF_TYPE - UINT16_MAX + dropin->facts.dir
					: dropin->facts.dir * STEMS_MAX + specificity,
		};
	}
	return 0;
}

/* a-b-c.service.d, a-b-.service.d, a-.service.d. */
static int choose_prefixes(const struct unit_index *x, const char *name, unsigned *specificity,
			   struct choice *c)
{
	const char *at = strchr(name, '@'), *rest = at ? at : unit_name_suffix(name);
	char stem[UNIT_NAME_MAX + 1];
	int r = choose_stem(x, name, (*specificity)++, c);

	/* Each dash but one at the very end, from the last to the first. */
	for (size_t n = (size_t) (rest - name) - 1; r == 0 && n > 0; n--)
		if (name[n - 1] == '-') {
			(void) snprintf(stem, sizeof(stem), "%.*s%s", (int) n, name, rest);
			r = choose_stem(x, stem, (*specificity)++, c);
		}
	return r;
}

/* Those of the name itself, for an instance its template's, those of its kind. As in systemd, what
 * is the instance's alone outweighs, then what is the template's, then prefixes of the instance's
 * name. */
static int choose_all(const struct unit_index *x, const char *name, struct choice *c)
{
	char template[UNIT_NAME_MAX + 1];
	unsigned specificity = 0;
	int r = 0;

	if (unit_name_template(name, template) == 0) {
		r = choose_stem(x, name, specificity++, c);
		if (r == 0)
			r = choose_prefixes(x, template, &specificity, c);
	}
	if (r == 0)
		r = choose_prefixes(x, name, &specificity, c);
	return r < 0 ? r : choose_stem(x, unit_name_suffix(name) + 1, RANK_OF_TYPE, c);
}

static int compare_chosen(const void *one, const void *other)
{
	const struct chosen *a = one, *b = other;
	int c = strcmp(a->dropin->file, b->dropin->file);

	return c ? c : a->rank < b->rank ? -1 : a->rank > b->rank;
}

int unit_index_dropins(const struct unit_index *x, const char *name,
		       const struct unit_dropin ***ret, size_t *ret_n)
{
	const struct unit_dropin **applied;
	struct choice c = {0};
	size_t n = 0;
	int r = 0;

	*ret = NULL;
	*ret_n = 0;
	if (x->n_dropins == 0)
		return 0;
	r = choose_all(x, name, &c);
	applied = r == 0 && c.n ? calloc(c.n, sizeof(*applied)) : NULL;
	if (!applied) {
		free(c.item);
		return r < 0 ? r : c.n ? -ENOMEM : 0;
	}
	qsort(c.item, c.n, sizeof(*c.item), compare_chosen);
	for (size_t i = 0; i < c.n; i++) {
		const struct unit_dropin *dropin = c.item[i].dropin;

		if (i > 0 && str_equal(c.item[i - 1].dropin->file, dropin->file))
			continue;
		if (!dropin->facts.is_masked)
			applied[n++] = dropin;
	}
	free(c.item);
	*ret = applied;
	*ret_n = n;
	return 0;
}

/* Whatever drop-ins apply is part of what a unit is. */
static int mix_in(const struct unit_index *x, struct unit_entry *e)
{
	const struct unit_dropin **dropin;
	size_t n;
	int r = unit_index_dropins(x, e->name, &dropin, &n);

	if (r < 0)
		return r;
	for (size_t j = 0; j < n; j++)
		e->fingerprint = hash_numbers(e->fingerprint, &dropin[j]->facts.hash, 1);
	free(dropin);
	return 0;
}

static int mix_in_dropins(struct unit_index *x)
{
	int r = 0;

	for (size_t i = 0; r == 0 && x->n_dropins && i < x->n_entries; i++)
		r = mix_in(x, &x->entry[i]);
	return r;
}

int unit_index_find(struct unit_index *x, const char *name, struct unit_entry *ret)
{
	const struct unit_entry *e = find(x, name);
	char target[UNIT_NAME_MAX + 1];
	int r;

	if (e) {
		*ret = *e;
		return 1;
	}
	e = template_of(x, name);
	/* A link to another template has no files of its own: what it stands for has. */
	if (e && e->alias_of && unit_name_instance_of(e->alias_of, name, target) == 0)
		e = template_of(x, target);
	if (!e || e->file.is_crossed)
		return 0;
	*ret = make_instance(e, name);
	r = mix_in(x, ret);
	return r < 0 ? r : 1;
}

/* ---- what is spoken of and is not there ---- */

static int compare_names(const void *one, const void *other)
{
	const char *const *a = one, *const *b = other;

	return strcmp(*a, *b);
}

static int note_missing(struct unit_index *x, const char *name, size_t *allocated)
{
	const char **grown;

	if (!unit_name_is_valid(name) || find(x, name))
		return 0;
	grown = grow(x->missing, x->n_missing, allocated, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	x->missing = grown;
	x->missing[x->n_missing++] = name;
	return 0;
}

/* Before resolve_aliases(), which forgets what leads nowhere. */
static int keep_missing(struct scan *s)
{
	struct unit_index *x = s->index;
	size_t allocated = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < x->n_entries; i++)
		r = x->entry[i].alias_of ? note_missing(x, x->entry[i].alias_of, &allocated) : 0;
	for (size_t i = 0; r == 0 && i < s->n_wants; i++) {
		const struct want *w = &s->want[i];
		const char *owner =
			arena_strndup(&x->arena, w->in, (size_t) (strrchr(w->in, '.') - w->in));

		r = owner ? note_missing(x, owner, &allocated) : -ENOMEM;
		if (r == 0)
			r = note_missing(x, w->unit, &allocated);
	}
	if (x->n_missing > 0)
		qsort(x->missing, x->n_missing, sizeof(*x->missing), compare_names);
	return r;
}

static bool is_missing(const struct unit_index *x, const char *name)
{
	return x->n_missing > 0 &&
	       bsearch(&name, x->missing, x->n_missing, sizeof(*x->missing), compare_names);
}

/* ---- a few names alone ---- */

/* Names of those that went stay in memory until the next build: not very many. */
#define REFRESHED_MAX 1000

/* A plain file, the first of its name: 1; none: 0. What is a link, or stands in a directory that is
 * at fault, is for unit_index_build(): -EAGAIN. */
static int find_file(struct scan *s, const char *name, struct unit_file_facts *ret)
{
	for (size_t i = 0; i < s->n_dirs; i++) {
		struct place p = {.path = s->dirs[i].path, .dir = (uint16_t) i};
		_cleanup_close_ int fd =
			open(p.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
		struct stat st;

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || s->index->distrust[i] || judge_place(s, fd, &p) < 0 || p.distrust)
			return -EAGAIN;
		if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == ENOENT)
				continue;
			return -EAGAIN;
		}
		if (S_ISLNK(st.st_mode))
			return -EAGAIN;
		p.hash = hash_text(TEXT_HASH_INIT, p.path);
		return find_facts_at(fd, &p, name, "", ret) ? 1 : -EAGAIN;
	}
	return 0;
}

static int insert(struct unit_index *x, const struct unit_entry *e)
{
	struct unit_entry *grown = reallocarray(x->entry, x->n_entries + 1, sizeof(*grown));
	size_t at = 0, high = x->n_entries;

	if (!grown)
		return -ENOMEM;
	x->entry = grown;
	while (at < high) {
		size_t middle = at + (high - at) / 2;

		if (strcmp(grown[middle].name, e->name) < 0)
			at = middle + 1;
		else
			high = middle;
	}
	memmove(grown + at + 1, grown + at, (x->n_entries - at) * sizeof(*grown));
	grown[at] = *e;
	x->n_entries++;
	return 1;
}

static int add_file(struct unit_index *x, const char *name, const struct unit_file_facts *facts)
{
	struct unit_entry e = { .name = arena_strdup(&x->arena, name),
				.file = *facts,
				.fingerprint = facts->hash };
	int r = e.name ? mix_in(x, &e) : -ENOMEM;

	return r < 0 ? r : insert(x, &e);
}

/* Does anything else speak of it? */
static bool is_tied(const struct unit_index *x, const struct unit_entry *e)
{
	size_t n;

	(void) unit_index_links(x, e->name, &n);
	if (n > 0 || e->is_linked || e->is_wanted || e->is_made || e->is_outside || e->alias_of)
		return true;
	for (size_t i = 0; i < x->n_entries; i++)
		if (x->entry[i].alias_of && str_equal(x->entry[i].alias_of, e->name))
			return true;
	return false;
}

static int take_out(struct unit_index *x, struct unit_entry *e)
{
	size_t at = (size_t) (e - x->entry);

	memmove(e, e + 1, (x->n_entries - at - 1) * sizeof(*e));
	x->n_entries--;
	x->last = 0;
	return 1;
}

static int refresh_one(struct scan *s, const char *name)
{
	struct unit_index *x = s->index;
	struct unit_entry *e = find(x, name);
	struct unit_file_facts facts;
	int r;

	if (strchr(name, '@') || is_missing(x, name) || (e && is_tied(x, e)))
		return -EAGAIN;
	r = find_file(s, name, &facts);
	if (r < 0 || (r == 0 && !e))
		return r;
	if (!e)
		return add_file(x, name, &facts);
	if (r == 0)
		return take_out(x, e);
	return e->file.hash == facts.hash ? 0 : -EAGAIN;
}

int unit_index_refresh(struct unit_index *x, const struct unit_dir *dirs, size_t n_dirs,
		       bool trusted_only, const char *const *names)
{
	struct diag ignored = {0};
	struct scan s = { .dirs = dirs,
			  .n_dirs = n_dirs,
			  .index = x,
			  .trusted_only = trusted_only,
			  .diag = &ignored };
	int r = 0, changed = 0;

	if (++x->n_refreshed > REFRESHED_MAX || !x->distrust)
		return -EAGAIN;
	for (; r >= 0 && *names; names++) {
		r = x->kinds & 1u << unit_name_kind(*names) ? refresh_one(&s, *names) : 0;
		changed |= r > 0;
	}
	diag_done(&ignored);
	return r < 0 ? r : changed;
}

/* ---- the whole ---- */

/* What was grown by doubling stays for long. */
static void shrink(struct unit_index *x)
{
	struct unit_entry *exact =
		x->n_entries ? reallocarray(x->entry, x->n_entries, sizeof(*exact)) : NULL;

	if (exact)
		x->entry = exact;
}

static void identify(struct scan *s)
{
	struct stat st;

	for (size_t i = 0; i < s->n_dirs; i++)
		if (stat(s->dirs[i].path, &st) == 0)
			s->identity[i] = (struct identity) { st.st_dev, st.st_ino, true };
}

static int scan_all(struct scan *s)
{
	int r;

	identify(s);
	for (size_t i = 0; i < s->n_dirs; i++) {
		struct place p = {.path = s->dirs[i].path, .dir = (uint16_t) i};

		r = scan_place(s, AT_FDCWD, p.path, &p, add_any);
		if (r < 0)
			return r;
		s->index->distrust[i] = p.distrust;
	}
	sort_entries(s->index);
	if (s->index->n_dropins)
		qsort(s->index->dropin, s->index->n_dropins, sizeof(*s->index->dropin),
		      compare_dropins);
	r = add_instances(s);
	if (r < 0)
		return r;
	r = keep_missing(s);
	if (r < 0)
		return r;
	mark_wanted(s);
	resolve_aliases(s->index);
	r = keep_links(s);
	return r < 0 ? r : mix_in_dropins(s->index);
}

int unit_index_build(const struct unit_dir *dirs, size_t n_dirs, bool trusted_only, unsigned kinds,
		     struct unit_index *ret, struct diag *d)
{
	struct unit_index x = {.kinds = kinds};
	struct scan s = {
		.dirs = dirs,
		.n_dirs = n_dirs,
		.index = &x,
		.kinds = kinds,
		.trusted_only = trusted_only,
		.diag = d,
	};
	int r;

	x.distrust = calloc(n_dirs + 1, sizeof(*x.distrust));
	s.identity = calloc(n_dirs + 1, sizeof(*s.identity));
	r = x.distrust && s.identity ? scan_all(&s) : -ENOMEM;
	free(s.want);
	free(s.identity);
	shrink(&x);
	if (r < 0)
		unit_index_done(&x);
	else
		*ret = x;
	return r;
}

/* What stat() said, and whether the directory can be trusted, is in the fingerprint. */
static bool is_same_entry(const struct unit_entry *a, const struct unit_entry *b)
{
	return a->fingerprint == b->fingerprint && str_equal(a->name, b->name) &&
	       !a->alias_of == !b->alias_of &&
	       (!a->alias_of || str_equal(a->alias_of, b->alias_of)) &&
	       a->file.hash == b->file.hash && a->is_wanted == b->is_wanted &&
	       a->is_made == b->is_made && a->is_outside == b->is_outside &&
	       a->is_linked == b->is_linked && a->is_linked_for_good == b->is_linked_for_good;
}

static bool is_same_dropin(const struct unit_dropin *a, const struct unit_dropin *b)
{
	return a->facts.hash == b->facts.hash && str_equal(a->stem, b->stem) &&
	       str_equal(a->file, b->file) && !a->distrust == !b->distrust;
}

static bool is_same_link(const struct unit_index_link *a, const struct unit_index_link *b)
{
	return str_equal(a->owner, b->owner) && str_equal(a->unit, b->unit) &&
	       str_equal(a->in, b->in) && a->dir == b->dir && a->is_required == b->is_required;
}

bool unit_index_is_same(const struct unit_index *a, const struct unit_index *b)
{
	bool is_same = a->n_entries == b->n_entries && a->n_dropins == b->n_dropins &&
		       a->n_links == b->n_links;

	for (size_t i = 0; is_same && i < a->n_entries; i++)
		is_same = is_same_entry(&a->entry[i], &b->entry[i]);
	for (size_t i = 0; is_same && i < a->n_dropins; i++)
		is_same = is_same_dropin(&a->dropin[i], &b->dropin[i]);
	for (size_t i = 0; is_same && i < a->n_links; i++)
		is_same = is_same_link(&a->link[i], &b->link[i]);
	return is_same;
}

void unit_index_done(struct unit_index *x)
{
	free(x->entry);
	free(x->dropin);
	free(x->link);
	free(x->distrust);
	free(x->missing);
	arena_done(&x->arena);
	*x = (struct unit_index) {0};
}
