/* SPDX-License-Identifier: MIT */
#include "service/service_fsm.h"

#include <assert.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "service/restart.h"

/* One step: what it works on, and what it asks for. */
struct step {
	struct service *s;
	const struct service_spec *spec;
	usec_t now;
	struct service_effects *fx;
};

static void enter_commands(struct step *t, enum service_state state);
static void enter_sigterm(struct step *t, enum service_state state);

/* ---- effects ---- */

static struct service_effect *effect(struct step *t, enum service_effect_kind kind)
{
	struct service_effect *e;

	assert(t->fx->n < SERVICE_EFFECTS_MAX);
	e = &t->fx->item[t->fx->n++];
	*e = (struct service_effect) { .kind = kind };
	return e;
}

static void kill_with(struct step *t, enum service_effect_kind whom, int signal)
{
	effect(t, whom)->signal = signal;
}

static void watch_tree(struct step *t)
{
	if (t->s->is_tree_watched)
		return;
	t->s->is_tree_watched = true;
	effect(t, SVC_FX_WATCH_TREE);
}

/* ---- what is known of states ---- */

static enum exec_phase phase_of(enum service_state state)
{
	switch (state) {
	case SERVICE_CONDITION:
		return EXEC_CONDITION;
	case SERVICE_START_PRE:
		return EXEC_START_PRE;
	case SERVICE_START_POST:
		return EXEC_START_POST;
	case SERVICE_STOP:
		return EXEC_STOP;
	case SERVICE_STOP_POST:
		return EXEC_STOP_POST;
	case SERVICE_START:
	case SERVICE_DEAD:
	case SERVICE_CHECK:
	case SERVICE_EXITED:
	case SERVICE_STOP_SIGTERM:
	case SERVICE_STOP_SIGKILL:
	case SERVICE_FINAL_SIGTERM:
	case SERVICE_FINAL_SIGKILL:
	case SERVICE_FAILED:
	case SERVICE_AUTO_RESTART:
		break;
	}
	return EXEC_START;
}

static bool is_starting(enum service_state state)
{
	return state >= SERVICE_CONDITION && state <= SERVICE_START_POST;
}

static bool is_final(enum service_state state)
{
	return state >= SERVICE_STOP_POST && state <= SERVICE_FINAL_SIGKILL;
}

static bool is_ending_tree(enum service_state state)
{
	return state == SERVICE_STOP_SIGTERM || state == SERVICE_STOP_SIGKILL ||
	       state == SERVICE_FINAL_SIGTERM || state == SERVICE_FINAL_SIGKILL;
}

static const struct exec_command *command(const struct step *t)
{
	const struct exec_commands *c = &t->spec->command[t->s->phase];

	return t->s->index < c->n ? &c->item[t->s->index] : NULL;
}

/* ---- the result ---- */

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
	case RUN_RESULT_DEPENDENCY:
	case RUN_RESULT_START_LIMIT:
	case RUN_RESULT_ASSERT:
		return true;
	case RUN_RESULT_NONE:
	case RUN_RESULT_SUCCESS:
	case RUN_RESULT_SKIPPED:
	case RUN_RESULT_STOPPED:
		break;
	}
	return false;
}

/* The first one counts. */
static void conclude(struct step *t, enum run_result result, int status, enum exec_step step)
{
	struct service *s = t->s;

	if (s->result != RUN_RESULT_NONE && s->result != RUN_RESULT_SUCCESS)
		return;
	s->result = result;
	s->status = status;
	s->step = step;
}

static void conclude_wstatus(struct step *t, int wstatus)
{
	if (WIFEXITED(wstatus))
		conclude(t, RUN_RESULT_EXIT_CODE, WEXITSTATUS(wstatus), EXEC_STEP_NONE);
	else if (WCOREDUMP(wstatus))
		conclude(t, RUN_RESULT_CORE_DUMP, WTERMSIG(wstatus), EXEC_STEP_NONE);
	else
		conclude(t, RUN_RESULT_SIGNAL, WTERMSIG(wstatus), EXEC_STEP_NONE);
}

/* Does another run follow? What had remained active has been stopped. */
static bool is_restarted(const struct step *t)
{
	const struct service *s = t->s;
	const struct restart_policy *p = t->spec->restart;

	return p && !s->no_restart && restart_is_due(p, s->result, s->main_exited, s->main_wstatus);
}

