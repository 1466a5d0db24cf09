/* SPDX-License-Identifier: MIT */
/* Random walks over the machine of a run, in a world that answers as a world may: late, badly, or out of turn. What
 * must hold in every step is checked in every step. A failure names the seed. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "service/service_fsm.h"
#include "tests/lib/test_main.h"

#define WALKS 300
#define STEPS 1000 /* of each walk: 3 × 10^5 in all */
#define DRAIN_STEPS 200

/* What is really there, as opposed to what the machine thinks. */
struct world {
	uint64_t random;
	unsigned seed, n_steps;
	usec_t now;
	bool check_asked;
	bool spawn_asked;
	bool is_alive;    /* the process of the last spawn */
	bool exit_untold; /* it has ended, and the machine was not told yet */
	int wstatus;
	unsigned n_others; /* other processes of the run */
	bool watch_asked;
	/* of the run that goes on, or the last */
	bool is_running;  /* started, and not told as ended for good */
	bool stop_asked;  /* while it was starting */
	bool gave_up;     /* a deadline passed that nothing follows */
	unsigned n_ended;
	int last_phase;
	unsigned last_index;
	unsigned n_spawned;
	bool start_failed; /* a command of the start-up, or it was cut short */
};

struct policy {
	struct service_spec spec;
	struct exit_status_set success;
	struct conditions conditions;
	struct exec_command command[EXEC_PHASE_COUNT][3];
};

/* Not ck_assert(), which notes each place it passes. */
#define CHECK(w, condition)                                                                                     \
	do {                                                                                                    \
		if (!(condition))                                                                               \
			ck_abort_msg("seed %u, step %u: not (%s)", (w)->seed, (w)->n_steps, #condition);        \
	} while (0)

/* xorshift64* */
static unsigned draw(struct world *w, unsigned n)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (unsigned) ((w->random * UINT64_C(2685821657736338717)) >> 33) % n;
}

static void draw_policy(struct world *w, struct policy *p)
{
	static const usec_t timeouts[] = { USEC_NEVER, 5 * USEC_PER_SEC, 1 };
	struct service_spec *spec = &p->spec;

	*p = (struct policy) { 0 };
	for (int phase = 0; phase < EXEC_PHASE_COUNT; phase++) {
		spec->command[phase] = (struct exec_commands) { p->command[phase], draw(w, 3) };
		for (unsigned i = 0; i < 3; i++)
			p->command[phase][i].ignore_failure = draw(w, 4) == 0;
	}
	spec->remain_after_exit = draw(w, 3) == 0;
	spec->timeout_start = timeouts[draw(w, ELEMENTS(timeouts))];
	spec->timeout_stop = timeouts[draw(w, ELEMENTS(timeouts))];
	spec->kill_mode = (enum kill_mode) draw(w, 4);
	spec->kill_signal = draw(w, 4) ? SIGTERM : SIGINT;
	spec->send_sigkill = draw(w, 4) != 0;
	spec->send_sighup = draw(w, 4) == 0;
	if (draw(w, 3) == 0)
		spec->conditions = &p->conditions;
	if (draw(w, 3) == 0) {
		p->success.code[0] = 2;
		spec->success = &p->success;
	}
}

static bool is_starting_phase(enum exec_phase phase)
{
	return phase <= EXEC_START_POST;
}

/* ---- what each effect must keep to ---- */

static void on_spawn(struct world *w, const struct service_spec *spec, const struct service_effect *e)
{
	CHECK(w, w->is_running);
	CHECK(w, !w->spawn_asked && !w->check_asked);
	CHECK(w, !w->is_alive && !w->exit_untold);
	CHECK(w, e->index < spec->command[e->phase].n);
	/* Forward only, and no command twice. */
	CHECK(w, (int) e->phase > w->last_phase ? e->index == 0
						  : (int) e->phase == w->last_phase && e->index == w->last_index + 1);
	CHECK(w, !(w->stop_asked && is_starting_phase(e->phase)));
	CHECK(w, !(w->start_failed && e->phase != EXEC_STOP_POST));
	CHECK(w, e->phase != EXEC_STOP_POST || w->n_spawned > 0);
	w->spawn_asked = true;
	w->last_phase = (int) e->phase;
	w->last_index = e->index;
}

