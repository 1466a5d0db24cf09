/* SPDX-License-Identifier: MIT */
#include "tests/supervisor/run/scene.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "run/process.h"
#include "store/atomic_file.h"
#include "tests/lib/test_dir.h"

extern char **environ;

/* ---- recording ---- */

static struct answer *record(struct scene *s, enum answer_kind kind, const struct supd_now *now)
{
	struct answer *a = &s->answer[s->n_answers++];

	ck_assert_uint_lt(s->n_answers, ELEMENTS(s->answer));
	*a = (struct answer) { .kind = kind, .now = *now };
	return a;
}

static void on_wake(void *userdata, const struct supd_now *now, enum supd_clock clock)
{
	record(userdata, ANSWER_WAKE, now)->clock = clock;
}

static void on_spawned(void *userdata, const struct supd_now *now, world_token token, pid_t pid)
{
	struct answer *a = record(userdata, ANSWER_SPAWNED, now);

	a->token = token;
	a->pid = pid;
}

static void on_spawn_failed(void *userdata, const struct supd_now *now, world_token token, enum exec_step step,
			    int error)
{
	struct answer *a = record(userdata, ANSWER_SPAWN_FAILED, now);

	a->token = token;
	a->step = step;
	a->error = error;
}

static void on_exited(void *userdata, const struct supd_now *now, world_token token,
		      const struct process_end *end)
{
	struct answer *a = record(userdata, ANSWER_EXITED, now);

	a->token = token;
	a->wstatus = end->wstatus;
	a->cpu = end->cpu;
	a->peak_memory = end->peak_memory;
}

static void on_tree_empty(void *userdata, const struct supd_now *now, world_token token)
{
	record(userdata, ANSWER_TREE_EMPTY, now)->token = token;
}

static void on_saved(void *userdata, const struct supd_now *now, const char *plugin, uint64_t ticket, int result)
{
	struct answer *a = record(userdata, ANSWER_SAVED, now);

	ck_assert_str_eq(plugin, "timer");
	a->ticket = ticket;
	a->result = result;
}

/* Others on this machine may set the clock, too. */
static void on_clock_jump(void *userdata, const struct supd_now *now, int64_t delta)
{
	struct scene *s = userdata;

	(void) delta;
	s->n_jumps++;
	if (s->wants_jumps)
		record(s, ANSWER_CLOCK_JUMP, now);
}

static void on_zone_change(void *userdata, const struct supd_now *now)
{
	record(userdata, ANSWER_ZONE_CHANGE, now);
}

static void on_line(void *userdata, const struct log_line *line)
{
	struct scene *s = userdata;
	struct scene_line *l;

	s->line = reallocarray(s->line, s->n_lines + 1, sizeof(*s->line));
	ck_assert_ptr_nonnull(s->line);
	l = &s->line[s->n_lines++];
	l->unit = strdup(line->unit ? line->unit : "");
	l->stream = strdup(line->stream ? line->stream : "");
	l->message = strdup(line->message);
	l->level = line->level;
	l->has_run = line->run_id;
}

/* ---- life ---- */

struct scene *scene_new(const struct scene_options *options)
{
	static const struct scene_options defaults;
	static const char *unit_dirs[2];
	struct scene *s = calloc(1, sizeof(*s));
	struct world_events events = {
		.wake = on_wake,
		.spawned = on_spawned,
		.spawn_failed = on_spawn_failed,
		.exited = on_exited,
		.tree_empty = on_tree_empty,
		.saved = on_saved,
		.clock_jump = on_clock_jump,
		.zone_change = on_zone_change,
	};
	struct world_linux_config config = { .unit_dirs = unit_dirs };
	char why[256] = "";
	sigset_t mask;

	ck_assert_ptr_nonnull(s);
	if (!options)
		options = &defaults;
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
	s->dir = test_dir_new();
	unit_dirs[0] = s->dir;
	s->state_dir = state_dir_open(s->dir, why, sizeof(why));
	ck_assert_msg(s->state_dir >= 0, "%s", why);
	config.state_dir = s->state_dir;
	config.forwards_output = true;
	config.is_system = !options->is_user;
	config.without_cgroup = options->without_cgroup;
	config.without_guard = !options->with_guard;
	config.environment = options->environment ? options->environment : (const char *const *) environ;
	config.inheritance = options->inheritance;
	config.localtime = options->localtime;
	config.plugin_dir = options->plugin_dir ? options->plugin_dir : s->dir;
	config.output_grace = options->output_grace;
	log_set_sink(on_line, s);
	log_set_level(LOG_DEBUG);
	events.userdata = s;
	ck_assert_int_ge(sd_event_new(&s->event), 0);
	ck_assert_int_ge(world_linux_new(s->event, &config, &events, &s->linux_world), 0);
	s->world = world_linux_world(s->linux_world);
	scene_reset_request(s);
	return s;
}

