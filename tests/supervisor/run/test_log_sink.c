/* SPDX-License-Identifier: MIT */
#include "run/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/usec.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

static struct log_sink *sink;

static void open_sink(int fd)
{
	struct log_sink_config config = { .fd = fd, .format = LOG_TEXT };

	ck_assert_int_eq(log_sink_new(&config, &sink), 0);
}

static void say(const char *message)
{
	log_sink_write(sink, &(struct log_line) { .level = LOG_INFO, .message = message });
}

/* All that is in a pipe or socket now. */
static size_t drain(int fd, char *buf, size_t size)
{
	size_t n = 0;
	ssize_t got;

	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while (n < size - 1 && (got = read(fd, buf + n, size - 1 - n)) > 0)
		n += (size_t) got;
	buf[n] = '\0';
	return n;
}

static usec_t now_boot(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (usec_t) ts.tv_sec * USEC_PER_SEC + (usec_t) ts.tv_nsec / NSEC_PER_USEC;
}

START_TEST(file_gets_the_lines)
{
	char *dir = test_dir_new();
	_cleanup_free_ char *path = test_dir_path(dir, "log"), *text = NULL;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	open_sink(fd);
	say("one");
	say("two");
	sink = log_sink_free(sink);
	text = test_dir_read(dir, "log", NULL);
	ck_assert_ptr_nonnull(strstr(text, "info one\n"));
	ck_assert_ptr_nonnull(strstr(text, "info two\n"));
	close(fd);
	test_dir_free(dir);
}
END_TEST

static char big[1024];

/* More than the pipe and the sink hold. @read_fd: nobody reads. */
static unsigned overfill(void)
{
	enum { LINES = 2000 };
	usec_t begin = now_boot();

	memset(big, 'x', sizeof(big) - 1);
	for (unsigned i = 0; i < LINES; i++)
		say(big);
	ck_assert_uint_lt(now_boot() - begin, 20 * USEC_PER_SEC);
	return LINES;
}

/* Reads with the loop going until nothing more comes; counts lines, and what was said to be
 * lost. */
static void read_all(sd_event *event, int fd, unsigned *ret_lines, unsigned *ret_lost)
{
	static char buf[4 * 1024 * 1024];
	size_t n = 0, before;

	*ret_lines = *ret_lost = 0;
	do {
		before = n;
		n += drain(fd, buf + n, sizeof(buf) - n);
		for (int i = 0; i < 4; i++)
			ck_assert_int_ge(sd_event_run(event, 0), 0);
	} while (n > before);
	for (char *line = buf, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *lost = strstr(line, " log lines were lost");

		if (strncmp(line + 28, "info xxx", 8) == 0) {
			++*ret_lines;
			ck_assert_int_eq(end - line, 28 + 5 + (int) sizeof(big) - 1);
		} else {
			ck_assert_ptr_nonnull(lost);
			*ret_lost += (unsigned) strtoul(strstr(line, "warning ") + 8, NULL, 10);
		}
	}
}

static void blocked_target(int read_fd, int write_fd)
{
	unsigned sent, lines, lost;
	sd_event *event;

	ck_assert_int_ge(sd_event_new(&event), 0);
	open_sink(write_fd);
	ck_assert_int_ge(log_sink_attach(sink, event), 0);
	sent = overfill();
	read_all(event, read_fd, &lines, &lost);
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_gt(lines, 0);
	ck_assert_uint_eq(lines + lost, sent);
	/* and the others go on as if nothing had been */
	say(big);
	read_all(event, read_fd, &lines, &lost);
	ck_assert_uint_eq(lines, 1);
	ck_assert_uint_eq(lost, 0);
	sink = log_sink_free(sink);
	sd_event_unref(event);
	close(read_fd);
	close(write_fd);
}

START_TEST(blocked_pipe_loses_lines_and_says_how_many)
{
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	blocked_target(fd[0], fd[1]);
}
END_TEST

START_TEST(blocked_socket_loses_lines_and_says_how_many)
{
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	blocked_target(fd[0], fd[1]);
}
END_TEST

START_TEST(stderr_of_others_stays_blocking)
{
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	open_sink(fd[1]);
	say("x");
	ck_assert(!(fcntl(fd[1], F_GETFL) & O_NONBLOCK));
	sink = log_sink_free(sink);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(closed_pipe_is_survived)
{
	int fd[2];

	(void) signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	open_sink(fd[1]);
	close(fd[0]);
	for (int i = 0; i < 100; i++)
		say("x");
	sink = log_sink_free(sink);
	close(fd[1]);
}
END_TEST

START_TEST(full_disk_and_no_descriptor_are_survived)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	open_sink(fd);
	say("x");
	say("y");
	sink = log_sink_free(sink);
	close(fd);
	open_sink(fd);
	say("x");
	sink = log_sink_free(sink);
}
END_TEST