static void on_kill(struct world *w, const struct service_spec *spec, const struct service_effect *e)
{
	CHECK(w, w->is_running);
	CHECK(w, w->n_spawned > 0);
	CHECK(w, !w->spawn_asked);
	CHECK(w, spec->kill_mode != KILL_NONE);
	CHECK(w, e->signal == spec->kill_signal || e->signal == SIGHUP || e->signal == SIGCONT ||
			 e->signal == SIGKILL);
	CHECK(w, e->signal != SIGKILL || spec->send_sigkill || spec->kill_signal == SIGKILL);
	CHECK(w, e->signal != SIGHUP || spec->send_sighup);
	CHECK(w, e->kind != SVC_FX_KILL_MAIN || w->is_alive || w->exit_untold);
	CHECK(w, e->kind != SVC_FX_KILL_TREE || spec->kill_mode != KILL_PROCESS);
	if (e->signal == SIGKILL && draw(w, 8) != 0) {
		if (w->is_alive) {
			w->is_alive = false;
			w->exit_untold = true;
			w->wstatus = W_EXITCODE(0, SIGKILL);
		}
		if (e->kind == SVC_FX_KILL_TREE)
			w->n_others = 0;
	}
}

static bool ends_whole_tree(const struct service_spec *spec)
{
	return spec->kill_mode == KILL_CONTROL_GROUP || (spec->kill_mode == KILL_MIXED && spec->send_sigkill);
}

static void on_ended(struct world *w, const struct service *s, const struct service_spec *spec)
{
	CHECK(w, w->is_running);
	CHECK(w, !w->spawn_asked);
	CHECK(w, s->result != RUN_RESULT_NONE);
	w->n_ended++;
	if (s->state == SERVICE_EXITED) {
		CHECK(w, w->n_ended == 1);
		CHECK(w, s->result == RUN_RESULT_SUCCESS);
		CHECK(w, !w->start_failed);
		return;
	}
	CHECK(w, s->state == SERVICE_DEAD || s->state == SERVICE_FAILED);
	CHECK(w, w->n_ended <= 2);
	CHECK(w, !w->stop_asked || s->state == SERVICE_DEAD || s->result == RUN_RESULT_TIMEOUT);
	if (w->n_spawned > 0 && ends_whole_tree(spec) && !w->gave_up)
		CHECK(w, !w->is_alive && w->n_others == 0);
	if (spec->kill_mode != KILL_NONE && !w->gave_up)
		CHECK(w, !w->is_alive && !w->exit_untold);
	w->is_running = false;
	/* release(): whatever is left is nobody's business any more. */
	w->is_alive = w->exit_untold = w->watch_asked = false;
	w->n_others = 0;
}

static void do_effects(struct world *w, const struct service *s, const struct service_spec *spec,
		       const struct service_effects *fx)
{
	CHECK(w, fx->n <= SERVICE_EFFECTS_MAX);
	for (unsigned i = 0; i < fx->n; i++) {
		switch (fx->item[i].kind) {
		case SVC_FX_CHECK:
			CHECK(w, w->is_running && spec->conditions && !w->check_asked && w->n_spawned == 0);
			w->check_asked = true;
			break;
		case SVC_FX_SPAWN:
			on_spawn(w, spec, &fx->item[i]);
			break;
		case SVC_FX_CANCEL:
			CHECK(w, w->spawn_asked);
			break;
		case SVC_FX_KILL_MAIN:
		case SVC_FX_KILL_TREE:
			on_kill(w, spec, &fx->item[i]);
			break;
		case SVC_FX_WATCH_TREE:
			CHECK(w, w->is_running && w->n_spawned > 0 && !w->watch_asked);
			w->watch_asked = true;
			break;
		case SVC_FX_ENDED:
			CHECK(w, i == fx->n - 1);
			on_ended(w, s, spec);
			break;
		case SVC_FX_RESTART:
			CHECK(w, false); /* none of these services has Restart= */
			break;
		}
	}
}

