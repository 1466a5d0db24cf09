/* SPDX-License-Identifier: MIT */
#include "run/cgroup_control.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"
#include "run/process.h"

#define FILE_MAX ((size_t) 1024 * 1024)
#define LEAF "daemon"
#define SUBTREE "cgroup.subtree_control"
#define PROCS "cgroup.procs"
/* A child that has not yet entered its own cgroup may turn up meanwhile. */
#define ROUNDS_MAX 16

static int write_text(int dir, const char *file, const char *text)
{
	int fd = openat(dir, file, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

/* ---- the leaf ---- */

/* What a daemon runs beside services, and a service's process that is about to enter its own
 * cgroup. */
static bool is_ours(pid_t pid)
{
	struct process p;

	return pid == getpid() || (pid > 0 && process_read(pid, &p) >= 0 && p.parent == getpid());
}

/* Calls @fn for each process of a list like cgroup.procs; stops at the first negative answer. */
static int each_process(int dir, const char *file, int (*fn)(int dir, const char *pid))
{
	_cleanup_free_ char *text = NULL;
	char *line, *state = NULL;
	int r;

	r = process_read_text(dir, file, FILE_MAX, &text, NULL);
	if (r < 0)
		return r;
	for (line = strtok_r(text, "\n", &state); r >= 0 && line;
	     line = strtok_r(NULL, "\n", &state))
		r = fn(dir, line);
	return r;
}

static int check_one(int run, const char *pid)
{
	uint64_t number;

	(void) run;
	return value_unsigned(pid, INT32_MAX, &number) == 0 && is_ours((pid_t) number) ? 0 : -EBUSY;
}

/* -ESRCH: it has ended, or is in its own cgroup by now */
static int move_in(int run, const char *pid)
{
	int r = write_text(run, "../" LEAF "/" PROCS, pid);

	return r == -ESRCH ? 0 : r;
}

static int move_out(int home, const char *pid)
{
	int r = write_text(home, "../" PROCS, pid);

	return r == -ESRCH ? 0 : r;
}

static int enter_leaf(int run)
{
	int r;

	r = each_process(run, "../../" PROCS, check_one);
	if (r < 0)
		return r;
	if (mkdirat(run, "../" LEAF, 0755) < 0 && errno != EEXIST)
		return -errno;
	return each_process(run, "../../" PROCS, move_in);
}

static void disable_all(int dir, const char *file)
{
	_cleanup_free_ char *text = NULL;
	char word[64], *name, *state = NULL;

	if (process_read_text(dir, file, FILE_MAX, &text, NULL) < 0)
		return;
	for (name = strtok_r(text, " \n", &state); name; name = strtok_r(NULL, " \n", &state)) {
		(void) snprintf(word, sizeof(word), "-%s", name);
		(void) write_text(dir, file, word);
	}
}

void cgroup_control_leave(int home)
{
	if (faccessat(home, LEAF, F_OK, 0) < 0)
		return;
	disable_all(home, SUBTREE);
	disable_all(home, "../" SUBTREE);
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		if (each_process(home, LEAF "/" PROCS, move_out) < 0)
			break;
		if (unlinkat(home, LEAF, AT_REMOVEDIR) == 0 || errno != EBUSY)
			break;
	}
}

/* ---- controllers ---- */

static int enable_above(int run, const char *word)
{
	int r = -EBUSY;

	for (unsigned round = 0; r == -EBUSY && round < ROUNDS_MAX; round++) {
		r = write_text(run, "../../" SUBTREE, word);
		if (r == -EBUSY && enter_leaf(run) < 0)
			return -EBUSY;
	}
	return r;
}

int cgroup_control_enable(int run, const char *controller)
{
	/* One at a time moves the daemon. */
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	char word[64];
	int r;

	(void) snprintf(word, sizeof(word), "+%s", controller);
	pthread_mutex_lock(&mutex);
	r = write_text(run, "../" SUBTREE, word);
	/* It is not enabled above. */
	if (r == -ENOENT) {
		r = enable_above(run, word);
		if (r >= 0)
			r = write_text(run, "../" SUBTREE, word);
	}
	pthread_mutex_unlock(&mutex);
	return r;
}

/* ---- limits ---- */

static bool read_number(const char *path, uint64_t *ret)
{
	_cleanup_free_ char *text = NULL;

	if (process_read_text(AT_FDCWD, path, FILE_MAX, &text, NULL) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return value_unsigned(text, UINT64_MAX, ret) == 0;
}

/* What percentages of this limit are about, as for systemd: all memory, or as many tasks as the
 * kernel allows. */
static uint64_t whole_of(enum cgroup_limit limit)
{
	uint64_t pids = UINT64_MAX, threads = UINT64_MAX;
	struct sysinfo info;

	if (limit == CGROUP_TASKS_MAX) {
		(void) read_number("/proc/sys/kernel/pid_max", &pids);
		(void) read_number("/proc/sys/kernel/threads-max", &threads);
		return pids < threads ? pids : threads;
	}
	return sysinfo(&info) < 0 ? UINT64_MAX : (uint64_t) info.totalram * info.mem_unit;
}

/* Enables the controller if it is not yet. */
static int put_limit(int run, enum cgroup_limit limit, const char *file, const char *text)
{
	int r = 0;

	if (faccessat(run, file, F_OK, 0) < 0)
		r = cgroup_control_enable(run, cgroup_limit_controller(limit));
	return r < 0 ? r : write_text(run, file, text);
}

static int apply_one(int run, const struct cgroup_limits *l, enum cgroup_limit limit)
{
	const char *file = cgroup_limit_file(limit);
	char text[64];

	cgroup_limit_text(l, limit, l->limit[limit].is_relative ? whole_of(limit) : 0, text);
	/* Another file than cpu.weight. */
	if (limit == CGROUP_CPU_WEIGHT && str_equal(text, "idle")) {
		file = "cpu.idle";
		text[0] = '1';
		text[1] = '\0';
	}
	return put_limit(run, limit, file, text);
}

static int apply_mask(int run, enum cgroup_limit limit, const struct exec_mask *mask)
{
	_cleanup_free_ char *text = cgroup_mask_text(mask);

	return text ? put_limit(run, limit, cgroup_limit_file(limit), text) : -ENOMEM;
}

/* The disk is meant, and not its part. */
static dev_t whole_disk(dev_t device)
{
	unsigned major_of, minor_of;
	char path[64];
	FILE *f;

	(void) snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(device),
			minor(device));
	if (access(path, F_OK) < 0)
		return device;
	(void) snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(device),
			minor(device));
	f = fopen(path, "re");
	if (!f)
		return device;
	if (fscanf(f, "%u:%u", &major_of, &minor_of) == 2)
		device = makedev(major_of, minor_of);
	(void) fclose(f);
	return device;
}

