/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_RUN_SCENE_H
#define SUPD_TEST_RUN_SCENE_H

/* A real world on a real loop, with a state directory of its own, that records what it answers and what is logged. */

#include "run/world_linux.h"

#define SCENE_PATIENCE (10 * USEC_PER_SEC) /* between two looks */

enum answer_kind {
	ANSWER_WAKE,
	ANSWER_SPAWNED,
	ANSWER_SPAWN_FAILED,
	ANSWER_EXITED,
	ANSWER_TREE_EMPTY,
	ANSWER_SAVED,
	ANSWER_CLOCK_JUMP,
	ANSWER_ZONE_CHANGE,
};

struct answer {
	enum answer_kind kind;
	struct supd_now now;
	world_token token;
	enum supd_clock clock;
	pid_t pid;
	enum exec_step step;
	int error, wstatus, result;
	usec_t cpu;
	uint64_t peak_memory, ticket;
};

struct scene_line {
	char *unit, *stream, *message;
	int level;
	bool has_run;
};

struct scene {
	sd_event *event;
	struct world_linux *linux_world;
	const struct world *world;
	char *dir;
	int state_dir;
	/* taken by scene_next() from the front */
	struct answer answer[64];
	unsigned n_answers;
	bool wants_jumps; /* else they are only counted */
	unsigned n_jumps;
	struct scene_line *line;
	size_t n_lines;
	/* what the next spawn asks for; reset by scene_reset_request() */
	struct service_spec spec;
	struct exec_context exec; /* the spec's */
	struct run run;
	struct exec_command command;
	bool keeps_user, is_unlimited; /* the command's */
	const char *argv[16];
};

struct scene_options {
	bool without_cgroup;
	bool with_guard;
	bool is_user;
	const char *const *environment;
	const struct daemon_inheritance *inheritance;
	const char *localtime;
	const char *plugin_dir;
	usec_t output_grace;
};

struct scene *scene_new(const struct scene_options *options); /* NULL: all defaults */
struct scene *scene_free(struct scene *s);
/* The next answer, waited for. */
struct answer scene_next(struct scene *s);
/* The same, which must be of this kind. */
struct answer scene_expect(struct scene *s, enum answer_kind kind);
/* One turn of the loop, not waiting. */
void scene_turn(struct scene *s);

void scene_reset_request(struct scene *s);
/* The command: the probe with these arguments (to NULL), or, if the first has a slash, that program. */
int scene_spawn(struct scene *s, world_token token, const char *const *words);
/* Runs the probe to its end; what it reports about itself is asked with scene_value(). */
void scene_report(struct scene *s, world_token token);
/* "key value" or "key=value" of the report: the value in the first such line, or NULL. */
const char *scene_value(struct scene *s, const char *key);
bool scene_has_line(const struct scene *s, const char *stream, const char *message);
size_t scene_count_lines(const struct scene *s, const char *stream);
/* Does a process of the run of the last request live? */
bool scene_is_left(const struct scene *s);

#endif
