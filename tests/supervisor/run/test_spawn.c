/* SPDX-License-Identifier: MIT */
/* What a process finds when it begins, seen from inside; and where a start can fail. */
#include "run/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "service/exec_limits.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/run/scene.h"

static struct scene *scene;

static void set_up(void)
{
	/* As in a daemon: before there is a world. */
	(void) signal(SIGPIPE, SIG_IGN);
	(void) signal(SIGXFSZ, SIG_IGN);
	(void) signal(SIGHUP, SIG_IGN);
	scene = scene_new(NULL);
}

static void tear_down(void)
{
	scene = scene_free(scene);
}

static void expect_value(const char *key, const char *value)
{
	const char *got = scene_value(scene, key);

	ck_assert_msg(got, "no line '%s' in the report", key);
	ck_assert_str_eq(got, value);
}

/* ---- what it is given ---- */

START_TEST(child_sees_three_descriptors)
{
	/* One that somebody forgot to mark. */
	int leak = open("/dev/null", O_RDONLY);

	ck_assert_int_ge(leak, 3);
	scene_report(scene, 1);
	close(leak);
	expect_value("fd0", "/dev/null blocking");
	expect_value("fd1", "pipe blocking");
	expect_value("fd2", "pipe blocking");
	for (int fd = 3; fd < 1024; fd++) {
		char key[16];

		snprintf(key, sizeof(key), "fd%d", fd);
		ck_assert_msg(!scene_value(scene, key), "descriptor %d leaked", fd);
	}
}
END_TEST

START_TEST(child_has_default_signals)
{
	sigset_t all;

	sigfillset(&all);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &all, NULL), 0);
	scene_report(scene, 1);
	expect_value("SigBlk", "0000000000000000");
	expect_value("SigIgn", "0000000000000000");
}
END_TEST

START_TEST(child_leads_a_session)
{
	scene_report(scene, 1);
	expect_value("leader", "yes");
}
END_TEST

START_TEST(environment_is_made_from_nothing)
{
	setenv("LD_PRELOAD_OF_OURS", "x", 1);
	scene_report(scene, 1);
	ck_assert_ptr_null(scene_value(scene, "env LD_PRELOAD_OF_OURS"));
	ck_assert_ptr_nonnull(scene_value(scene, "env PATH"));
	expect_value("env SUPD_CAUSE", "manual");
	ck_assert_ptr_nonnull(scene_value(scene, "env INVOCATION_ID"));
}
END_TEST

START_TEST(arguments_arrive_as_they_are)
{
	static const char *const words[] = { "", "a b", "$HOME", "\"", NULL };

	ck_assert_int_eq(scene_spawn(scene, 1, words), 0);
	scene_expect(scene, ANSWER_SPAWNED);
	scene_expect(scene, ANSWER_EXITED);
	expect_value("arg1", "");
	expect_value("arg2", "a b");
	expect_value("arg3", "$HOME");
	expect_value("arg4", "\"");
	ck_assert_ptr_null(scene_value(scene, "arg5"));
}
END_TEST

START_TEST(umask_and_nice_are_set)
{
	(void) umask(0077);
	scene->exec.umask = 0027;
	scene->exec.nice = 7;
	scene->exec.has_nice = true;
	scene_report(scene, 1);
	expect_value("umask", "0027");
	expect_value("nice", "7");
}
END_TEST

START_TEST(sigpipe_is_ignored_if_asked_for)
{
	char expected[32];

	scene->exec.ignore_sigpipe = true;
	snprintf(expected, sizeof(expected), "%016x", 1U << (SIGPIPE - 1));
	scene_report(scene, 1);
	expect_value("SigIgn", expected);
}
END_TEST

START_TEST(limits_are_set)
{
	struct exec_rlimit list[] = {
		{ RLIMIT_NOFILE, 77, 99 }, { RLIMIT_CORE, 0, 0 }, { RLIMIT_STACK, 1 << 20, 8 << 20 },
		{ RLIMIT_FSIZE, 4096, RLIM_INFINITY },
	};
	struct exec_limits limits = { .rlimit = list, .n_rlimits = ELEMENTS(list) };

	scene->exec.limits = &limits;
	scene_report(scene, 1);
	expect_value("limit-nofile", "77 99");
	expect_value("limit-core", "0 0");
	expect_value("limit-stack", "1048576 8388608");
	ck_assert_ptr_nonnull(strstr(scene_value(scene, "limit-fsize"), "4096 "));
}
END_TEST

