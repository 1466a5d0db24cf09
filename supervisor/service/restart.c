/* SPDX-License-Identifier: MIT */
#include "service/restart.h"

#include <assert.h>
#include <errno.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/parse_error.h"
#include "base/timespan.h"
#include "base/values.h"
#include "service/spec_values.h"

/* ---- the rules ---- */

static bool is_failure(enum run_result r)
{
	switch (r) {
	case RUN_RESULT_EXIT_CODE:
	case RUN_RESULT_SIGNAL:
	case RUN_RESULT_CORE_DUMP:
	case RUN_RESULT_OOM_KILL:
	case RUN_RESULT_TIMEOUT:
	case RUN_RESULT_EXEC:
	case RUN_RESULT_RESOURCES:
		return true;
	case RUN_RESULT_NONE:
	case RUN_RESULT_SUCCESS:
	case RUN_RESULT_SKIPPED:
	case RUN_RESULT_STOPPED:
	case RUN_RESULT_DEPENDENCY:  /* there was no run */
	case RUN_RESULT_START_LIMIT:
	case RUN_RESULT_ASSERT:
		break;
	}
	return false;
}

static bool is_among(const struct exit_status_set *set, int wstatus)
{
	unsigned n;

	if (!set)
		return false;
	if (WIFEXITED(wstatus)) {
		n = (unsigned) WEXITSTATUS(wstatus);
		return set->code[n / 64] >> n % 64 & 1;
	}
	n = (unsigned) WTERMSIG(wstatus);
	return set->signal[n / 64] >> n % 64 & 1;
}

bool restart_is_due(const struct restart_policy *p, enum run_result result, bool main_exited,
		    int main_wstatus)
{
	if (main_exited && is_among(p->prevent, main_wstatus))
		return false;
	if (main_exited && is_among(p->force, main_wstatus))
		return true;
	switch (p->mode) {
	case RESTART_ON_FAILURE:
		return is_failure(result);
	case RESTART_ON_ABNORMAL:
		/* A program that cannot be executed is an exit code of systemd's child. */
		return is_failure(result) && result != RUN_RESULT_EXIT_CODE &&
		       result != RUN_RESULT_EXEC;
	case RESTART_ON_ABORT:
		return result == RUN_RESULT_SIGNAL || result == RUN_RESULT_CORE_DUMP;
	case RESTART_ON_WATCHDOG: /* which a oneshot has not */
	case RESTART_NO:
		break;
	}
	return false;
}

bool start_limit_take(struct start_limit *l, const struct restart_policy *p, usec_t now)
{
	if (p->limit_burst == 0 || p->limit_interval == 0)
		return true;
	if (l->n == 0 || usec_add(l->since, p->limit_interval) < now)
		*l = (struct start_limit) { .since = now };
	if (l->n >= p->limit_burst)
		return false;
	l->n++;
	return true;
}

/* ---- words ---- */

static const char *const mode_words[] = {
	[RESTART_NO] = "no",
	[RESTART_ON_FAILURE] = "on-failure",
	[RESTART_ON_ABNORMAL] = "on-abnormal",
	[RESTART_ON_ABORT] = "on-abort",
	[RESTART_ON_WATCHDOG] = "on-watchdog",
};
static_assert(ELEMENTS(mode_words) == RESTART_MODE_COUNT, "a word for each mode");

const char *restart_mode_to_string(enum restart_mode m)
{
	return mode_words[m];
}

bool restart_mode_from_string(const char *word, enum restart_mode *ret)
{
	for (size_t i = 0; i < ELEMENTS(mode_words); i++)
		if (str_equal(mode_words[i], word)) {
			*ret = (enum restart_mode) i;
			return true;
		}
	return false;
}

/* ---- the keys ---- */

bool spec_restart_is_for_daemons(const char *word)
{
	return str_equal(word, "always") || str_equal(word, "on-success");
}

/* What a oneshot cannot have is judged when all is read: the type may come later. */
int spec_parse_restart(const struct key_context *c)
{
	struct spec_draft *draft = spec_draft_of(c);
	const char *value = c->assignment->value;
	bool is_known = true;

	draft->restart = c->assignment;
	draft->again.mode = RESTART_NO;
	if (*value && !spec_restart_is_for_daemons(value))
		is_known = restart_mode_from_string(value, &draft->again.mode);
	if (!is_known)
		spec_refuse(c, "wants no, on-failure, on-abnormal, on-abort or on-watchdog", value);
	return 0;
}

int spec_parse_start_limit_interval(const struct key_context *c)
{
	struct restart_policy *p = &spec_draft_of(c)->again;

	p->has_limit |= *c->assignment->value != 0;
	p->limit_interval = SPEC_START_LIMIT_INTERVAL;
	return *c->assignment->value ? key_parse_span(c) : 0;
}

int spec_parse_start_limit_burst(const struct key_context *c)
{
	struct restart_policy *p = &spec_draft_of(c)->again;
	uint64_t n = SPEC_START_LIMIT_BURST;

	p->has_limit |= *c->assignment->value != 0;
	if (*c->assignment->value && value_unsigned(c->assignment->value, UINT32_MAX, &n) < 0)
		spec_refuse(c, "wants a number", c->assignment->value);
	p->limit_burst = (unsigned) n;
	return 0;
}

/* systemd counts RuntimeMaxSec= from the end of the start-up, where a oneshot is done. */
int spec_parse_runtime_max(const struct key_context *c)
{
	const char *value = c->assignment->value;
	struct parse_error error;
	usec_t span = USEC_NEVER;

	if (*value && timespan_parse(value, &span, &error) < 0)
		key_error(c, "%s= is no time span: %s", c->assignment->key, error.sentence);
	else if (span != USEC_NEVER)
		key_warning(
			c,
			"%s= has no effect on a oneshot service, as in systemd: TimeoutStartSec= bounds its commands",
			c->assignment->key);
	return 0;
}