static void end(struct step *t)
{
	struct service *s = t->s;

	conclude(t, RUN_RESULT_SUCCESS, 0, EXEC_STEP_NONE);
	s->state = is_failure(s->result) ? SERVICE_FAILED : SERVICE_DEAD;
	s->deadline = USEC_NEVER;
	if (is_restarted(t)) {
		s->state = SERVICE_AUTO_RESTART;
		s->deadline = usec_add(t->now, t->spec->restart->delay);
	}
	s->index = 0;
	s->has_process = false;
	s->has_started = false;
	s->is_tree_watched = false;
	effect(t, SVC_FX_ENDED);
}

static void remain(struct step *t)
{
	conclude(t, RUN_RESULT_SUCCESS, 0, EXEC_STEP_NONE);
	t->s->state = SERVICE_EXITED;
	t->s->deadline = USEC_NEVER;
	effect(t, SVC_FX_ENDED);
}

/* ---- commands ---- */

static void spawn(struct step *t)
{
	struct service_effect *e = effect(t, SVC_FX_SPAWN);

	e->phase = t->s->phase;
	e->index = t->s->index;
	t->s->is_spawning = true;
	t->s->deadline = usec_add(t->now, is_starting(t->s->state) ? t->spec->timeout_start
								   : t->spec->timeout_stop);
}

static void commands_done(struct step *t)
{
	switch (t->s->state) {
	case SERVICE_CONDITION:
		enter_commands(t, SERVICE_START_PRE);
		return;
	case SERVICE_START_PRE:
		enter_commands(t, SERVICE_START);
		return;
	case SERVICE_START:
		enter_commands(t, SERVICE_START_POST);
		return;
	case SERVICE_START_POST:
		if (t->spec->remain_after_exit)
			remain(t);
		else
			enter_commands(t, SERVICE_STOP);
		return;
	case SERVICE_STOP:
		enter_sigterm(t, SERVICE_STOP_SIGTERM);
		return;
	case SERVICE_STOP_POST:
		enter_sigterm(t, SERVICE_FINAL_SIGTERM);
		return;
	case SERVICE_DEAD:
	case SERVICE_CHECK:
	case SERVICE_EXITED:
	case SERVICE_STOP_SIGTERM:
	case SERVICE_STOP_SIGKILL:
	case SERVICE_FINAL_SIGTERM:
	case SERVICE_FINAL_SIGKILL:
	case SERVICE_FAILED:
	case SERVICE_AUTO_RESTART:
		return;
	}
}

static void enter_commands(struct step *t, enum service_state state)
{
	t->s->state = state;
	t->s->phase = phase_of(state);
	t->s->index = 0;
	if (command(t))
		spawn(t);
	else
		commands_done(t);
}

/* No more commands of this state: it failed, was in time's way, or was told to stop. */
static void leave_commands(struct step *t)
{
	t->s->stop_wanted = false;
	enter_sigterm(t, is_final(t->s->state) ? SERVICE_FINAL_SIGTERM : SERVICE_STOP_SIGTERM);
}

static void command_done(struct step *t)
{
	t->s->index++;
	if (command(t))
		spawn(t);
	else
		commands_done(t);
}

/* ---- ending the tree ---- */

/* Nothing is left that is waited for. */
static void tree_done(struct step *t)
{
	struct service *s = t->s;
	bool has_more = s->has_started && t->spec->command[EXEC_STOP_POST].n > 0;

	/* A process that could not be ended, or was not to be, must not meet ExecStopPost=. */
	if (is_final(s->state) || !has_more || s->has_process)
		end(t);
	else
		enter_commands(t, SERVICE_STOP_POST);
}

static void enter_sigkill(struct step *t)
{
	struct service *s = t->s;
	bool is_whole_tree = t->spec->kill_mode != KILL_PROCESS;

	s->state = is_final(s->state) ? SERVICE_FINAL_SIGKILL : SERVICE_STOP_SIGKILL;
	s->deadline = usec_add(t->now, t->spec->timeout_stop);
	kill_with(t, is_whole_tree ? SVC_FX_KILL_TREE : SVC_FX_KILL_MAIN, SIGKILL);
	if (is_whole_tree)
		watch_tree(t);
}