/* Beyond a hard limit goes nobody without rights: as near as may be. */
START_TEST(a_limit_that_is_out_of_reach_is_approached)
{
	struct exec_rlimit list[] = { { RLIMIT_NOFILE, 500, 600 } };
	struct exec_limits limits = { .rlimit = list, .n_rlimits = ELEMENTS(list) };
	struct rlimit ours = { 200, 300 };

	if (geteuid() == 0)
		return;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &ours), 0);
	scene->exec.limits = &limits;
	scene_report(scene, 1);
	expect_value("limit-nofile", "300 300");
}
END_TEST

START_TEST(limits_are_not_for_commands_with_all_rights)
{
	struct exec_rlimit list[] = { { RLIMIT_NOFILE, 77, 99 } };
	struct exec_limits limits = { .rlimit = list, .n_rlimits = ELEMENTS(list), .has_timer_slack = true };

	limits.timer_slack = 4242;
	scene->exec.limits = &limits;
	scene->is_unlimited = true;
	scene_report(scene, 1);
	expect_value("timer-slack", "4242");
	ck_assert_str_ne(scene_value(scene, "limit-nofile"), "77 99");
}
END_TEST

START_TEST(scheduling_is_set)
{
	unsigned long first = 1;
	struct exec_limits limits = {
		.has_oom_score_adjust = true, .oom_score_adjust = 321,
		.has_io = true, .io_class = IOPRIO_CLASS_BE, .io_priority = 7,
		.has_scheduler = true, .scheduler = SCHED_BATCH, .scheduler_priority = 9, .scheduler_reset_on_fork = true,
		.has_timer_slack = true, .timer_slack = 123456,
		.has_coredump_filter = true, .coredump_filter = 0x1,
		.cpus = { .word = &first, .n_words = 1 },
	};

	scene->exec.limits = &limits;
	scene_report(scene, 1);
	expect_value("oom-score-adjust", "321");
	expect_value("io", "best-effort 7");
	expect_value("scheduler", "batch 0 reset");
	expect_value("timer-slack", "123456");
	expect_value("cpus", "0");
}
END_TEST

/* It is set right after the exec, which a short one need not live to see. */
START_TEST(coredump_filter_is_set)
{
	struct exec_limits limits = { .has_coredump_filter = true, .coredump_filter = 0x41 };
	char path[64], text[32] = "";
	struct answer a;
	int fd;

	scene->exec.limits = &limits;
	ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { "stubborn", NULL }), 0);
	a = scene_expect(scene, ANSWER_SPAWNED);
	snprintf(path, sizeof(path), "/proc/%d/coredump_filter", (int) a.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	ck_assert_str_eq(text, "00000041\n");
	ck_assert_int_eq(scene->world->kill_main(scene->world->ctx, 1, SIGKILL), 0);
	scene_expect(scene, ANSWER_EXITED);
	/* and ours is as it was */
	fd = open("/proc/self/coredump_filter", O_RDONLY | O_CLOEXEC);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	ck_assert_str_ne(text, "00000041\n");
}
END_TEST

START_TEST(realtime_wants_rights)
{
	struct exec_limits limits = { .has_scheduler = true, .scheduler = SCHED_FIFO, .scheduler_priority = 3 };
	struct rlimit none = { 0 };

	ck_assert_int_eq(setrlimit(RLIMIT_RTPRIO, &none), 0);
	scene->exec.limits = &limits;
	if (geteuid() == 0) {
		scene_report(scene, 1);
		expect_value("scheduler", "fifo 3");
		return;
	}
	ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { "exit", "0", NULL }), 0);
	ck_assert_int_eq(scene_expect(scene, ANSWER_SPAWN_FAILED).step, EXEC_STEP_SCHEDULER);
}
END_TEST