struct scene *scene_free(struct scene *s)
{
	world_linux_free(s->linux_world);
	sd_event_unref(s->event);
	close(s->state_dir);
	test_dir_free(s->dir);
	log_set_sink(NULL, NULL);
	for (size_t i = 0; i < s->n_lines; i++) {
		free(s->line[i].unit);
		free(s->line[i].stream);
		free(s->line[i].message);
	}
	free(s->line);
	free(s);
	return NULL;
}

void scene_turn(struct scene *s)
{
	ck_assert_int_ge(sd_event_run(s->event, 0), 0);
}

struct answer scene_next(struct scene *s)
{
	struct answer a;

	/* A turn without an answer is no failure: the loop also wakes for nothing. The test's own time limit is. */
	while (s->n_answers == 0)
		ck_assert_int_ge(sd_event_run(s->event, SCENE_PATIENCE), 0);
	a = s->answer[0];
	memmove(s->answer, s->answer + 1, --s->n_answers * sizeof(a));
	return a;
}

struct answer scene_expect(struct scene *s, enum answer_kind kind)
{
	struct answer a = scene_next(s);

	ck_assert_msg(a.kind == kind, "answer of kind %d instead of %d (step %d, error %d, wstatus %x)", (int) a.kind,
		      (int) kind, (int) a.step, a.error, (unsigned) a.wstatus);
	return a;
}

/* ---- requests ---- */

void scene_reset_request(struct scene *s)
{
	s->spec = (struct service_spec) {
		.type = SERVICE_ONESHOT,
		.timeout_start = USEC_NEVER,
		.timeout_stop = USEC_NEVER,
		.kill_signal = SIGTERM,
		.exec = &s->exec,
	};
	s->exec = (struct exec_context) { .umask = 0022 };
	s->keeps_user = s->is_unlimited = false;
	s->run = (struct run) { .cause = "manual", .attempt = 1, .scheduled_real = USEC_NEVER, .scheduled_boot = USEC_NEVER };
	for (size_t i = 0; i < sizeof(s->run.id); i++)
		s->run.id[i] = (uint8_t) (getpid() >> (i % 4 * 8)) ^ (uint8_t) i;
}

int scene_spawn(struct scene *s, world_token token, const char *const *words)
{
	_cleanup_free_ char *probe = test_build_path("tests/supervisor/run/probe");
	struct spawn_request request = {
		.token = token,
		.unit = "probe.service",
		.spec = &s->spec,
		.run = &s->run,
		.phase = EXEC_START,
		.command = &s->command,
	};
	bool is_program = words[0] && strchr(words[0], '/');
	size_t n = 0;

	if (!is_program)
		s->argv[n++] = probe;
	for (; *words; words++)
		s->argv[n++] = *words;
	s->argv[n] = NULL;
	s->command = (struct exec_command) {
		.path = s->argv[0], .argv = s->argv, .no_substitution = true,
		.keeps_user = s->keeps_user, .is_unlimited = s->is_unlimited,
	};
	return s->world->spawn(s->world->ctx, &request);
}

void scene_report(struct scene *s, world_token token)
{
	static const char *const nothing[] = { NULL };
	struct answer a;

	ck_assert_int_eq(scene_spawn(s, token, nothing), 0);
	scene_expect(s, ANSWER_SPAWNED);
	a = scene_expect(s, ANSWER_EXITED);
	ck_assert_int_eq(a.wstatus, 0);
}

const char *scene_value(struct scene *s, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < s->n_lines; i++) {
		const char *m = s->line[i].message;

		if (str_equal(s->line[i].stream, "stdout") && strncmp(m, key, n) == 0 && (m[n] == ' ' || m[n] == '='))
			return m + n + 1;
	}
	return NULL;
}

bool scene_has_line(const struct scene *s, const char *stream, const char *message)
{
	for (size_t i = 0; i < s->n_lines; i++)
		if (str_equal(s->line[i].stream, stream) && str_equal(s->line[i].message, message))
			return true;
	return false;
}

size_t scene_count_lines(const struct scene *s, const char *stream)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_lines; i++)
		n += str_equal(s->line[i].stream, stream);
	return n;
}

bool scene_is_left(const struct scene *s)
{
	_cleanup_free_ struct process *list = NULL;
	char assignment[64] = "INVOCATION_ID=";
	size_t n = 0;

	text_hex16(s->run.id, assignment + strlen(assignment));
	ck_assert_int_ge(process_list(&list, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (!list[i].is_dead && process_has_environment(list[i].pid, assignment))
			return true;
	return false;
}
