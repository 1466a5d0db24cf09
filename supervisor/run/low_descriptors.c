/* SPDX-License-Identifier: MIT */
#include "run/low_descriptors.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

/* One for each thread that starts processes. */
#define SETS 8
/* To copy as many costs less than to move them. */
#define LOW_ENOUGH 96
/* With less, none are spared. */
#define LIMIT_MIN 512

static int kept[SETS][LOW_DESCRIPTORS];
static bool is_taken[SETS];
static int n_sets;
static int nothing = -1; /* what stands there meanwhile */

/* Never one that a child's stream itself has: that is not to be in the way of another's. */
static int keep_one(void)
{
	return fcntl(nothing, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static bool keep_set(int set)
{
	int i = 0;

	while (i < LOW_DESCRIPTORS && (kept[set][i] = keep_one()) >= 0)
		i++;
	if (i == LOW_DESCRIPTORS)
		return true;
	while (i-- > 0)
		(void) close(kept[set][i]);
	return false;
}

void low_descriptors_prepare(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < LIMIT_MIN)
		return;
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (nothing >= 0 && n_sets < SETS && keep_set(n_sets))
		n_sets++;
}

static bool are_low_enough(const int fd[LOW_DESCRIPTORS])
{
	for (int i = 0; i < LOW_DESCRIPTORS; i++)
		if (fd[i] > LOW_ENOUGH)
			return false;
	return true;
}

static int find_free(void)
{
	for (int set = 0; set < n_sets; set++)
		if (!__atomic_test_and_set(&is_taken[set], __ATOMIC_ACQUIRE))
			return set;
	return -1;
}

int low_descriptors_take(int fd[LOW_DESCRIPTORS])
{
	int set = are_low_enough(fd) ? -1 : find_free();

	for (int i = 0; set >= 0 && i < LOW_DESCRIPTORS; i++)
		if (dup3(fd[i], kept[set][i], O_CLOEXEC) < 0) {
			low_descriptors_give(set);
			return -1;
		}
	for (int i = 0; set >= 0 && i < LOW_DESCRIPTORS; i++)
		fd[i] = kept[set][i];
	return set;
}

/* They are not just closed: somebody else would get the numbers. Where nothing can be put there
 * (the limit was lowered below them), the set is no more: a copy left open would keep a pipe from
 * its end. */
void low_descriptors_give(int set)
{
	bool is_kept = true;

	for (int i = 0; set >= 0 && i < LOW_DESCRIPTORS; i++)
		if (dup3(nothing, kept[set][i], O_CLOEXEC) < 0) {
			(void) close(kept[set][i]);
			is_kept = false;
		}
	if (set >= 0 && is_kept)
		__atomic_clear(&is_taken[set], __ATOMIC_RELEASE);
}