/* ---- what each state must be like ---- */

static bool is_ending(enum service_state state)
{
	return state >= SERVICE_STOP_SIGTERM && state <= SERVICE_FINAL_SIGKILL && state != SERVICE_STOP_POST;
}

static void check_state(const struct world *w, const struct service *s, const struct service_spec *spec)
{
	bool is_idle = !service_is_active(s) || s->state == SERVICE_EXITED;
	bool has_commands = !is_idle && !is_ending(s->state) && s->state != SERVICE_CHECK;

	CHECK(w, s->is_spawning == w->spawn_asked);
	CHECK(w, s->state != SERVICE_CHECK || (w->check_asked && w->n_spawned == 0));
	CHECK(w, s->has_process == (w->is_alive || w->exit_untold));
	CHECK(w, s->is_tree_watched == w->watch_asked);
	CHECK(w, service_is_active(s) == w->is_running);
	CHECK(w, !is_idle || s->deadline == USEC_NEVER);
	CHECK(w, !is_idle || !s->has_process);
	CHECK(w, !is_idle || !s->is_spawning);
	/* A state of commands has one of them, a state of waiting has something to wait for. */
	CHECK(w, !has_commands || s->is_spawning || s->has_process);
	CHECK(w, !is_ending(s->state) || s->has_process || s->is_tree_watched);
	CHECK(w, !s->stop_wanted || s->is_spawning);
	CHECK(w, !is_ending(s->state) || (s->deadline == USEC_NEVER) == (spec->timeout_stop == USEC_NEVER));
	CHECK(w, !(w->n_ended > 0 && s->result == RUN_RESULT_NONE));
	CHECK(w, !(s->state == SERVICE_DEAD && s->result == RUN_RESULT_EXIT_CODE));
	CHECK(w, !(s->state == SERVICE_FAILED && s->result == RUN_RESULT_SUCCESS));
}

/* ---- events ---- */

/* Notes that nothing follows this deadline. */
static void note_deadline(struct world *w, const struct service *s, const struct service_spec *spec)
{
	if (w->now < s->deadline)
		return;
	if (s->state == SERVICE_STOP_SIGKILL || s->state == SERVICE_FINAL_SIGKILL)
		w->gave_up = true;
	if ((s->state == SERVICE_STOP_SIGTERM || s->state == SERVICE_FINAL_SIGTERM) && !spec->send_sigkill)
		w->gave_up = true;
}

/* Does what happens now end the start-up before its time? */
static bool cuts_start_short(const struct world *w, const struct service *s, const struct service_spec *spec,
			     const struct service_event *ev)
{
	const struct exec_command *c = &spec->command[s->phase].item[s->index];

	if (s->state < SERVICE_CONDITION || s->state > SERVICE_START_POST)
		return false;
	if (ev->kind == SVC_STOP_REQUEST)
		return true;
	if (ev->kind == SVC_DEADLINE)
		return w->now >= s->deadline;
	if (ev->kind == SVC_EXITED && s->has_process)
		return !c->ignore_failure && ev->wstatus != 0 && !(spec->success && ev->wstatus == W_EXITCODE(1, 0));
	if (ev->kind == SVC_SPAWN_FAILED && s->is_spawning)
		return !c->ignore_failure || ev->step == EXEC_STEP_FORK || ev->step == EXEC_STEP_ENVIRONMENT;
	return false;
}

