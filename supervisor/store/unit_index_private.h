/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_UNIT_INDEX_PRIVATE_H
#define SUPD_STORE_UNIT_INDEX_PRIVATE_H

/* Inside the index: unit_index.c (the whole: its steps, its tables), unit_index_scan.c (the pass
 * over directories), unit_index_dropins.c (which drop-ins there are, and which of them apply),
 * unit_index_wants.c (links in .wants, .requires, .upholds), unit_index_aliases.c (links to other
 * names), unit_index_instances.c (instances that only their template has a file of),
 * unit_index_refresh.c (a few names alone, and what is missing). */

#include <dirent.h>
#include <string.h>

#include "base/text.h"
#include "store/unit_index.h"

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
	struct want *want; /* by unit, "in", directory once they are marked */
	size_t n_wants, wants_size;
	unsigned kinds;
	bool trusted_only;
	struct diag *diag;
};

/* An open directory in that pass. */
struct place {
	int fd;
	const char *path;
	const char *in;       /* its last part, of a directory of links or drop-ins */
	uint64_t hash;        /* of the path, of trust */
	const char *distrust; /* in the index's arena, or NULL */
	uint16_t dir;
};

/* Of each entry of a directory. */
typedef int entry_fn(struct scan *s, const struct place *p, const struct dirent *e);

/* So many links may one name be away from its unit. */
#define ALIAS_CHAIN_MAX 40

static inline uint64_t hash_text(uint64_t h, const char *s)
{
	return text_hash(h, s, strlen(s) + 1);
}

/* A word at a time: what stat() says of each file passes here at each reload. The factor and the
 * shift are MurmurHash's. */
static inline uint64_t hash_numbers(uint64_t h, const uint64_t *number, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		h = (h ^ number[i]) * UINT64_C(0xc6a4a7935bd1e995);
		h ^= h >> 47;
	}
	return h;
}

/* unit_index.c */
/* Room for one more; NULL when memory ran out. */
void *unit_index_grow(void *array, size_t n, size_t *size, size_t element);
/* Where in a sorted table @name is or would be: its elements begin with a pointer to a name. */
size_t unit_index_where(const void *table, size_t n, size_t element, const char *name);
/* NULL: no file or link has that name, nor does a link name it as an instance. */
struct unit_entry *unit_index_entry(struct unit_index *x, const char *name);

/* unit_index_scan.c */
int scan_directories(struct scan *s);
/* Is what has this name of a kind that is asked for? */
bool scan_is_wanted_kind(const struct scan *s, const char *name);
/* Can what is in @p->fd be trusted? Else p->distrust says why. */
int scan_judge(struct scan *s, struct place *p);
/* @link: PATH_MAX bytes; "" if the entry is no link. */
void place_read_link(const struct place *p, const struct dirent *e, char *link);
/* @link: as read, "" if it is none. False: it has vanished since its name was read. */
bool place_find_facts(const struct place *p, const char *name, const char *link,
		      struct unit_file_facts *ret);
/* Of one name in several directories the first one's stays. */
void unit_index_sort_entries(struct unit_index *x);

/* unit_index_dropins.c */
/* Is it one of drop-ins, for a kind that is asked for? */
bool scan_is_dropin_dir(const struct scan *s, const char *name);
entry_fn scan_add_dropin;
void unit_index_sort_dropins(struct unit_index *x);
/* Whatever drop-ins apply is part of what a unit is. */
int unit_index_mix_in_dropins(const struct unit_index *x, struct unit_entry *e);
int unit_index_mix_in_all_dropins(struct unit_index *x);

/* unit_index_wants.c */
bool scan_is_link_dir(const struct scan *s, const char *name);
entry_fn scan_add_want;
void scan_mark_wanted(struct scan *s);
/* After that. */
int scan_keep_links(struct scan *s);

/* unit_index_aliases.c */
/* @e is a link that leads to @link. */
int scan_set_alias(struct scan *s, const struct place *p, struct unit_entry *e, const char *link);
/* From here on alias_of is where a chain of links ends. */
void unit_index_resolve_aliases(struct unit_index *x);

/* unit_index_instances.c */
struct unit_entry *unit_index_template(struct unit_index *x, const char *name);
/* What links name, in .wants/ and the like or as aliases, is there although it has no file. */
int scan_add_instances(struct scan *s);

/* unit_index_refresh.c */
/* Before aliases are resolved, which forgets what leads nowhere. */
int scan_keep_missing(struct scan *s);

#endif