START_TEST(a_nice_level_out_of_reach_is_approached)
{
	scene->exec.nice = -20;
	scene->exec.has_nice = true;
	scene_report(scene, 1);
	ck_assert_int_le(atoi(scene_value(scene, "nice")), geteuid() == 0 ? -20 : getpriority(PRIO_PROCESS, 0));
}
END_TEST

START_TEST(a_cpu_that_is_not_there_is_told)
{
	unsigned long word[128] = { [127] = 1UL << 63 };
	struct exec_limits limits = { .cpus = { .word = word, .n_words = 128 } };
	struct answer a;

	scene->exec.limits = &limits;
	ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { "exit", "0", NULL }), 0);
	a = scene_expect(scene, ANSWER_SPAWN_FAILED);
	ck_assert_int_eq(a.step, EXEC_STEP_CPU_AFFINITY);
	ck_assert_int_eq(a.error, EINVAL);
}
END_TEST

START_TEST(memory_policy_is_set)
{
	struct exec_limits limits = { .has_numa_policy = true, .numa_policy = MPOL_BIND, .all_numa_nodes = true };
	char bind[16];

	scene->exec.limits = &limits;
	snprintf(bind, sizeof(bind), "%d", MPOL_BIND);
	scene_report(scene, 1);
	if (scene_value(scene, "numa"))
		expect_value("numa", bind);
}
END_TEST

#ifdef __x86_64__
START_TEST(personality_is_set)
{
	struct exec_limits limits = { .has_personality = true, .personality = PER_LINUX32 };

	scene->exec.limits = &limits;
	scene_report(scene, 1);
	expect_value("personality", "8");
}
END_TEST
#endif

START_TEST(system_services_start_at_the_root)
{
	ck_assert_int_eq(chdir("/tmp"), 0);
	scene_report(scene, 1);
	expect_value("cwd", "/");
}
END_TEST

START_TEST(working_directory_is_entered)
{
	scene->exec.working_directory = scene->dir;
	scene_report(scene, 1);
	expect_value("cwd", scene->dir);
}
END_TEST

START_TEST(optional_working_directory_may_be_missing)
{
	scene->exec.working_directory = "/nonexistent/folder";
	scene->exec.working_directory_optional = true;
	scene_report(scene, 1);
	expect_value("cwd", "/");
}
END_TEST

START_TEST(bare_names_are_searched)
{
	static const char *words[] = { "true", NULL };
	struct spawn_request request = {
		.token = 1, .unit = "x.service", .spec = &scene->spec, .run = &scene->run, .phase = EXEC_START,
		.command = &scene->command,
	};

	scene->command = (struct exec_command) { .path = "true", .argv = words };
	ck_assert_int_eq(scene->world->spawn(scene->world->ctx, &request), 0);
	scene_expect(scene, ANSWER_SPAWNED);
	ck_assert_int_eq(scene_expect(scene, ANSWER_EXITED).wstatus, 0);
}
END_TEST

START_TEST(environment_files_are_read)
{
	char path[512], pattern[512];
	struct environment_file files[2] = { { .path = pattern }, { .path = "/nonexistent", .is_optional = true } };

	test_dir_write_text(scene->dir, "a.env", "FROM_FILE=one two\n# no\nOTHER='x'\n");
	test_dir_write_text(scene->dir, "b.env", "OTHER=y\n");
	snprintf(path, sizeof(path), "%s/a.env", scene->dir);
	snprintf(pattern, sizeof(pattern), "%s/?.env", scene->dir);
	scene->exec.environment_file = files;
	scene->exec.n_environment_files = 2;
	scene_report(scene, 1);
	expect_value("env FROM_FILE", "one two");
	expect_value("env OTHER", "y");
}
END_TEST

/* ---- who it becomes; a test run by a person can become nobody else ---- */

static void no_rights_expected(void)
{
	struct answer a;

	ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { "exit", "0", NULL }), 0);
	a = scene_expect(scene, ANSWER_SPAWN_FAILED);
	ck_assert_int_eq(a.step, EXEC_STEP_USER);
	ck_assert_int_eq(a.error, EPERM);
}