static void fire(struct world *w, struct service *s, const struct service_spec *spec, struct service_event ev)
{
	const struct service before = *s;
	struct service_effects fx;
	bool is_stale = ev.kind == SVC_DEADLINE && w->now < before.deadline;
	bool had_failed = before.result != RUN_RESULT_NONE && before.result != RUN_RESULT_SUCCESS;

	w->n_steps++;
	ev.boot = w->now;
	if (ev.kind == SVC_START_REQUEST && !w->is_running) {
		w->is_running = true;
		w->stop_asked = w->gave_up = w->start_failed = false;
		w->n_ended = w->n_spawned = 0;
		w->last_phase = -1;
	} else if (ev.kind == SVC_STOP_REQUEST && w->is_running && before.state <= SERVICE_START_POST)
		w->stop_asked = true;
	else if (ev.kind == SVC_DEADLINE)
		note_deadline(w, s, spec);
	/* Whoever still looks at conditions when the run is over is not heard. */
	if (ev.kind == SVC_CHECKED || (before.state == SERVICE_CHECK && ev.kind == SVC_STOP_REQUEST) ||
	    (before.state == SERVICE_CHECK && ev.kind == SVC_DEADLINE && !is_stale))
		w->check_asked = false;
	w->start_failed |= cuts_start_short(w, &before, spec, &ev);
	service_step(s, spec, &ev, &fx);
	if (is_stale)
		CHECK(w, memcmp(&before, s, sizeof(before)) == 0 && fx.n == 0);
	if (had_failed && !(ev.kind == SVC_START_REQUEST && !service_is_active(&before)))
		CHECK(w, s->result == before.result && s->status == before.status && s->step == before.step);
	do_effects(w, s, spec, &fx);
	check_state(w, s, spec);
}

static void answer_spawn(struct world *w, struct service *s, const struct service_spec *spec)
{
	static const enum exec_step steps[] = { EXEC_STEP_FORK, EXEC_STEP_ENVIRONMENT, EXEC_STEP_USER, EXEC_STEP_EXEC };
	struct service_event ev = { .kind = SVC_SPAWNED };

	w->spawn_asked = false;
	if (draw(w, 6) == 0) {
		unsigned i = draw(w, ELEMENTS(steps));

		ev = (struct service_event) { .kind = SVC_SPAWN_FAILED, .step = steps[i], .error = ENOENT };
		w->n_spawned += i >= 2; /* there was a process */
	} else {
		w->is_alive = true;
		w->n_spawned++;
		w->n_others += draw(w, 3);
	}
	fire(w, s, spec, ev);
}

static void answer_check(struct world *w, struct service *s, const struct service_spec *spec)
{
	struct service_event ev = { .kind = SVC_CHECKED, .outcome = CONDITIONS_HOLD };

	if (draw(w, 3) == 0)
		ev.outcome = draw(w, 2) ? CONDITIONS_SKIP : CONDITIONS_FAIL;
	else if (draw(w, 8) == 0)
		ev.error = ENOMEM;
	fire(w, s, spec, ev);
}

static void end_process(struct world *w)
{
	static const int wstatus[] = {
		W_EXITCODE(0, 0), W_EXITCODE(0, 0), W_EXITCODE(0, 0), W_EXITCODE(1, 0), W_EXITCODE(255, 0),
		W_EXITCODE(0, SIGTERM), W_EXITCODE(0, SIGSEGV) | WCOREFLAG,
	};

	w->is_alive = false;
	w->exit_untold = true;
	w->wstatus = wstatus[draw(w, ELEMENTS(wstatus))];
}

static void tell_exit(struct world *w, struct service *s, const struct service_spec *spec)
{
	w->exit_untold = false;
	fire(w, s, spec, (struct service_event) { .kind = SVC_EXITED, .wstatus = w->wstatus });
}

static bool is_tree_empty(const struct world *w)
{
	return !w->is_alive && w->n_others == 0;
}

