/* SPDX-License-Identifier: MIT */
/* A few names alone are looked for again, and put into the index where nothing else depends on
 * them. */
#include "store/unit_index_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/file.h"

static int compare_names(const void *one, const void *other)
{
	const char *const *a = one, *const *b = other;

	return strcmp(*a, *b);
}

static int note_missing(struct unit_index *x, const char *name, size_t *allocated)
{
	const char **grown;

	if (!unit_name_is_valid(name) || unit_index_entry(x, name))
		return 0;
	grown = unit_index_grow(x->missing, x->n_missing, allocated, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	x->missing = grown;
	x->missing[x->n_missing++] = name;
	return 0;
}

int scan_keep_missing(struct scan *s)
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

/* Names of those that went stay in memory until the next build: not very many. */
#define REFRESHED_MAX 1000

/* A plain file, the first of its name: 1; none: 0. What is a link, or stands in a directory that is
 * at fault, is for unit_index_build(): -EAGAIN. */
static int find_file(struct scan *s, const char *name, struct unit_file_facts *ret)
{
	for (size_t i = 0; i < s->n_dirs; i++) {
		_cleanup_close_ int fd =
			open(s->dirs[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
		struct place p = {.fd = fd, .path = s->dirs[i].path, .dir = (uint16_t) i};
		struct stat st;

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || s->index->distrust[i] || scan_judge(s, &p) < 0 || p.distrust)
			return -EAGAIN;
		if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == ENOENT)
				continue;
			return -EAGAIN;
		}
		if (S_ISLNK(st.st_mode))
			return -EAGAIN;
		p.hash = hash_text(TEXT_HASH_INIT, p.path);
		return place_find_facts(&p, name, "", ret) ? 1 : -EAGAIN;
	}
	return 0;
}

static int insert(struct unit_index *x, const struct unit_entry *e)
{
	struct unit_entry *grown = reallocarray(x->entry, x->n_entries + 1, sizeof(*grown));
	size_t at;

	if (!grown)
		return -ENOMEM;
	x->entry = grown;
	at = unit_index_where(grown, x->n_entries, sizeof(*grown), e->name);
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
	int r = e.name ? unit_index_mix_in_dropins(x, &e) : -ENOMEM;

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
	struct unit_entry *e = unit_index_entry(x, name);
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
