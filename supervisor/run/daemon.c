/* SPDX-License-Identifier: MIT */
#include "run/daemon.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

/* Neither the loop nor epoll gets better with a million; enough for some hundred runs at once. */
#define NOFILE_WANTED 65536
/* From here on memory is taken from the system, and given back to it. */
#define LARGE (128 * 1024)
#define SPARE (16 * 1024)

/* ---- which signal is what ---- */

/* Containers' managers ask a first process to end by SIGPWR (LXC), or by systemd's signals of halt,
 * poweroff, reboot and kexec (podman, systemd-nspawn): all that supd can do about any of these is
 * to end. */
static bool is_stop(int signal)
{
	return signal == SIGTERM || signal == SIGINT || signal == SIGPWR ||
	       (signal >= SIGRTMIN + 3 && signal <= SIGRTMIN + 6);
}

static bool is_obeyed(int signal)
{
	return is_stop(signal) || signal == SIGHUP;
}

/* Those that mean nothing here, but end a process that does not say so; and two that are errors of
 * system calls. */
static bool is_passed_over(int signal)
{
	static const int list[] = {
		SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPIPE, SIGXFSZ,
#ifdef SIGSTKFLT
		SIGSTKFLT,
#endif
	};

	for (size_t i = 0; i < ELEMENTS(list); i++)
		if (signal == list[i])
			return true;
	return signal >= SIGRTMIN && signal <= SIGRTMAX && !is_stop(signal);
}

/* A sanitizer's handler for crashes stays. */
static bool is_crash(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
	       signal == SIGABRT;
}

/* ---- first of all ---- */

/* What is opened later must not come to lie where libraries and children take stderr to be. Not
 * every root directory has a /dev; one that cannot be read or written serves as well. */
static int open_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			fd = open("/", O_RDONLY | O_DIRECTORY);
		if (fd < 0)
			return -errno;
	} while (fd <= STDERR_FILENO);
	close(fd);
	return 0;
}

/* Whoever started us may have left signals ignored or blocked. */
static int settle_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (int signal = 1; signal < NSIG; signal++) {
		struct sigaction action = { .sa_handler = is_passed_over(signal) ? SIG_IGN
										 : SIG_DFL };

		if (!is_crash(signal))
			(void) sigaction(signal, &action, NULL);
		if (is_obeyed(signal))
			sigaddset(&mask, signal);
	}
	return sigprocmask(SIG_SETMASK, &mask, NULL) < 0 ? -errno : 0;
}

static void raise_nofile(struct daemon_inheritance *ret)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	ret->nofile = limit;
	if (limit.rlim_cur >= NOFILE_WANTED || limit.rlim_cur >= limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max < NOFILE_WANTED ? limit.rlim_max : NOFILE_WANTED;
	ret->has_nofile = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* The arguments lie one behind the other, as the kernel has put them there. */
static void find_title(int argc, char **argv, struct daemon_inheritance *ret)
{
	char *end = argv[0];

	for (int i = 0; i < argc && argv[i] == end; i++)
		end += strlen(argv[i]) + 1;
	ret->title = argv[0];
	ret->title_size = (size_t) (end - argv[0]);
}

/* glibc would grow its heap for the large and short-lived (the state's bytes), and a heap for each
 * thread of ours; and of what was freed at its end keep this much. */
static void settle_memory(void)
{
#ifdef __GLIBC__
	(void) mallopt(M_ARENA_MAX, 1);
	(void) mallopt(M_MMAP_THRESHOLD, LARGE);
	(void) mallopt(M_TRIM_THRESHOLD, LARGE);
	(void) mallopt(M_TOP_PAD, SPARE);
#endif
}

int daemon_prepare(int argc, char **argv, struct daemon_inheritance *ret)
{
	struct daemon_inheritance inheritance = { .has_nofile = false };
	int r;

	r = open_standard_streams();
	if (r < 0)
		return r;
	if (argc < 1 || !argv[0])
		return -EINVAL;
	(void) umask(0077);
	settle_memory();
	r = settle_signals();
	if (r < 0)
		return r;
	/* As PID 1 they come to us anyway, and elsewhere we do without if it must be. */
	(void) prctl(PR_SET_CHILD_SUBREAPER, 1);
	raise_nofile(&inheritance);
	find_title(argc, argv, &inheritance);
	*ret = inheritance;
	return 0;
}

/* ---- signals ---- */

struct daemon_signals {
	struct daemon_signals_listener listener;
	sd_event_source *source[NSIG]; /* by their signals; NULL: it is not obeyed */
	bool is_stopping, was_interrupted;
};

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct daemon_signals *s = userdata;
	int signal = (int) info->ssi_signo;
	bool again = s->is_stopping, hurry = signal == SIGINT && s->was_interrupted;

	(void) source;
	if (signal == SIGHUP) {
		if (!s->is_stopping)
			s->listener.reload(s->listener.userdata);
		return 0;
	}
	s->is_stopping = true;
	s->was_interrupted |= signal == SIGINT;
	s->listener.stop(s->listener.userdata, signal, again, hurry);
	return 0;
}

