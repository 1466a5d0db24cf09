/* SPDX-License-Identifier: MIT */
#include "tests/supervisor/run/slow_disk.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool hangs;
static unsigned n_waiting;

void slow_disk_hang(void)
{
	pthread_mutex_lock(&mutex);
	hangs = true;
	pthread_mutex_unlock(&mutex);
}

void slow_disk_wait(void)
{
	pthread_mutex_lock(&mutex);
	while (n_waiting == 0)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

void slow_disk_go(void)
{
	pthread_mutex_lock(&mutex);
	hangs = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void take_time(void)
{
	pthread_mutex_lock(&mutex);
	n_waiting++;
	pthread_cond_broadcast(&changed);
	while (hangs)
		pthread_cond_wait(&changed, &mutex);
	n_waiting--;
	pthread_mutex_unlock(&mutex);
}

/* libc's are passed by: the linker finds these first. */
int fsync(int fd)
{
	take_time();
	return (int) syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	take_time();
	return (int) syscall(SYS_fdatasync, fd);
}
