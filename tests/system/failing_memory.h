/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_FAILING_MEMORY_H
#define SUPD_TEST_FAILING_MEMORY_H

/* Memory that runs out in another process at the moment this one chooses. Preloaded there,
 * failing-memory.so maps the file that $FAILING_MEMORY names and obeys it: the next @skip allocations
 * succeed, the @fail after them do not, later ones do again. All zero (an empty file of this size) fails
 * none. */

#include <stdatomic.h>

struct failing_memory {
	atomic_long skip;
	atomic_long fail;
};

#endif