/* Somebody whom the one who runs the test is not. */
static struct passwd *another(void)
{
	struct passwd *entry = getpwnam("nobody");

	if (!entry || entry->pw_uid == geteuid())
		entry = getpwnam("daemon");
	ck_assert_ptr_nonnull(entry);
	return entry;
}

/* The probe lies where another user may not be able to go. */
static char *probe_for_all(void)
{
	_cleanup_free_ char *probe = test_build_path("tests/supervisor/run/probe");
	char *bytes, *path = test_dir_path(scene->dir, "probe");
	size_t n;

	bytes = test_dir_read("/", probe + 1, &n);
	test_dir_write(scene->dir, "probe", bytes, n);
	free(bytes);
	ck_assert_int_eq(chmod(path, 0755), 0);
	ck_assert_int_eq(chmod(scene->dir, 0755), 0);
	return path;
}

static void report_as_other(void)
{
	_cleanup_free_ char *probe = probe_for_all();

	ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { probe, NULL }), 0);
	scene_expect(scene, ANSWER_SPAWNED);
	ck_assert_int_eq(scene_expect(scene, ANSWER_EXITED).wstatus, 0);
}

START_TEST(user_is_changed_for_good)
{
	struct passwd *nobody = another();
	char expected[64];

	scene->exec.user = nobody->pw_name;
	if (geteuid() != 0) {
		no_rights_expected();
		return;
	}
	report_as_other();
	snprintf(expected, sizeof(expected), "%u %u %u", nobody->pw_uid, nobody->pw_uid, nobody->pw_uid);
	expect_value("uid", expected);
	snprintf(expected, sizeof(expected), "%u %u %u", nobody->pw_gid, nobody->pw_gid, nobody->pw_gid);
	expect_value("gid", expected);
	snprintf(expected, sizeof(expected), "%u", nobody->pw_gid);
	expect_value("groups", expected);
	expect_value("env USER", nobody->pw_name);
}
END_TEST

static bool has_number(const char *list, unsigned number)
{
	for (char *end; *list; list = end) {
		if (strtoul(list, &end, 10) == number)
			return true;
		if (end == list)
			break;
	}
	return false;
}

START_TEST(a_command_can_keep_the_daemons_user)
{
	struct passwd *nobody = another();
	char expected[64];

	if (geteuid() != 0)
		return;
	scene->exec.user = nobody->pw_name;
	scene->exec.group = "mail";
	scene->keeps_user = true;
	scene_report(scene, 1);
	snprintf(expected, sizeof(expected), "%u %u %u", geteuid(), geteuid(), geteuid());
	expect_value("uid", expected);
	snprintf(expected, sizeof(expected), "%u %u %u", getegid(), getegid(), getegid());
	expect_value("gid", expected);
	expect_value("env USER", nobody->pw_name);
}
END_TEST

START_TEST(supplementary_groups_are_added)
{
	unsigned mail, daemon_group;
	const char *groups;

	ck_assert_ptr_nonnull(getgrnam("mail"));
	ck_assert_ptr_nonnull(getgrnam("daemon"));
	mail = getgrnam("mail")->gr_gid;
	daemon_group = getgrnam("daemon")->gr_gid;
	scene->exec.user = another()->pw_name;
	scene->exec.group = "mail";
	scene->exec.supplementary_groups = (const char *const[]) { "daemon", NULL };
	if (geteuid() != 0) {
		no_rights_expected();
		return;
	}
	report_as_other();
	groups = scene_value(scene, "groups");
	ck_assert_ptr_nonnull(groups);
	ck_assert_msg(has_number(groups, mail) && has_number(groups, daemon_group), "groups are %s", groups);
	ck_assert_int_eq(atoi(scene_value(scene, "gid")), (int) mail);
}
END_TEST

START_TEST(own_user_needs_no_rights)
{
	struct passwd *self = getpwuid(geteuid());
	char number[32];

	snprintf(number, sizeof(number), "%u", (unsigned) geteuid());
	scene->exec.user = self ? self->pw_name : number;
	scene_report(scene, 1);
	ck_assert_int_eq(atoi(scene_value(scene, "uid")), (int) geteuid());
}
END_TEST

