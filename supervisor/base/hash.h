/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_HASH_H
#define SUPD_BASE_HASH_H

/* Hash tables: uthash's, in the mode in which an addition may fail. As distributed, uthash ends the
 * process when memory runs out; a supervisor must not. Nobody includes uthash.h itself. */

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Asked right after HASH_ADD, HASH_ADD_KEYPTR and the like of @item: whether it is in the table. If
 * not, memory ran out; the table is as before, and @item still the caller's. */
#define HASH_IS_IN(item) ((item)->hh.tbl != NULL)

#endif
