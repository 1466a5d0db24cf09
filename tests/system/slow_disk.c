/* SPDX-License-Identifier: MIT */
/* Stands before libc's fsync(2) and fdatasync(2): while there is $SLOW_DISK/hang, those of the timers' state say "disk
 * hangs" and wait until somebody opens the FIFO $SLOW_DISK/gate for writing. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_of_timers(int fd)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	(void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = '\0';
	return strstr(target, "timers.state") != NULL;
}

static void take_time(int fd)
{
	static const char message[] = "disk hangs\n";
	const char *dir = getenv("SLOW_DISK");
	char path[PATH_MAX];
	int gate;

	(void) snprintf(path, sizeof(path), "%s/hang", dir ? dir : "");
	if (!dir || access(path, F_OK) < 0 || !is_of_timers(fd))
		return;
	(void) !write(STDERR_FILENO, message, strlen(message));
	(void) snprintf(path, sizeof(path), "%s/gate", dir);
	gate = open(path, O_RDONLY | O_CLOEXEC);
	if (gate >= 0)
		(void) close(gate);
}

int fsync(int fd)
{
	take_time(fd);
	return (int) syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	take_time(fd);
	return (int) syscall(SYS_fdatasync, fd);
}