START_TEST(output_belongs_to_the_user)
{
	if (geteuid() != 0)
		return;
	scene->exec.user = "nobody";
	ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { "/bin/sh", "-c", "echo reopened > /dev/stderr", NULL }),
			 0);
	scene_expect(scene, ANSWER_SPAWNED);
	ck_assert_int_eq(scene_expect(scene, ANSWER_EXITED).wstatus, 0);
	ck_assert(scene_has_line(scene, "stderr", "reopened"));
}
END_TEST

START_TEST(directory_is_entered_as_the_user)
{
	struct answer a;
	char path[512];

	if (geteuid() != 0)
		return;
	/* root may enter it, nobody may not */
	snprintf(path, sizeof(path), "%s/private", scene->dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(chmod(scene->dir, 0755), 0);
	scene->exec.user = "nobody";
	scene->exec.working_directory = path;
	ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { "/bin/true", NULL }), 0);
	a = scene_expect(scene, ANSWER_SPAWN_FAILED);
	ck_assert_int_eq(a.step, EXEC_STEP_CHDIR);
	ck_assert_int_eq(a.error, EACCES);
}
END_TEST

START_TEST(home_is_the_users)
{
	struct passwd *self = getpwuid(geteuid());
	char cwd[4096];

	if (!self)
		return;
	scene->exec.working_directory = "~";
	if (!realpath(self->pw_dir, cwd)) {
		ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { "/bin/true", NULL }), 0);
		ck_assert_int_eq(scene_expect(scene, ANSWER_SPAWN_FAILED).step, EXEC_STEP_CHDIR);
		return;
	}
	scene_report(scene, 1);
	expect_value("cwd", cwd);
}
END_TEST

/* ---- where a start can fail ---- */

static const struct failure {
	const char *path; /* below the scene's folder, if relative */
	const char *user, *group, *directory, *environment_file;
	enum exec_step step;
	int error;
} failures[] = {
	{ .path = "/nonexistent/program", .step = EXEC_STEP_EXEC, .error = ENOENT },
	{ .path = "/etc/passwd/program", .step = EXEC_STEP_EXEC, .error = ENOTDIR },
	{ .path = "/etc", .step = EXEC_STEP_EXEC, .error = EACCES },
	{ .path = "/etc/passwd", .step = EXEC_STEP_EXEC, .error = EACCES },
	{ .path = "./text", .step = EXEC_STEP_EXEC, .error = ENOEXEC },
	{ .path = "./script", .step = EXEC_STEP_EXEC, .error = ENOENT },
	{ .path = "/bin/true", .user = "no-such-user", .step = EXEC_STEP_USER, .error = ESRCH },
	{ .path = "/bin/true", .user = "4294967295", .step = EXEC_STEP_USER, .error = ESRCH },
	{ .path = "/bin/true", .user = "-1", .step = EXEC_STEP_USER, .error = ESRCH },
	{ .path = "/bin/true", .user = "65535", .step = EXEC_STEP_USER, .error = ESRCH },
	{ .path = "/bin/true", .group = "no-such-group", .step = EXEC_STEP_GROUP, .error = ESRCH },
	{ .path = "/bin/true", .directory = "/nonexistent", .step = EXEC_STEP_CHDIR, .error = ENOENT },
	{ .path = "/bin/true", .directory = "/etc/passwd", .step = EXEC_STEP_CHDIR, .error = ENOTDIR },
	{ .path = "/bin/true", .environment_file = "/nonexistent", .step = EXEC_STEP_ENVIRONMENT, .error = ENOENT },
	{ .path = "/bin/true", .environment_file = "/etc", .step = EXEC_STEP_ENVIRONMENT, .error = EISDIR },
};

