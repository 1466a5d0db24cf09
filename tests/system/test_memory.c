/* SPDX-License-Identifier: MIT */
/* The real daemon, with memory that runs out at one allocation after the other in the course of each kind of
 * question: it goes on, and answers the next one; and what is left over at its end the sanitizers would tell. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "control/client.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"
#include "tests/system/failing_memory.h"

#define PATIENCE 60 /* s, for what never comes */
/* How many fail in a row. */
#define BURST 20
#define SHORTAGE 50

static struct {
	char *dir, *log;
	struct failing_memory *memory;
	pid_t pid;
	int ready;
} supd;

/* ---- the daemon ---- */

static void memory_map(void)
{
	char *path = test_dir_path(supd.dir, "memory");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(*supd.memory)), 0);
	supd.memory = mmap(NULL, sizeof(*supd.memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(supd.memory, MAP_FAILED);
	(void) setenv("FAILING_MEMORY", path, 1);
	(void) close(fd);
	free(path);
}

static void memory_fail(long skip, long n)
{
	atomic_store(&supd.memory->fail, 0);
	atomic_store(&supd.memory->skip, skip);
	atomic_store(&supd.memory->fail, n);
}

/* Were there as many allocations as that? */
static bool memory_failed(void)
{
	bool failed = atomic_load(&supd.memory->skip) < 0;

	memory_fail(0, 0);
	return failed;
}

static void units_write(void)
{
	test_dir_write_text(supd.dir, "units/job.service",
			    "[Service]\nExecStart=/bin/echo done\nEnvironment=A=1\nLoadCredential=x:/y\n");
	test_dir_write_text(supd.dir, "units/other.service",
			    "[Unit]\nRequires=job.service\nAfter=job.service\n[Service]\nExecStart=/bin/true\n"
			    "[Install]\nWantedBy=multi-user.target\n");
	test_dir_write_text(supd.dir, "units/bad.service", "[Service]\nExecStrat=/bin/true\n");
	test_dir_write_text(supd.dir, "units/job.timer", "[Timer]\nOnCalendar=hourly\n");
}

static void notify_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *path = test_dir_path(supd.dir, "ready");

	ck_assert_uint_lt(strlen(path), sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	supd.ready = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(supd.ready, (struct sockaddr *) &address, sizeof(address)), 0);
	(void) setenv("NOTIFY_SOCKET", path, 1);
	free(path);
}

static void setup(void)
{
	supd.dir = test_dir_new();
	supd.log = test_dir_path(supd.dir, "log");
	memory_map();
	notify_open();
	units_write();
}

static void supd_exec(void)
{
	char *program = test_build_path("supd"), *preload = test_build_path("tests/system/.libs/failing-memory.so");
	char arg[3][256], *options = NULL;
	int fd = open(supd.log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void) dup2(fd, STDOUT_FILENO);
	(void) dup2(fd, STDERR_FILENO);
	(void) snprintf(arg[0], sizeof(arg[0]), "--unit-path=%s/units", supd.dir);
	(void) snprintf(arg[1], sizeof(arg[1]), "--runtime-dir=%s/run", supd.dir);
	(void) snprintf(arg[2], sizeof(arg[2]), "--state-dir=%s/state", supd.dir);
	(void) setenv("LD_PRELOAD", preload, 1);
	/* A sanitizer would rather be the first, and has to let malloc() fail. */
	if (asprintf(&options, "%s:verify_asan_link_order=0:exitcode=99", getenv("ASAN_OPTIONS") ?: "") > 0)
		(void) setenv("ASAN_OPTIONS", options, 1);
	execl(program, program, arg[0], arg[1], arg[2], "--experimental=timers", "--log-format=text", (char *) NULL);
	_exit(127);
}

/* Returns when it is ready. */
static void supd_begin(void)
{
	struct pollfd wait = { .fd = supd.ready, .events = POLLIN };
	char message[1024];

	memory_fail(0, 0);
	supd.pid = fork();
	if (supd.pid == 0)
		supd_exec();
	do {
		ssize_t n;

		ck_assert_int_gt(poll(&wait, 1, PATIENCE * 1000), 0);
		n = recv(supd.ready, message, sizeof(message) - 1, 0);
		ck_assert_int_ge(n, 0);
		message[n] = '\0';
	} while (!strstr(message, "READY=1"));
}