static void ask_to_end(struct step *t, enum service_effect_kind whom)
{
	int signal = t->spec->kill_signal;

	t->s->deadline = usec_add(t->now, t->spec->timeout_stop);
	kill_with(t, whom, signal);
	if (t->spec->send_sighup && signal != SIGHUP)
		kill_with(t, whom, SIGHUP);
	if (signal != SIGKILL && signal != SIGCONT)
		kill_with(t, whom, SIGCONT);
}

static void enter_sigterm(struct step *t, enum service_state state)
{
	struct service *s = t->s;

	s->state = state;
	if (!s->has_started) {
		tree_done(t);
		return;
	}
	switch (t->spec->kill_mode) {
	case KILL_CONTROL_GROUP:
		ask_to_end(t, SVC_FX_KILL_TREE);
		watch_tree(t);
		return;
	case KILL_MIXED:
		if (s->has_process)
			ask_to_end(t, SVC_FX_KILL_MAIN);
		else if (t->spec->send_sigkill)
			enter_sigkill(t);
		else
			tree_done(t);
		return;
	case KILL_PROCESS:
		if (s->has_process)
			ask_to_end(t, SVC_FX_KILL_MAIN);
		else
			tree_done(t);
		return;
	case KILL_NONE:
		tree_done(t);
		return;
	}
}

/* The process has ended while what is left is being ended. */
static void exited_while_ending(struct step *t)
{
	bool is_asked = t->s->state == SERVICE_STOP_SIGTERM || t->s->state == SERVICE_FINAL_SIGTERM;

	switch (t->spec->kill_mode) {
	case KILL_CONTROL_GROUP:
		watch_tree(t);
		return;
	case KILL_MIXED:
		if (!is_asked)
			watch_tree(t);
		else if (t->spec->send_sigkill)
			enter_sigkill(t);
		else
			tree_done(t);
		return;
	case KILL_PROCESS:
	case KILL_NONE:
		tree_done(t);
		return;
	}
}

/* ---- events ---- */

static void rest(struct step *t, enum service_state state)
{
	t->s->state = state;
	t->s->deadline = USEC_NEVER;
	effect(t, SVC_FX_ENDED);
}

static void on_start_request(struct step *t)
{
	if (service_is_active(t->s) && t->s->state != SERVICE_AUTO_RESTART)
		return;
	*t->s = (struct service) { .deadline = USEC_NEVER };
	if (!t->spec->conditions) {
		enter_commands(t, SERVICE_CONDITION);
		return;
	}
	t->s->state = SERVICE_CHECK;
	t->s->deadline = usec_add(t->now, t->spec->timeout_start);
	effect(t, SVC_FX_CHECK);
}

static enum run_result result_of(enum condition_outcome unmet)
{
	switch (unmet) {
	case CONDITIONS_SKIP:
		return RUN_RESULT_SKIPPED;
	case CONDITIONS_UNMOUNTED:
		return RUN_RESULT_DEPENDENCY;
	case CONDITIONS_FAIL:
	case CONDITIONS_HOLD:
		break;
	}
	return RUN_RESULT_ASSERT;
}

static void on_checked(struct step *t, const struct service_event *ev)
{
	if (t->s->state != SERVICE_CHECK)
		return;
	if (ev->error == 0 && ev->outcome == CONDITIONS_HOLD) {
		t->s->deadline = USEC_NEVER;
		enter_commands(t, SERVICE_CONDITION);
		return;
	}
	if (ev->error != 0)
		conclude(t, RUN_RESULT_RESOURCES, ev->error, EXEC_STEP_NONE);
	else
		conclude(t, result_of(ev->outcome), 0, EXEC_STEP_NONE);
	end(t);
}

static void want_stop(struct step *t)
{
	if (!t->s->stop_wanted)
		effect(t, SVC_FX_CANCEL);
	t->s->stop_wanted = true;
}

static void on_stop_request(struct step *t)
{
	struct service *s = t->s;

	s->no_restart = true;
	if (s->state == SERVICE_EXITED) {
		enter_commands(t, SERVICE_STOP);
		return;
	}
	if (s->state == SERVICE_AUTO_RESTART) {
		rest(t, SERVICE_DEAD);
		return;
	}
	if (s->state != SERVICE_CHECK && !is_starting(s->state))
		return;
	conclude(t, RUN_RESULT_STOPPED, 0, EXEC_STEP_NONE);
	if (s->state == SERVICE_CHECK)
		end(t);
	else if (s->is_spawning) {
		want_stop(t);
		s->deadline = USEC_NEVER;
	} else
		leave_commands(t);
}

