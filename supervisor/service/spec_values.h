/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_SPEC_VALUES_H
#define SUPD_SERVICE_SPEC_VALUES_H

/* Inside service/: how the keys of a service are parsed; the rows of spec_keys.c name these
 * functions. Their object is a struct spec_draft. */

#include "base/keys.h"
#include "service/dependencies.h"
#include "service/restart.h"
#include "service/spec.h"

#define SPEC_TIMEOUT_STOP (90 * USEC_PER_SEC)
#define SPEC_UMASK 0022
/* Those of systemd. */
#define SPEC_RESTART_DELAY (100 * USEC_PER_MSEC)
#define SPEC_START_LIMIT_INTERVAL (10 * USEC_PER_SEC)
#define SPEC_START_LIMIT_BURST 5

struct spec_draft {
	struct service_spec spec; /* first: offsets of rows count from here */
	struct exec_context exec; /* spec.exec is made of it in the end */
	const struct specifiers *specifiers;
	const struct assignment *restart; /* the Restart= that counts, or NULL */
	struct restart_policy again; /* spec.restart is made of it in the end */
	struct dependencies dependencies; /* likewise */
};

/* ---- what parsers share ---- */

/* Copies what is not as it is by itself. 0 or -ENOMEM. */
int spec_keep_dependencies(struct spec_draft *draft, struct arena *arena);

struct spec_draft *spec_draft_of(const struct key_context *c);
/* "Key= SENTENCE, not 'TEXT'" */
void spec_refuse(const struct key_context *c, const char *sentence, const char *text);
/* "Key=TEXT is not applied, ignored" */
void spec_not_applied(const struct key_context *c, const char *text);
/* Specifiers. 0, -ENOMEM, or -EBADMSG: reported, which spec_reported() makes 0, being no failure of
 * the parser. */
int spec_expand(const struct key_context *c, const char *text, char **ret);
int spec_reported(int r);
/* Numbers and ranges, separated by blanks or commas, on top of what other assignments said; an
 * empty value takes all back. */
struct exec_mask;
int spec_parse_mask(const struct key_context *c, struct exec_mask *mask);
/* @list: NULL-terminated, or NULL: empty; made with this alone. 0 or -ENOMEM. */
int spec_list_append(struct arena *arena, const char *const **list, const char *word);

/* ---- the parsers ---- */

int spec_parse_description(const struct key_context *c);
int spec_parse_condition(const struct key_context *c); /* row->parameter: the kind */
int spec_parse_assert(const struct key_context *c);
int spec_parse_dependency(const struct key_context *c); /* row->parameter: enum dependency_kind */
int spec_parse_mounts(const struct key_context *c);
/* What is to be mounted for WorkingDirectory=, once all keys have been read. 0 or -ENOMEM. */
int spec_require_directory(struct spec_draft *draft, struct arena *arena);
int spec_parse_type(const struct key_context *c);
int spec_parse_restart(const struct key_context *c);
int spec_parse_command(const struct key_context *c);
int spec_parse_start_limit_interval(const struct key_context *c);
int spec_parse_start_limit_burst(const struct key_context *c);
/* Says that it does nothing. */
int spec_parse_runtime_max(const struct key_context *c);
int spec_parse_exit_status(const struct key_context *c); /* const struct exit_status_set * */
int spec_parse_timeout(const struct key_context *c); /* 0 and infinity: none */
int spec_parse_timeout_both(const struct key_context *c);
int spec_parse_kill_mode(const struct key_context *c);
int spec_parse_notify_access(const struct key_context *c);
int spec_parse_user(const struct key_context *c); /* Group=, too */
int spec_parse_groups(const struct key_context *c);
int spec_parse_directory(const struct key_context *c);
int spec_parse_nice(const struct key_context *c);
int spec_parse_environment(const struct key_context *c);
int spec_parse_environment_file(const struct key_context *c);
int spec_parse_pass_environment(const struct key_context *c);
int spec_parse_unset_environment(const struct key_context *c);

/* "oneshot" → true; another of systemd's types → false; 0, or -EINVAL for neither. */
int spec_type_from_string(const char *word, enum service_type *ret);
/* Is this a word of Restart= that a oneshot cannot have? */
bool spec_restart_is_for_daemons(const char *word);

#endif