/* What the world does by itself; false: nothing. */
static bool live(struct world *w, struct service *s, const struct service_spec *spec)
{
	switch (draw(w, 6)) {
	case 0:
		if (w->check_asked) {
			answer_check(w, s, spec);
			return true;
		}
		if (w->spawn_asked) {
			answer_spawn(w, s, spec);
			return true;
		}
		return false;
	case 1:
		if (w->is_alive)
			end_process(w);
		return false;
	case 2:
		if (w->exit_untold) {
			tell_exit(w, s, spec);
			return true;
		}
		return false;
	case 3:
		if (w->watch_asked && is_tree_empty(w)) {
			w->watch_asked = false;
			fire(w, s, spec, (struct service_event) { .kind = SVC_TREE_EMPTY });
			return true;
		}
		return false;
	case 4:
		if (w->n_others > 0)
			w->n_others--;
		return false;
	default:
		if (s->deadline != USEC_NEVER && s->deadline > w->now && draw(w, 4) == 0)
			w->now = s->deadline - draw(w, 2);
		fire(w, s, spec, (struct service_event) { .kind = SVC_DEADLINE });
		return true;
	}
}

/* An answer that nobody asked for. */
static void disturb(struct world *w, struct service *s, const struct service_spec *spec)
{
	struct service_event ev = { .kind = SVC_SPEC_CHANGED };
	usec_t before = s->deadline;

	if (draw(w, 4) == 0) {
		fire(w, s, spec, (struct service_event) { .kind = SVC_EXTEND, .extend = draw(w, 100) });
		CHECK(w, s->deadline >= before);
		return;
	}
	if (s->state != SERVICE_CHECK && draw(w, 8) == 0)
		ev = (struct service_event) { .kind = SVC_CHECKED, .outcome = CONDITIONS_SKIP };
	else if (!w->spawn_asked && draw(w, 2))
		ev = (struct service_event) { .kind = draw(w, 2) ? SVC_SPAWNED : SVC_SPAWN_FAILED, .step = EXEC_STEP_EXEC };
	else if (!w->is_alive && !w->exit_untold && draw(w, 2))
		ev = (struct service_event) { .kind = SVC_EXITED, .wstatus = W_EXITCODE(1, 0) };
	else if (!w->watch_asked)
		ev.kind = SVC_TREE_EMPTY;
	fire(w, s, spec, ev);
}

/* Whatever state it is in: told to stop, in a world that does its part, it ends. */
static void drain(struct world *w, struct service *s, const struct service_spec *spec)
{
	fire(w, s, spec, (struct service_event) { .kind = SVC_STOP_REQUEST });
	for (unsigned i = 0; i < DRAIN_STEPS && w->is_running; i++) {
		if (w->spawn_asked)
			answer_spawn(w, s, spec);
		else if (w->is_alive)
			end_process(w);
		else if (w->exit_untold)
			tell_exit(w, s, spec);
		else {
			w->n_others = 0;
			if (w->watch_asked) {
				w->watch_asked = false;
				fire(w, s, spec, (struct service_event) { .kind = SVC_TREE_EMPTY });
			}
		}
	}
	CHECK(w, !service_is_active(s));
}

START_TEST(nothing_goes_wrong_on_a_random_walk)
{
	struct world w = { .seed = (unsigned) _i, .random = (uint64_t) _i * 0x9e3779b97f4a7c15u + 1 };
	struct service s = { .deadline = USEC_NEVER };
	struct policy p;

	draw_policy(&w, &p);
	while (w.n_steps < STEPS) {
		unsigned choice = draw(&w, 40);

		w.now += draw(&w, 2) * USEC_PER_SEC;
		if (choice == 0)
			fire(&w, &s, &p.spec, (struct service_event) { .kind = SVC_STOP_REQUEST });
		else if (choice == 1)
			disturb(&w, &s, &p.spec);
		else if (choice == 2)
			drain(&w, &s, &p.spec);
		else if (choice <= 5)
			fire(&w, &s, &p.spec, (struct service_event) { .kind = SVC_START_REQUEST });
		else
			(void) live(&w, &s, &p.spec);
		if (!w.is_running && draw(&w, 4) == 0)
			draw_policy(&w, &p);
	}
	drain(&w, &s, &p.spec);
}
END_TEST

static Suite *service_walk_suite(void)
{
	Suite *s = suite_create("service_walk");
	TCase *tc = tcase_create("walks");

	tcase_add_loop_test(tc, nothing_goes_wrong_on_a_random_walk, 0, WALKS);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(service_walk_suite)