/* ---- the journal ---- */

static int journal_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_uint_lt(strlen(path), sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
	return fd;
}

static void stream_of(int fd, char *buf, size_t n)
{
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	snprintf(buf, n, "%llu:%llu", (unsigned long long) st.st_dev, (unsigned long long) st.st_ino);
}

START_TEST(journal_is_used_when_stderr_is_its_stream)
{
	char *dir = test_dir_new(), stream[64], buf[4096];
	_cleanup_free_ char *path = test_dir_path(dir, "journal");
	struct log_sink_config config = { .format = LOG_TEXT, .journal_stream = stream, .journal_socket = path };
	int journal = journal_socket(path), fd[2];
	ssize_t n;

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	stream_of(fd[1], stream, sizeof(stream));
	config.fd = fd[1];
	ck_assert_int_eq(log_sink_new(&config, &sink), 0);
	log_sink_write(sink, &(struct log_line) { .level = LOG_ERR, .unit = "a.service", .message = "to the journal" });
	n = recv(journal, buf, sizeof(buf) - 1, 0);
	ck_assert_int_gt(n, 0);
	buf[n] = '\0';
	ck_assert_ptr_nonnull(strstr(buf, "MESSAGE=to the journal\n"));
	ck_assert_ptr_nonnull(strstr(buf, "SUPD_UNIT=a.service\n"));
	ck_assert_uint_eq(drain(fd[0], buf, sizeof(buf)), 0);
	sink = log_sink_free(sink);
	close(journal);
	close(fd[0]);
	close(fd[1]);
	test_dir_free(dir);
}
END_TEST

START_TEST(journal_that_is_not_our_stderr_is_left_alone)
{
	char buf[4096];
	struct log_sink_config config = { .format = LOG_TEXT, .journal_stream = "1:2" };
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	config.fd = fd[1];
	ck_assert_int_eq(log_sink_new(&config, &sink), 0);
	say("here");
	ck_assert_uint_gt(drain(fd[0], buf, sizeof(buf)), 0);
	ck_assert_ptr_nonnull(strstr(buf, "Z info here\n"));
	sink = log_sink_free(sink);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(journal_stream_without_its_socket_gets_prefixed_lines)
{
	char stream[64], buf[4096];
	struct log_sink_config config = { .format = LOG_TEXT, .journal_stream = stream,
					  .journal_socket = "/nonexistent/socket" };
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	stream_of(fd[1], stream, sizeof(stream));
	config.fd = fd[1];
	ck_assert_int_eq(log_sink_new(&config, &sink), 0);
	say("here");
	drain(fd[0], buf, sizeof(buf));
	ck_assert_str_eq(buf, "<6>here\n");
	sink = log_sink_free(sink);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(journal_that_does_not_read_blocks_nobody)
{
	char *dir = test_dir_new(), stream[64], buf[65536];
	_cleanup_free_ char *path = test_dir_path(dir, "journal");
	struct log_sink_config config = { .format = LOG_TEXT, .journal_stream = stream, .journal_socket = path };
	int journal = journal_socket(path), fd[2];
	bool is_told = false;
	ssize_t n;

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	stream_of(fd[1], stream, sizeof(stream));
	config.fd = fd[1];
	ck_assert_int_eq(log_sink_new(&config, &sink), 0);
	overfill();
	while ((n = recv(journal, buf, sizeof(buf), 0)) > 0)
		;
	say("again");
	while ((n = recv(journal, buf, sizeof(buf) - 1, 0)) > 0) {
		buf[n] = '\0';
		is_told |= strstr(buf, "log lines were lost") != NULL;
	}
	ck_assert(is_told);
	sink = log_sink_free(sink);
	close(journal);
	close(fd[0]);
	close(fd[1]);
	test_dir_free(dir);
}
END_TEST

static Suite *log_sink_suite(void)
{
	Suite *s = suite_create("log_sink");
	TCase *tc = tcase_create("log_sink");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, file_gets_the_lines);
	tcase_add_test(tc, blocked_pipe_loses_lines_and_says_how_many);
	tcase_add_test(tc, blocked_socket_loses_lines_and_says_how_many);
	tcase_add_test(tc, stderr_of_others_stays_blocking);
	tcase_add_test(tc, closed_pipe_is_survived);
	tcase_add_test(tc, full_disk_and_no_descriptor_are_survived);
	tcase_add_test(tc, journal_is_used_when_stderr_is_its_stream);
	tcase_add_test(tc, journal_that_is_not_our_stderr_is_left_alone);
	tcase_add_test(tc, journal_stream_without_its_socket_gets_prefixed_lines);
	tcase_add_test(tc, journal_that_does_not_read_blocks_nobody);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(log_sink_suite)
