/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_UNIT_INDEX_H
#define SUPD_STORE_UNIT_INDEX_H

/* What the unit directories hold, as one pass over them found it: sorted tables, never changed
 * after they were built (but for where the last search ended). Private to unit_files; nothing is
 * opened here but directories. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"
#include "unit/name.h"

struct unit_dir {
	char *path;
	bool is_systemd;
	bool is_runtime; /* empty again after the next boot */
};

/* A name in a directory, and what stat() said of what it leads to. */
struct unit_file_facts {
	uint64_t hash;     /* of the path and the stat data */
	uint32_t type;     /* S_IFMT bits */
	uint16_t error;    /* errno of stat(), else 0 */
	uint16_t dir;      /* where: an index into the directories */
	bool is_link;
	bool is_crossed;   /* a link to a unit of another kind */
	bool is_masked;    /* empty, or a link to /dev/null */
	/* during the pass: stat() has yet to be asked; after that, it has vanished meanwhile */
	bool is_unread;
};

struct unit_entry {
	const char *name;
	const char *alias_of; /* the unit this link stands for, else NULL */
	uint64_t fingerprint;
	struct unit_file_facts file;
	bool is_wanted;
	bool is_made;      /* an instance without a file: @file is its template's */
	bool is_outside;   /* a link to a file in none of the directories */
	bool is_linked;    /* a link in some .wants/, .requires/ or .upholds/ names it … */
	bool is_linked_for_good; /* … in a directory that outlives a boot */
};

struct unit_dropin {
	const char *stem; /* "a.service", "a-.service", "service": the directory without its ".d" */
	const char *file;     /* "10-more.conf" */
	const char *distrust; /* what is wrong with its directory, or NULL */
	struct unit_file_facts facts;
};

/* A link that makes a unit want or require another. */
struct unit_index_link {
	const char *owner; /* who wants */
	const char *unit;  /* whom */
	const char *in;    /* "a.target.wants" */
	uint16_t dir;
	bool is_required;
};

struct unit_index {
	struct arena arena;
	struct unit_entry *entry; /* by name */
	size_t n_entries;
	size_t last; /* found last */
	struct unit_dropin *dropin; /* by stem, file, directory */
	size_t n_dropins;
	struct unit_index_link *link; /* by owner, unit */
	size_t n_links;
	const char **distrust; /* of each directory, or NULL */
	const char **missing;  /* what links name or stand for, and no file is: in order */
	size_t n_missing;
	unsigned kinds;        /* that were looked for */
	unsigned n_refreshed;  /* since then */
};

/* As unit_files_scan(). */
int unit_index_build(const struct unit_dir *dirs, size_t n_dirs, bool trusted_only, unsigned kinds,
		     struct unit_index *ret, struct diag *d);
void unit_index_done(struct unit_index *x);
/* Looks for the units of these names (NULL-terminated) alone, in the directories that @x was built
 * of, and sets it right. 1: it is another now; 0: it is as it was; -ENOMEM; or -EAGAIN: what they
 * are depends on more than their own files, on links, say, and only unit_index_build() can tell. */
int unit_index_refresh(struct unit_index *x, const struct unit_dir *dirs, size_t n_dirs,
		       bool trusted_only, const char *const *names);
/* Of the same directories: would whoever looks see no difference? */
bool unit_index_is_same(const struct unit_index *a, const struct unit_index *b);

/* What stands for @name: an entry, or, for an instance that no file and no link names, one made of
 * its template. Of that one @name is lent by the caller. 1, 0: no such unit, or -ENOMEM. */
int unit_index_find(struct unit_index *x, const char *name, struct unit_entry *ret);
/* The name of the unit that @name stands for, in @buf: a link's, a template's link's, or @name
 * itself. NULL: no such unit. */
const char *unit_index_resolve(struct unit_index *x, const char *name, char buf[UNIT_NAME_MAX + 1]);

/* The drop-ins of a unit in the order in which they apply; of one file name the first directory's,
 * masked ones left out. Gives; the caller frees the array. -ENOMEM. */
int unit_index_dropins(const struct unit_index *x, const char *name,
		       const struct unit_dropin ***ret, size_t *ret_n);

/* The links of which @owner is the owner, as many as *ret_n; lent. */
const struct unit_index_link *unit_index_links(const struct unit_index *x, const char *owner,
					       size_t *ret_n);

/* Empty, or /dev/null: what masks. */
bool unit_is_null(const struct stat *st);
/* NULL if only root may write what has @uid and @mode, else a sentence in @buf. */
const char *unit_distrust(uid_t uid, mode_t mode, char *buf, size_t size);

#endif