/* As systemd: a block device, or that of the file system on which a file lies. -ENODEV: there is
 * none. */
static int find_device(const char *path, dev_t *ret)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -ENODEV;
	if (!S_ISBLK(st.st_mode) && major(st.st_dev) == 0)
		return -ENODEV;
	*ret = whole_disk(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev);
	return 0;
}

static int apply_device(int run, const struct cgroup_device *d)
{
	dev_t device;
	char text[64];
	int r = find_device(d->path, &device);

	if (r < 0)
		return r;
	cgroup_device_text(d, major(device), minor(device), text);
	return put_limit(run, d->limit, cgroup_limit_file(d->limit), text);
}

static void apply_devices(int run, const struct cgroup_limits *l, cgroup_problem_fn *tell,
			  void *userdata)
{
	for (size_t i = 0; i < l->n_devices; i++) {
		int r = apply_device(run, &l->device[i]);

		if (r < 0)
			tell(userdata, l->device[i].limit, r);
	}
}

void cgroup_control_apply(int run, const struct cgroup_limits *l, cgroup_problem_fn *tell,
			  void *userdata)
{
	for (size_t i = 0; i < CGROUP_IO_READ_BANDWIDTH; i++) {
		enum cgroup_limit limit = (enum cgroup_limit) i;
		int r = 0;

		if (cgroup_limits_has(l, limit))
			r = i < CGROUP_AMOUNT_COUNT
				    ? apply_one(run, l, limit)
				    : apply_mask(run, limit,
						 limit == CGROUP_CPUS ? &l->cpus : &l->nodes);
		if (r < 0)
			tell(userdata, limit, r);
	}
	apply_devices(run, l, tell, userdata);
	/* Without the controller nobody is killed for the service's own limits. */
	if (l->oom_policy == CGROUP_OOM_KILL)
		(void) write_text(run, "memory.oom.group", "1");
}

/* The number behind "NAME " at the beginning of a line; without a name, the first line. 0: there is
 * none. */
static uint64_t number_in(int dir, const char *file, const char *name)
{
	_cleanup_free_ char *text = NULL;
	char *line, *state = NULL;
	uint64_t n = 0;

	if (process_read_text(dir, file, FILE_MAX, &text, NULL) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
		if (str_starts(line, name))
			return value_unsigned(line + strlen(name), UINT64_MAX, &n) < 0 ? 0 : n;
	return 0;
}

struct cgroup_usage cgroup_control_usage(int run)
{
	return (struct cgroup_usage) {
		.peak = number_in(run, "memory.peak", ""),
		.n_oom_kills = number_in(run, "memory.events", "oom_kill "),
	};
}
