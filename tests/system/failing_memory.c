/* SPDX-License-Identifier: MIT */
/* Stands before libc's allocations: see failing_memory.h. */
#include "tests/system/failing_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t size);
void *reallocarray(void *p, size_t n, size_t size);

static struct failing_memory *memory;
static __thread bool is_exempt;

static __attribute__((constructor)) void obey(void)
{
	const char *path = getenv("FAILING_MEMORY");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void) close(fd);
	if (map != MAP_FAILED)
		memory = map;
}

/* Into the log, where a sanitizer that can do it is built in. */
static void say_where(void)
{
	void (*trace)(void);

	*(void **) &trace = dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace");
	if (trace && getenv("SUPD_MEMORY_SAY"))
		trace();
}

static bool fails(void)
{
	if (!memory || is_exempt || atomic_load(&memory->fail) <= 0)
		return false;
	if (atomic_fetch_sub(&memory->skip, 1) > 0)
		return false;
	if (atomic_fetch_sub(&memory->fail, 1) <= 0)
		return false;
	say_where();
	errno = ENOMEM;
	return true;
}

/* The next one of that name; looked up once for each. */
#define NEXT(name)                                                    \
	static __typeof__(&name) next;                                \
	if (!next)                                                    \
		*(void **) &next = dlsym(RTLD_NEXT, #name);

/* The address sanitizer asks this of each new thread, and ends the process if there is no memory for it. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *ret)
{
	NEXT(pthread_getattr_np)
	int r;

	is_exempt = true;
	r = next(thread, ret);
	is_exempt = false;
	return r;
}

void *malloc(size_t size)
{
	NEXT(malloc)
	return fails() ? NULL : next(size);
}

void *calloc(size_t n, size_t size)
{
	NEXT(calloc)
	return fails() ? NULL : next(n, size);
}

void *realloc(void *p, size_t size)
{
	NEXT(realloc)
	return fails() ? NULL : next(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	NEXT(reallocarray)
	return fails() ? NULL : next(p, n, size);
}