static void on_spawned(struct step *t)
{
	struct service *s = t->s;

	if (!s->is_spawning)
		return;
	s->is_spawning = false;
	s->has_process = true;
	s->has_started = true;
	if (s->stop_wanted)
		leave_commands(t);
}

/* Had a process come into being, only to fail before exec? Then it counts as having run: '-' passes
 * over it, and ExecStopPost= follows. */
static bool is_child_step(enum exec_step step)
{
	return step != EXEC_STEP_NONE && step != EXEC_STEP_FORK && step != EXEC_STEP_CGROUP &&
	       step != EXEC_STEP_ENVIRONMENT;
}

static void conclude_spawn(struct step *t, const struct service_event *ev)
{
	bool is_lack = ev->step == EXEC_STEP_NONE || ev->step == EXEC_STEP_FORK ||
		       ev->step == EXEC_STEP_CGROUP;

	conclude(t, is_lack ? RUN_RESULT_RESOURCES : RUN_RESULT_EXEC, ev->error, ev->step);
}

static void on_spawn_failed(struct step *t, const struct service_event *ev)
{
	struct service *s = t->s;
	const struct exec_command *c = command(t);
	/* what systemd's child would have exited with */
	int wstatus = exec_step_status(ev->step) << 8;

	if (!s->is_spawning)
		return;
	s->is_spawning = false;
	if (is_child_step(ev->step)) {
		s->has_started = true;
		if (s->phase == EXEC_START) {
			s->main_exited = true;
			s->main_wstatus = wstatus;
		}
	}
	if (s->stop_wanted) {
		leave_commands(t);
		return;
	}
	if (is_child_step(ev->step) &&
	    ((c && c->ignore_failure) || service_spec_is_success(t->spec, wstatus))) {
		command_done(t);
		return;
	}
	conclude_spawn(t, ev);
	leave_commands(t);
}

static void command_exited(struct step *t, int wstatus)
{
	const struct exec_command *c = command(t);

	if ((c && c->ignore_failure) || service_spec_is_success(t->spec, wstatus)) {
		command_done(t);
		return;
	}
	if (t->s->state == SERVICE_CONDITION && WIFEXITED(wstatus) && WEXITSTATUS(wstatus) != 255)
		conclude(t, RUN_RESULT_SKIPPED, WEXITSTATUS(wstatus), EXEC_STEP_NONE);
	else
		conclude_wstatus(t, wstatus);
	leave_commands(t);
}

static void out_of_memory(struct step *t)
{
	conclude(t, RUN_RESULT_OOM_KILL, SIGKILL, EXEC_STEP_NONE);
	leave_commands(t);
}

static void on_exited(struct step *t, const struct service_event *ev)
{
	struct service *s = t->s;

	if (!s->has_process)
		return;
	s->has_process = false;
	if (s->phase == EXEC_START) {
		s->main_exited = true;
		s->main_wstatus = ev->wstatus;
	}
	if (is_ending_tree(s->state))
		exited_while_ending(t);
	else if (ev->oom_killed)
		out_of_memory(t);
	else
		command_exited(t, ev->wstatus);
}

static void on_tree_empty(struct step *t)
{
	struct service *s = t->s;

	if (!s->is_tree_watched)
		return;
	s->is_tree_watched = false;
	/* If it was told before the process's own exit, that asks again. */
	if (is_ending_tree(s->state) && !s->has_process)
		tree_done(t);
}

static void on_deadline(struct step *t)
{
	struct service *s = t->s;

	if (t->now < s->deadline || !service_is_active(s))
		return;
	s->deadline = USEC_NEVER;
	if (s->state == SERVICE_AUTO_RESTART) {
		effect(t, SVC_FX_RESTART);
		return;
	}
	conclude(t, RUN_RESULT_TIMEOUT, 0, EXEC_STEP_NONE);
	if (s->state == SERVICE_CHECK)
		end(t);
	else if (s->is_spawning)
		want_stop(t);
	else if (!is_ending_tree(s->state))
		leave_commands(t);
	else if ((s->state == SERVICE_STOP_SIGTERM || s->state == SERVICE_FINAL_SIGTERM) &&
		 t->spec->send_sigkill)
		enter_sigkill(t);
	else
		tree_done(t);
}

