/* SPDX-License-Identifier: MIT */
#include "run/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "run/cgroup_home.h"
#include "run/process.h"

#define TITLE "supd: guard"
#define ROUNDS_MAX 100
#define ROUND_MSEC 20
#define FDS_MAX 65536 /* on kernels without close_range(2) */

enum word { WORD_CGROUP, WORD_RUN, WORD_FORGET, WORD_FAREWELL };

struct message {
	enum word word;
	uint64_t token;
	pid_t session;
	uint8_t run_id[16];
	char path[1024];
};

struct guard {
	int fd;
	pid_t pid;
};

/* ---- in the guard ---- */

struct watched {
	uint64_t token;
	pid_t session; /* 0: only the environment tells */
	char invocation[sizeof("INVOCATION_ID=") + 32];
};

struct watch {
	char *cgroup; /* or NULL */
	struct watched *list;
	size_t n;
};

static void watch_run(struct watch *w, const struct message *m)
{
	struct watched *grown = reallocarray(w->list, w->n + 1, sizeof(*grown));
	char hex[33];

	if (!grown)
		return;
	w->list = grown;
	grown[w->n].token = m->token;
	grown[w->n].session = m->session;
	text_hex16(m->run_id, hex);
	snprintf(grown[w->n].invocation, sizeof(grown[w->n].invocation), "INVOCATION_ID=%s", hex);
	w->n++;
}

static void forget(struct watch *w, uint64_t token)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->list[i].token != token)
			w->list[kept++] = w->list[i];
	w->n = kept;
}

static bool is_watched(const struct watch *w, const struct process *p)
{
	/* What has session 0 was started by the kernel, or outside of a pid namespace. */
	for (size_t i = 0; i < w->n; i++)
		if ((p->session != 0 && p->session == w->list[i].session) ||
		    process_has_environment(p->pid, w->list[i].invocation))
			return true;
	return false;
}

static bool is_same_process(const void *userdata, pid_t pid)
{
	const struct process *meant = userdata;
	struct process now;

	return process_read(pid, &now) >= 0 && now.started == meant->started && !now.is_dead;
}

/* How many were found alive. */
static size_t kill_watched(const struct watch *w)
{
	_cleanup_free_ struct process *list = NULL;
	size_t n = 0, found = 0;

	if (process_list(&list, &n) < 0) {
		for (size_t i = 0; i < w->n; i++)
			if (w->list[i].session > 0)
				(void) kill(-w->list[i].session, SIGKILL);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		if (!list[i].is_dead && is_watched(w, &list[i])) {
			(void) process_signal(list[i].pid, SIGKILL, is_same_process, &list[i]);
			found++;
		}
	return found;
}

static void end_all(const struct watch *w)
{
	for (unsigned round = 0; w->n > 0 && round < ROUNDS_MAX && kill_watched(w) > 0; round++)
		(void) poll(NULL, 0, ROUND_MSEC);
	if (!w->cgroup)
		return;
	for (unsigned round = 0; round < ROUNDS_MAX && cgroup_home_end(w->cgroup) == -EBUSY;
	     round++)
		(void) poll(NULL, 0, ROUND_MSEC);
}

/* Until the daemon has said farewell (true), or not and is gone. */
static bool listen_to(int fd, struct watch *w)
{
	struct message m;

	for (;;) {
		ssize_t n = recv(fd, &m, sizeof(m), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(m))
			return false;
		switch (m.word) {
		case WORD_CGROUP:
			m.path[sizeof(m.path) - 1] = '\0';
			free(w->cgroup);
			w->cgroup = strdup(m.path);
			break;
		case WORD_RUN:
			watch_run(w, &m);
			break;
		case WORD_FORGET:
			forget(w, m.token);
			break;
		case WORD_FAREWELL:
			return true;
		}
	}
}

static void close_from(int first)
{
	if (syscall(SYS_close_range, first, UINT_MAX, 0) == 0)
		return;
	for (int fd = first; fd < FDS_MAX; fd++)
		(void) close(fd);
}

/* Nothing of the daemon's is kept: not its locks, its log, its terminal, or its folder. Returns the
 * socket. */
static int leave_all_behind(int fd)
{
	int null;

	(void) setsid();
	(void)!chdir("/");
	fd = dup2(fd, STDERR_FILENO + 1);
	close_from(STDERR_FILENO + 2);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		(void) dup2(null, i);
	if (null > fd)
		(void) close(null);
	return fd;
}

static _Noreturn void guard_main(int fd, char *title, size_t title_size)
{
	struct watch w = { 0 };
	sigset_t all;

	/* It goes when the daemon does, and on no other request. */
	sigfillset(&all);
	(void) sigprocmask(SIG_SETMASK, &all, NULL);
	(void) prctl(PR_SET_NAME, "supd-guard");
	if (title && title_size > sizeof(TITLE)) {
		memset(title, 0, title_size);
		memcpy(title, TITLE, sizeof(TITLE));
	}
	fd = leave_all_behind(fd);
	if (!listen_to(fd, &w))
		end_all(&w);
	_exit(EXIT_SUCCESS);
}

/* ---- in the daemon ---- */

int guard_new(char *title, size_t title_size, struct guard **ret)
{
	struct guard *g = calloc(1, sizeof(*g));
	int fd[2], r = 0;

	if (!g)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0) {
		r = -errno;
		free(g);
		return r;
	}
	g->fd = fd[0];
	g->pid = fork();
	if (g->pid == 0) {
		close(fd[0]);
		guard_main(fd[1], title, title_size);
	}
	if (g->pid < 0)
		r = -errno;
	close(fd[1]);
	if (r < 0) {
		close(fd[0]);
		free(g);
		return r;
	}
	*ret = g;
	return 0;
}

/* A guard that was killed, or does not listen, is no reason to stop. */
static void tell(struct guard *g, const struct message *m)
{
	if (g)
		(void) send(g->fd, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

struct guard *guard_free(struct guard *g)
{
	if (!g)
		return NULL;
	tell(g, &(struct message) { .word = WORD_FAREWELL });
	close(g->fd);
	/* The reaper may have seen its end before. */
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(g);
	return NULL;
}

void guard_watch_cgroup(struct guard *g, const char *path)
{
	struct message m = { .word = WORD_CGROUP };

	if (strlen(path) < sizeof(m.path)) {
		strcpy(m.path, path);
		tell(g, &m);
	}
}

void guard_watch_run(struct guard *g, uint64_t token, pid_t session, const uint8_t run_id[16])
{
	struct message m = { .word = WORD_RUN, .token = token, .session = session };

	memcpy(m.run_id, run_id, sizeof(m.run_id));
	tell(g, &m);
}

void guard_forget_run(struct guard *g, uint64_t token)
{
	tell(g, &(struct message) { .word = WORD_FORGET, .token = token });
}