/* That it was killed, and what a sanitizer found, is a mistake. */
static void supd_end(void)
{
	int wstatus;

	memory_fail(0, 0);
	(void) kill(supd.pid, SIGTERM);
	ck_assert_int_eq(waitpid(supd.pid, &wstatus, 0), supd.pid);
	supd.pid = 0;
	ck_assert_msg(wstatus == 0, "supd ended with wait status %#x", (unsigned) wstatus);
}

static void teardown(void)
{
	if (supd.pid > 0)
		(void) kill(supd.pid, SIGKILL);
	(void) close(supd.ready);
	(void) munmap(supd.memory, sizeof(*supd.memory));
	free(supd.log);
	supd.dir = test_dir_free(supd.dir);
}

/* Each allocation is one too many for every day: $SUPD_MEMORY_ALL. */
static long step_of(long usual)
{
	return getenv("SUPD_MEMORY_ALL") ? 1 : usual;
}

/* ---- questions ---- */

static struct {
	const char *method;
	long n;
} now_asked;

static void on_alarm(int signal)
{
	static char said[256];

	(void) signal;
	(void) snprintf(said, sizeof(said), "# %s has no answer when allocation %ld fails\n", now_asked.method,
			now_asked.n);
	(void) !write(STDERR_FILENO, said, strlen(said));
	abort();
}

/* Each kind, with arguments that make it work. */
static struct control_question *ask(struct control_client *c, const char *method)
{
	static const char *const keys[] = { NULL };

	if (str_equal(method, "ListUnits"))
		return control_client_ask_keys(c, method, keys, "");
	if (str_equal(method, "ListTable"))
		return control_client_ask_keys(c, method, keys, "sss", "timer", "units", "");
	if (str_equal(method, "GetUnit") || str_equal(method, "ShowUnit") || str_equal(method, "CatUnit") ||
	    str_equal(method, "GetEnvironment") || str_equal(method, "ResetUnit"))
		return control_client_ask(c, method, "s", "job.service");
	if (str_equal(method, "TriggerUnit"))
		return control_client_ask(c, method, "sb", "job.timer", 1);
	if (str_equal(method, "StartUnit") || str_equal(method, "StopUnit") || str_equal(method, "RestartUnit") ||
	    str_equal(method, "EnableUnit") || str_equal(method, "DisableUnit") || str_equal(method, "MaskUnit") ||
	    str_equal(method, "UnmaskUnit"))
		return control_client_ask(c, method, "sb", "other.service", 1);
	if (str_equal(method, "SkipMoment") || str_equal(method, "UnskipMoment"))
		return control_client_ask(c, method, "st", "job.timer", (uint64_t) 0);
	if (str_equal(method, "SetExperimental"))
		return control_client_ask(c, method, "sbb", "timers", 1, 1);
	if (str_equal(method, "RunTransient"))
		return control_client_ask(c, method, "sssb", "passing.service", "[Service]\nExecStart=/bin/true\n", "", 1);
	if (str_equal(method, "ReadOutput"))
		return control_client_ask(c, method, "sstttb", "job.service", "", (uint64_t) 0, UINT64_MAX, (uint64_t) 10, 0);
	if (str_equal(method, "ReadEvents"))
		return control_client_ask(c, method, "stbas", "", (uint64_t) 0, 0, 0);
	if (str_equal(method, "ListHistory"))
		return control_client_ask(c, method, "sssttttas", "", "", "", (uint64_t) 0, UINT64_MAX, (uint64_t) 100,
					  (uint64_t) 0, 0);
	if (str_equal(method, "GetStatistics"))
		return control_client_ask(c, method, "ttas", (uint64_t) 0, UINT64_MAX, 0);
	return control_client_ask(c, method, "");
}

static struct control_client *client_new(struct control_reply *reterr)
{
	char *run = test_dir_path(supd.dir, "run");
	const struct control_place place = { .runtime_dir = run };
	struct control_client *c = NULL;

	(void) control_client_new(&place, &c, reterr);
	free(run);
	return c;
}

