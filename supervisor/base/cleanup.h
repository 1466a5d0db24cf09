/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_CLEANUP_H
#define SUPD_BASE_CLEANUP_H

/* Small words used everywhere: attribute cleanup, moving ownership, counting, comparing. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _printf_(fmt, first) __attribute__((format(printf, fmt, first)))
#define _unused_ __attribute__((unused))

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#define TAKE_PTR(p)                        \
	({                                 \
		__typeof__(p) _taken = (p); \
		(p) = NULL;                \
		_taken;                    \
	})

#define TAKE_FD(fd)             \
	({                      \
		int _fd = (fd); \
		(fd) = -1;      \
		_fd;            \
	})

static inline void cleanup_free(void *p)
{
	free(*(void **) p);
}
#define _cleanup_free_ _cleanup_(cleanup_free)

/* Most that differ do so in the first byte, which a call would take longer to find out. */
static inline bool str_equal(const char *a, const char *b)
{
	return *a == *b && strcmp(a, b) == 0;
}

static inline bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static inline bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

#endif
