/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_NAMES_H
#define SUPD_BASE_NAMES_H

/* Very many things that have names, found by them: pointers in the order of names. That takes 8
 * bytes for each, where a hash table takes 60, and who asks for one after the other, in their
 * order, finds the next near the last.
 *
 * What is added in the order of names costs nothing more, even between what is there already: it
 * waits behind it, in an order of its own, until names_settle(). Other orders are for few. */

#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty one, of things that begin with their name. */
struct names {
	void **item;    /* settled: in order */
	size_t n, allocated;
	size_t n_settled;
	size_t last;    /* found last */
	size_t name_at; /* offsetof() each thing's name, an array in it */
};

void names_done(struct names *t); /* the things are their owners' */
const char *names_name(const struct names *t, size_t i);
/* NULL: there is none. */
void *names_find(struct names *t, const char *name);
/* @item must not be there yet. 0 or -ENOMEM. */
int names_add(struct names *t, void *item);
/* After additions, before item is looked at by place. */
void names_settle(struct names *t);
void names_remove(struct names *t, const char *name);
/* Those of which @is_kept says no are taken out, all in one pass; it may free them. Settles. */
void names_keep(struct names *t, bool (*is_kept)(void *item, void *userdata), void *userdata);

#endif