/* Its status, CONTROL_NO_DAEMON without a connection; whatever it is, there is an answer. */
static int status_of(struct control_client *c, const char *method)
{
	struct control_reply reply = { .status = CONTROL_NO_DAEMON };
	int status;

	(void) alarm(PATIENCE);
	if (c)
		control_client_wait(c, ask(c, method), &reply);
	(void) alarm(0);
	status = reply.status;
	if (getenv("SUPD_MEMORY_SAY"))
		(void) fprintf(stderr, "# %s: %d %s\n", method, status, reply.message ? reply.message : "");
	control_reply_done(&reply);
	return status;
}

/* Over a connection of its own. */
static int question(const char *method)
{
	struct control_reply refused = { 0 };
	struct control_client *c = client_new(&refused);
	int status = status_of(c, method);

	if (!c && getenv("SUPD_MEMORY_SAY"))
		(void) fprintf(stderr, "# %s\n", refused.message);
	control_reply_done(&refused);
	control_client_free(c);
	return status;
}

/* Over one that stands when memory begins to fail. */
static void question_with_failures(const char *method, long n, long burst)
{
	struct control_reply refused = { 0 };
	struct control_client *c = client_new(&refused);

	(void) status_of(c, "GetVersion");
	memory_fail(n, burst);
	(void) status_of(c, method);
	control_reply_done(&refused);
	control_client_free(c);
}

static const char *const methods[] = {
	"GetVersion", "ListUnits", "GetUnit", "ShowUnit", "CatUnit", "GetEnvironment", "StartUnit", "StopUnit",
	"RestartUnit", "EnableUnit", "DisableUnit", "MaskUnit", "UnmaskUnit", "TriggerUnit", "ResetUnit", "SkipMoment",
	"UnskipMoment", "ReadEvents", "Reload", "ListTable", "ListExperimental", "SetExperimental", "RunTransient",
	"Pause", "Resume", "ReadOutput", "ListHistory", "GetStatistics",
};

static void is_alive(const char *during, long n)
{
	int status = question("GetVersion"), wstatus;

	if (status == CONTROL_OK)
		return;
	if (waitpid(supd.pid, &wstatus, WNOHANG) == 0)
		ck_abort_msg("%s: no answer (%d) since allocation %ld failed", during, status, n);
	supd.pid = 0;
	ck_abort_msg("%s: supd ended (wait status %#x) when allocation %ld failed", during, (unsigned) wstatus, n);
}

static void ask_with_failures(const char *method, long burst)
{
	bool has_failed = true;

	for (long n = 0; has_failed; n += step_of(11)) {
		now_asked.method = method;
		now_asked.n = n;
		question_with_failures(method, n, burst);
		has_failed = memory_failed();
		is_alive(method, n);
	}
}

/* One allocation after the other is not for this: sd-bus, which takes no care there, is asked only where
 * there is memory. */
START_TEST(connection_without_memory_is_refused)
{
	(void) signal(SIGALRM, on_alarm);
	supd_begin();
	for (unsigned i = 0; i < 5; i++) {
		now_asked.method = "GetVersion";
		memory_fail(i, SHORTAGE);
		(void) question("GetVersion");
		ck_assert(memory_failed());
		is_alive("a connection", i);
	}
	supd_end();
}
END_TEST

START_TEST(running_supd_outlives_failures)
{
	(void) signal(SIGALRM, on_alarm);
	supd_begin();
	for (size_t i = 0; i < ELEMENTS(methods); i++)
		ask_with_failures(methods[i], _i == 0 ? 1 : BURST);
	/* Nothing of it stays: with memory, all is as ever. */
	(void) question("Resume");
	ck_assert_int_eq(question("Reload"), CONTROL_OK);
	ck_assert_int_eq(question("StartUnit"), CONTROL_OK);
	supd_end();
}
END_TEST

static Suite *memory_suite(void)
{
	Suite *s = suite_create("memory");
	TCase *tc = tcase_create("memory");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 100);
	tcase_add_test(tc, connection_without_memory_is_refused);
	tcase_add_loop_test(tc, running_supd_outlives_failures, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(memory_suite)