START_TEST(failed_step_is_told)
{
	const struct failure *f = &failures[_i];
	struct environment_file file = { .path = f->environment_file };
	char path[512];
	struct answer a;

	test_dir_write_text(scene->dir, "text", "not a program\n");
	test_dir_write_text(scene->dir, "script", "#!/nonexistent/interpreter\n");
	snprintf(path, sizeof(path), "%s/text", scene->dir);
	ck_assert_int_eq(chmod(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/script", scene->dir);
	ck_assert_int_eq(chmod(path, 0755), 0);
	snprintf(path, sizeof(path), "%s%s", f->path[0] == '.' ? scene->dir : "", f->path[0] == '.' ? f->path + 1 : f->path);
	scene->exec.user = f->user;
	scene->exec.group = f->group;
	scene->exec.working_directory = f->directory;
	scene->exec.environment_file = &file;
	scene->exec.n_environment_files = f->environment_file ? 1 : 0;
	ck_assert_int_eq(scene_spawn(scene, 1, (const char *const[]) { path, NULL }), 0);
	a = scene_expect(scene, ANSWER_SPAWN_FAILED);
	ck_assert_msg(a.step == f->step && a.error == f->error, "%s: step %s, %s", f->path, exec_step_to_string(a.step),
		      strerror(a.error));
	/* Nothing remains of the attempt. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(too_many_arguments_are_told)
{
	const char *words[3] = { "/bin/true", NULL, NULL };
	char *huge = malloc(4 * 1024 * 1024);
	struct answer a;

	ck_assert_ptr_nonnull(huge);
	memset(huge, 'x', 4 * 1024 * 1024 - 1);
	huge[4 * 1024 * 1024 - 1] = '\0';
	words[1] = huge;
	ck_assert_int_eq(scene_spawn(scene, 1, words), 0);
	free(huge);
	a = scene_expect(scene, ANSWER_SPAWN_FAILED);
	ck_assert_int_eq(a.step, EXEC_STEP_EXEC);
	ck_assert_int_eq(a.error, E2BIG);
}
END_TEST

static Suite *spawn_suite(void)
{
	Suite *s = suite_create("spawn");
	TCase *given = tcase_create("given"), *identity = tcase_create("identity"), *failing = tcase_create("failures");
	TCase *all[] = { given, identity, failing };

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		tcase_add_checked_fixture(all[i], set_up, tear_down);
		tcase_set_timeout(all[i], 60);
		suite_add_tcase(s, all[i]);
	}
	tcase_add_test(given, child_sees_three_descriptors);
	tcase_add_test(given, child_has_default_signals);
	tcase_add_test(given, child_leads_a_session);
	tcase_add_test(given, environment_is_made_from_nothing);
	tcase_add_test(given, arguments_arrive_as_they_are);
	tcase_add_test(given, umask_and_nice_are_set);
	tcase_add_test(given, sigpipe_is_ignored_if_asked_for);
	tcase_add_test(given, limits_are_set);
	tcase_add_test(given, a_limit_that_is_out_of_reach_is_approached);
	tcase_add_test(given, limits_are_not_for_commands_with_all_rights);
	tcase_add_test(given, scheduling_is_set);
	tcase_add_test(given, coredump_filter_is_set);
	tcase_add_test(given, realtime_wants_rights);
	tcase_add_test(given, a_nice_level_out_of_reach_is_approached);
	tcase_add_test(given, a_cpu_that_is_not_there_is_told);
	tcase_add_test(given, memory_policy_is_set);
#ifdef __x86_64__
	tcase_add_test(given, personality_is_set);
#endif
	tcase_add_test(given, system_services_start_at_the_root);
	tcase_add_test(given, working_directory_is_entered);
	tcase_add_test(given, optional_working_directory_may_be_missing);
	tcase_add_test(given, bare_names_are_searched);
	tcase_add_test(given, environment_files_are_read);
	tcase_add_test(identity, user_is_changed_for_good);
	tcase_add_test(identity, a_command_can_keep_the_daemons_user);
	tcase_add_test(identity, supplementary_groups_are_added);
	tcase_add_test(identity, own_user_needs_no_rights);
	tcase_add_test(identity, output_belongs_to_the_user);
	tcase_add_test(identity, directory_is_entered_as_the_user);
	tcase_add_test(identity, home_is_the_users);
	tcase_add_loop_test(failing, failed_step_is_told, 0, ELEMENTS(failures));
	tcase_add_test(failing, too_many_arguments_are_told);
	return s;
}

TEST_MAIN(spawn_suite)
