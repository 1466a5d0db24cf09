/* SPDX-License-Identifier: MIT */
#include "run/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/usec.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

static char *name[] = { (char *) "supd", NULL };

START_TEST(standard_descriptors_are_open)
{
	struct daemon_inheritance i;
	int kept = dup(STDERR_FILENO);

	close(STDIN_FILENO);
	close(STDERR_FILENO);
	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
	ck_assert_int_ge(fcntl(STDOUT_FILENO, F_GETFD), 0);
	ck_assert_int_ge(fcntl(STDERR_FILENO, F_GETFD), 0);
	dup2(kept, STDERR_FILENO);
}
END_TEST

START_TEST(no_name_is_refused)
{
	struct daemon_inheritance i;
	char *none[] = { NULL };

	ck_assert_int_eq(daemon_prepare(0, none, &i), -EINVAL);
}
END_TEST

static bool is_ignored(int sig)
{
	struct sigaction action;

	ck_assert_int_eq(sigaction(sig, NULL, &action), 0);
	return action.sa_handler == SIG_IGN;
}

START_TEST(signals_are_settled_whatever_was_inherited)
{
	const int blocked[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPWR, SIGRTMIN + 3, SIGRTMIN + 6 };
	struct daemon_inheritance i;
	sigset_t all, mask;

	sigfillset(&all);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &all, NULL), 0);
	(void) signal(SIGCHLD, SIG_IGN);
	(void) signal(SIGTERM, SIG_IGN);
	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	for (size_t k = 0; k < ELEMENTS(blocked); k++)
		ck_assert_int_eq(sigismember(&mask, blocked[k]), 1);
	ck_assert_int_eq(sigismember(&mask, SIGQUIT), 0);
	ck_assert_int_eq(sigismember(&mask, SIGUSR1), 0);
	ck_assert(is_ignored(SIGUSR1));
	ck_assert(is_ignored(SIGALRM));
	ck_assert(is_ignored(SIGRTMIN));
	ck_assert(is_ignored(SIGRTMAX));
	ck_assert(!is_ignored(SIGRTMIN + 3));
	ck_assert(!is_ignored(SIGQUIT));
	ck_assert(is_ignored(SIGPIPE));
	ck_assert(is_ignored(SIGXFSZ));
	ck_assert(!is_ignored(SIGCHLD));
	ck_assert(!is_ignored(SIGTERM));
}
END_TEST

START_TEST(orphans_come_to_us)
{
	struct daemon_inheritance i;
	int is_subreaper = 0;

	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_int_eq(prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper), 0);
	ck_assert_int_eq(is_subreaper, 1);
}
END_TEST

START_TEST(files_are_ours_alone)
{
	struct daemon_inheritance i;

	(void) umask(0);
	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_uint_eq(umask(0077), 0077);
}
END_TEST

START_TEST(limit_of_descriptors_is_raised_and_remembered)
{
	struct rlimit few = { .rlim_cur = 256 }, now;
	struct daemon_inheritance i;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &now), 0);
	few.rlim_max = now.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &now), 0);
	if (few.rlim_max <= 256)
		return;
	ck_assert_uint_gt(now.rlim_cur, 256);
	ck_assert(i.has_nofile);
	ck_assert_uint_eq(i.nofile.rlim_cur, 256);
	ck_assert_uint_eq(i.nofile.rlim_max, few.rlim_max);
}
END_TEST

/* ---- signals ---- */

static struct {
	unsigned n_stops, n_reloads;
	int signal;
	bool again, hurry;
} heard;

static void on_stop(void *userdata, int sig, bool again, bool hurry)
{
	(void) userdata;
	heard.n_stops++;
	heard.signal = sig;
	heard.again = again;
	heard.hurry = hurry;
}

static void on_reload(void *userdata)
{
	(void) userdata;
	heard.n_reloads++;
}

static const struct daemon_signals_listener listener = { .stop = on_stop, .reload = on_reload };

static void send_self(sd_event *event, int sig)
{
	ck_assert_int_eq(kill(getpid(), sig), 0);
	ck_assert_int_gt(sd_event_run(event, 10 * USEC_PER_SEC), 0);
	while (sd_event_run(event, 0) > 0)
		;
}

START_TEST(signals_are_heard_by_phase)
{
	struct daemon_inheritance i;
	struct daemon_signals *signals;
	sd_event *event;

	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(daemon_signals_new(event, &listener, &signals), 0);
	send_self(event, SIGHUP);
	ck_assert_uint_eq(heard.n_reloads, 1);
	ck_assert_uint_eq(heard.n_stops, 0);
	send_self(event, SIGTERM);
	ck_assert_uint_eq(heard.n_stops, 1);
	ck_assert_int_eq(heard.signal, SIGTERM);
	ck_assert(!heard.again && !heard.hurry);
	/* no reload while stopping, and no way back */
	send_self(event, SIGHUP);
	ck_assert_uint_eq(heard.n_reloads, 1);
	send_self(event, SIGTERM);
	ck_assert_uint_eq(heard.n_stops, 2);
	ck_assert(heard.again && !heard.hurry);
	send_self(event, SIGINT);
	ck_assert(heard.again && !heard.hurry);
	send_self(event, SIGINT);
	ck_assert(heard.again && heard.hurry);
	daemon_signals_free(signals);
	sd_event_unref(event);
}
END_TEST

