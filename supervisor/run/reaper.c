/* SPDX-License-Identifier: MIT */
#include "run/reaper.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"

/* So that a storm of orphans leaves the loop a turn now and then. */
#define REAPED_PER_TURN_MAX 256

struct reaper {
	struct reaper_listener listener;
	sd_event_source *signal, *again;
	struct child *children;
};

static pid_t pid_of(const struct child *c)
{
	return __atomic_load_n(&c->pid, __ATOMIC_ACQUIRE);
}

static struct child *find(struct reaper *r, pid_t pid)
{
	struct child *c;

	DL_FOREACH(r->children, c)
		if (pid_of(c) == pid)
			return c;
	return NULL;
}

static void reap_ours(struct reaper *r, struct child *c)
{
	if (wait4(c->pid, &c->wstatus, WNOHANG, &c->usage) != c->pid)
		return;
	c->has_ended = true;
	DL_DELETE(r->children, c);
	r->listener.child(r->listener.userdata, c);
}

static void reap_orphan(struct reaper *r, pid_t pid)
{
	siginfo_t info;

	if (waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG) == 0 && r->listener.orphan)
		r->listener.orphan(r->listener.userdata);
}

/* The first dead child, or 0. */
static pid_t peek(void)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return 0;
	return info.si_pid;
}

/* What is told may change everything: nothing is remembered from one child to the next. */
static int reap(struct reaper *r)
{
	for (unsigned n = 0; n < REAPED_PER_TURN_MAX; n++) {
		pid_t pid = peek();
		struct child *c;

		if (pid == 0)
			return 0;
		if (r->listener.dead)
			r->listener.dead(r->listener.userdata);
		c = find(r, pid);
		if (c)
			reap_ours(r, c);
		else
			reap_orphan(r, pid);
	}
	return sd_event_source_set_enabled(r->again, SD_EVENT_ONESHOT);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	(void) source;
	(void) info;
	return reap(userdata);
}

static int on_again(sd_event_source *source, void *userdata)
{
	(void) source;
	return reap(userdata);
}

int reaper_new(sd_event *event, int64_t priority, const struct reaper_listener *listener,
	       struct reaper **ret)
{
	struct reaper *reaper = calloc(1, sizeof(*reaper));
	int r;

	if (!reaper)
		return -ENOMEM;
	reaper->listener = *listener;
	r = sd_event_add_signal(event, &reaper->signal, SIGCHLD, on_signal, reaper);
	if (r >= 0)
		r = sd_event_source_set_priority(reaper->signal, priority);
	/* Enabled at first: who died before we looked gave a signal that nobody saw. */
	if (r >= 0)
		r = sd_event_add_defer(event, &reaper->again, on_again, reaper);
	if (r >= 0)
		r = sd_event_source_set_priority(reaper->again, priority);
	if (r < 0) {
		reaper_free(reaper);
		return r;
	}
	*ret = reaper;
	return 0;
}

struct reaper *reaper_free(struct reaper *r)
{
	if (!r)
		return NULL;
	sd_event_source_disable_unref(r->signal);
	sd_event_source_disable_unref(r->again);
	free(r);
	return NULL;
}

void reaper_watch(struct reaper *r, struct child *c)
{
	DL_APPEND(r->children, c);
}

void reaper_forget(struct reaper *r, struct child *c)
{
	if (!c->has_ended)
		DL_DELETE(r->children, c);
}

void reaper_collect(struct reaper *r, struct child *c)
{
	pid_t pid = pid_of(c);

	reaper_forget(r, c);
	if (pid > 0 && !c->has_ended)
		while (wait4(pid, &c->wstatus, 0, &c->usage) < 0 && errno == EINTR)
			;
	c->has_ended = true;
}

bool child_is_alive(const struct child *c)
{
	return pid_of(c) != 0 && !c->has_ended;
}

int child_kill(const struct child *c, int signal)
{
	int fd = __atomic_load_n(&c->pidfd, __ATOMIC_ACQUIRE);

	if (fd < 0 || c->has_ended)
		return -ESRCH;
	return syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) < 0 ? -errno : 0;
}