static void on_refused(struct step *t, const struct service_event *ev)
{
	if (t->s->state == SERVICE_AUTO_RESTART) {
		rest(t, SERVICE_FAILED);
		return;
	}
	if (service_is_active(t->s))
		return;
	*t->s = (struct service) { .deadline = USEC_NEVER };
	conclude(t, ev->result, 0, EXEC_STEP_NONE);
	end(t);
}

static void on_extend(struct step *t, usec_t extend)
{
	usec_t until = usec_add(t->now, extend);

	/* USEC_NEVER is later than anything. A pause before the next attempt is no time limit. */
	if (service_is_active(t->s) && t->s->state != SERVICE_AUTO_RESTART &&
	    until > t->s->deadline)
		t->s->deadline = until;
}

static void on_spec_changed(struct step *t)
{
	if (t->s->state == SERVICE_EXITED && !t->spec->remain_after_exit)
		enter_commands(t, SERVICE_STOP);
	else if (t->s->state == SERVICE_AUTO_RESTART && !t->spec->restart)
		rest(t, SERVICE_FAILED);
}

void service_step(struct service *s, const struct service_spec *spec,
		  const struct service_event *ev, struct service_effects *ret)
{
	struct step t = { .s = s, .spec = spec, .now = ev->boot, .fx = ret };

	ret->n = 0;
	switch (ev->kind) {
	case SVC_START_REQUEST:
		on_start_request(&t);
		break;
	case SVC_STOP_REQUEST:
		on_stop_request(&t);
		break;
	case SVC_CHECKED:
		on_checked(&t, ev);
		break;
	case SVC_SPAWNED:
		on_spawned(&t);
		break;
	case SVC_SPAWN_FAILED:
		on_spawn_failed(&t, ev);
		break;
	case SVC_EXITED:
		on_exited(&t, ev);
		break;
	case SVC_TREE_EMPTY:
		on_tree_empty(&t);
		break;
	case SVC_DEADLINE:
		on_deadline(&t);
		break;
	case SVC_EXTEND:
		on_extend(&t, ev->extend);
		break;
	case SVC_SPEC_CHANGED:
		on_spec_changed(&t);
		break;
	case SVC_REFUSED:
		on_refused(&t, ev);
		break;
	case SVC_RESET:
		if (s->state == SERVICE_FAILED)
			s->state = SERVICE_DEAD;
		break;
	}
	if (!service_is_active(s))
		s->deadline = USEC_NEVER;
}

/* ---- words ---- */

bool service_is_active(const struct service *s)
{
	return s->state != SERVICE_DEAD && s->state != SERVICE_FAILED;
}

static const struct {
	const char *sub, *active;
} state_words[] = {
	[SERVICE_DEAD] = { "dead", "inactive" },
	[SERVICE_CHECK] = { "check", "activating" },
	[SERVICE_CONDITION] = { "condition", "activating" },
	[SERVICE_START_PRE] = { "start-pre", "activating" },
	[SERVICE_START] = { "start", "activating" },
	[SERVICE_START_POST] = { "start-post", "activating" },
	[SERVICE_EXITED] = { "exited", "active" },
	[SERVICE_STOP] = { "stop", "deactivating" },
	[SERVICE_STOP_SIGTERM] = { "stop-sigterm", "deactivating" },
	[SERVICE_STOP_SIGKILL] = { "stop-sigkill", "deactivating" },
	[SERVICE_STOP_POST] = { "stop-post", "deactivating" },
	[SERVICE_FINAL_SIGTERM] = { "final-sigterm", "deactivating" },
	[SERVICE_FINAL_SIGKILL] = { "final-sigkill", "deactivating" },
	[SERVICE_FAILED] = { "failed", "failed" },
	[SERVICE_AUTO_RESTART] = { "auto-restart", "activating" },
};
static_assert(ELEMENTS(state_words) == SERVICE_STATE_COUNT, "a word for each state");

const char *service_state_to_string(enum service_state s)
{
	return state_words[s].sub;
}

const char *service_active_to_string(enum service_state s)
{
	return state_words[s].active;
}