/* By which managers of containers say it: LXC, podman, systemd-nspawn. */
START_TEST(signals_of_power_stop)
{
	const int stops[] = { SIGPWR, SIGRTMIN + 3, SIGRTMIN + 4, SIGRTMIN + 5, SIGRTMIN + 6 };
	struct daemon_inheritance i;
	struct daemon_signals *signals;
	sd_event *event;

	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(daemon_signals_new(event, &listener, &signals), 0);
	for (unsigned k = 0; k < ELEMENTS(stops); k++) {
		send_self(event, stops[k]);
		ck_assert_uint_eq(heard.n_stops, k + 1);
		ck_assert_int_eq(heard.signal, stops[k]);
		ck_assert(!heard.hurry);
	}
	daemon_signals_free(signals);
	sd_event_unref(event);
}
END_TEST

/* The others of those that end a process by default: this one is still there afterwards. */
START_TEST(signals_that_mean_nothing_do_nothing)
{
	struct daemon_inheritance i;

	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_int_eq(raise(SIGUSR1), 0);
	ck_assert_int_eq(raise(SIGUSR2), 0);
	ck_assert_int_eq(raise(SIGALRM), 0);
	ck_assert_int_eq(raise(SIGIO), 0);
	ck_assert_int_eq(raise(SIGPROF), 0);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		if (sig < SIGRTMIN + 3 || sig > SIGRTMIN + 6)
			ck_assert_int_eq(raise(sig), 0);
}
END_TEST

START_TEST(signal_before_the_loop_is_not_lost)
{
	struct daemon_inheritance i;
	struct daemon_signals *signals;
	sd_event *event;

	ck_assert_int_eq(daemon_prepare(1, name, &i), 0);
	ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(daemon_signals_new(event, &listener, &signals), 0);
	ck_assert_int_gt(sd_event_run(event, 10 * USEC_PER_SEC), 0);
	ck_assert_uint_eq(heard.n_stops, 1);
	daemon_signals_free(signals);
	sd_event_unref(event);
}
END_TEST

/* ---- systemd ---- */

static void expect_notice(int fd, const char *words)
{
	char buf[512];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	ck_assert_int_gt(n, 0);
	buf[n] = '\0';
	ck_assert_msg(strstr(buf, words), "%s", buf);
}

START_TEST(systemd_is_told)
{
	char *dir = test_dir_new();
	_cleanup_free_ char *path = test_dir_path(dir, "notify");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
	ck_assert_int_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	daemon_tell_state(SUPD_MANAGER_STARTING);
	expect_notice(fd, "STATUS=Starting");
	daemon_tell_state(SUPD_MANAGER_RUNNING);
	expect_notice(fd, "READY=1");
	daemon_tell_status("3 runs\nREADY=1");
	expect_notice(fd, "STATUS=3 runs");
	daemon_tell_state(SUPD_MANAGER_STOPPING);
	expect_notice(fd, "STOPPING=1");
	close(fd);
	test_dir_free(dir);
}
END_TEST

START_TEST(without_systemd_nothing_is_told)
{
	sd_event *event;

	ck_assert_int_eq(unsetenv("NOTIFY_SOCKET"), 0);
	ck_assert_int_eq(unsetenv("WATCHDOG_USEC"), 0);
	daemon_tell_state(SUPD_MANAGER_RUNNING);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_eq(daemon_watchdog(event), 0);
	sd_event_unref(event);
}
END_TEST

static int epoll_fd, epoll_copy, n_errors;

static void mend_epoll(void *userdata, const struct log_line *line)
{
	(void) userdata;
	ck_assert_int_eq(line->level, LOG_ERR);
	n_errors++;
	ck_assert_int_eq(dup3(epoll_copy, epoll_fd, O_CLOEXEC), epoll_fd);
}

static int exit_with_7(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void) usec;
	(void) userdata;
	return sd_event_exit(sd_event_source_get_event(source), 7);
}

START_TEST(failed_turn_does_not_end_the_loop)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sd_event *event = NULL;

	log_set_sink(mend_epoll, NULL);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(sd_event_add_time_relative(event, NULL, CLOCK_BOOTTIME, 1, 1, exit_with_7, NULL), 0);
	epoll_fd = sd_event_get_fd(event);
	epoll_copy = fcntl(epoll_fd, F_DUPFD_CLOEXEC, 0);
	ck_assert_int_eq(dup3(null, epoll_fd, O_CLOEXEC), epoll_fd);
	ck_assert_int_eq(daemon_loop(event), 7);
	ck_assert_int_eq(n_errors, 1);
	sd_event_unref(event);
	close(epoll_copy);
	close(null);
	log_set_sink(NULL, NULL);
}
END_TEST

static Suite *daemon_suite(void)
{
	Suite *s = suite_create("daemon");
	TCase *tc = tcase_create("daemon");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, standard_descriptors_are_open);
	tcase_add_test(tc, no_name_is_refused);
	tcase_add_test(tc, signals_are_settled_whatever_was_inherited);
	tcase_add_test(tc, orphans_come_to_us);
	tcase_add_test(tc, files_are_ours_alone);
	tcase_add_test(tc, limit_of_descriptors_is_raised_and_remembered);
	tcase_add_test(tc, signals_are_heard_by_phase);
	tcase_add_test(tc, failed_turn_does_not_end_the_loop);
	tcase_add_test(tc, signals_of_power_stop);
	tcase_add_test(tc, signals_that_mean_nothing_do_nothing);
	tcase_add_test(tc, signal_before_the_loop_is_not_lost);
	tcase_add_test(tc, systemd_is_told);
	tcase_add_test(tc, without_systemd_nothing_is_told);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(daemon_suite)
