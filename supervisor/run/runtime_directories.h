/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_RUNTIME_DIRECTORIES_H
#define SUPD_RUN_RUNTIME_DIRECTORIES_H

/* The end of RuntimeDirectory=, in the loop's thread. */

struct exec_directories;
struct worker;

/* They are gone when it returns, for whoever makes them anew; what was in them is removed by
 * @worker (NULL: at once). */
void runtime_directories_discard(struct worker *worker, const struct exec_directories *d);

#endif