int daemon_signals_new(sd_event *event, const struct daemon_signals_listener *listener,
		       struct daemon_signals **ret)
{
	struct daemon_signals *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return -ENOMEM;
	s->listener = *listener;
	for (int signal = 1; r >= 0 && signal < NSIG; signal++) {
		if (!is_obeyed(signal))
			continue;
		r = sd_event_add_signal(event, &s->source[signal], signal, on_signal, s);
		if (r >= 0)
			r = sd_event_source_set_priority(s->source[signal],
							 SD_EVENT_PRIORITY_IMPORTANT);
	}
	if (r < 0) {
		daemon_signals_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

struct daemon_signals *daemon_signals_free(struct daemon_signals *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < ELEMENTS(s->source); i++)
		sd_event_source_disable_unref(s->source[i]);
	free(s);
	return NULL;
}

/* ---- the loop ---- */

#define TURN_PAUSE_MS 50
#define TURNS_FAILED_MAX 600

int daemon_loop(sd_event *event)
{
	int code;

	for (unsigned failed = 0; sd_event_get_state(event) != SD_EVENT_FINISHED;) {
		int r = sd_event_run(event, UINT64_MAX);

		if (r >= 0) {
			failed = 0;
			continue;
		}
		if (failed++ == 0)
			log_error(r, "a turn of the event loop failed, and is tried again");
		if (failed > TURNS_FAILED_MAX)
			return r;
		(void) poll(NULL, 0, TURN_PAUSE_MS);
	}
	return sd_event_get_exit_code(event, &code) < 0 ? 0 : code;
}

/* ---- systemd ---- */

void daemon_tell_state(enum supd_manager_state state)
{
	switch (state) {
	case SUPD_MANAGER_STARTING:
		(void) sd_notify(0, "STATUS=Starting.");
		break;
	case SUPD_MANAGER_RUNNING:
		(void) sd_notify(0, "READY=1\nSTATUS=Running.");
		break;
	case SUPD_MANAGER_PAUSED:
		(void) sd_notify(0, "STATUS=Paused: timers are off.");
		break;
	case SUPD_MANAGER_STOPPING:
		(void) sd_notify(0, "STOPPING=1\nSTATUS=Stopping services.");
		break;
	case SUPD_MANAGER_ENDED:
		(void) sd_notify(0, "STATUS=Ended.");
		break;
	}
}

void daemon_tell_status(const char *sentence)
{
	(void) sd_notifyf(0, "STATUS=%.*s", (int) strcspn(sentence, "\n"), sentence);
}

int daemon_watchdog(sd_event *event)
{
	int r = sd_event_set_watchdog(event, true);

	return r < 0 ? r : 0;
}
