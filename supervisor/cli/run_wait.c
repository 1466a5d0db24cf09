/* SPDX-License-Identifier: MIT */
#include "cli/run_wait.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/log_lines.h"
#include "control/rows.h"
#include "store/file.h"

/* A run of the service, which Restart= may follow by others: records before this number have been
 * shown. */
struct shown {
	uint8_t run_id[16];
	uint64_t next;
};

struct waiting {
	struct cli *cli;
	const struct run_wait *what;
	struct control_client *client;
	struct arena arena;
	struct shown *shown;
	size_t n_shown;
	int signal;         /* for which it is being stopped; 0: it is not */
	bool is_broken;     /* stdout cannot be written to: nothing more is shown */
	bool ends_with_newline;
};

/* ---- stopping ---- */

void run_wait_die(int signal)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t set;

	(void) fflush(stdout);
	(void) sigaction(signal, &by_default, NULL);
	(void) sigemptyset(&set);
	(void) sigaddset(&set, signal);
	(void) raise(signal);
	(void) sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Its answer is that of the run. */
static void stop(struct waiting *w, int signal)
{
	if (w->signal != 0)
		return;
	w->signal = signal;
	(void) control_client_ask(w->client, "StopUnit", "sb", w->what->unit, 0);
}

static void on_signal(void *userdata, int fd)
{
	struct signalfd_siginfo info;
	struct waiting *w = userdata;

	if (read(fd, &info, sizeof(info)) != (ssize_t) sizeof(info))
		return;
	if (w->signal == SIGINT)
		run_wait_die(SIGINT);
	if (!cli_has(w->cli, CLI_QUIET))
		(void) fprintf(stderr, "%sstopping %s (interrupt again to leave it to that)\n",
			       isatty(STDERR_FILENO) ? "\n" : "", w->what->unit);
	stop(w, SIGINT);
}

/* -1: whoever started supctl does not want it to be interrupted. */
static int catch_interrupt(void)
{
	struct sigaction now;
	sigset_t set;

	if (sigaction(SIGINT, NULL, &now) < 0 || now.sa_handler == SIG_IGN)
		return -1;
	(void) sigemptyset(&set);
	(void) sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- showing ---- */

static struct shown *shown_of(struct waiting *w, const struct run_log_record *record)
{
	struct shown *grown;

	for (size_t i = w->n_shown; i > 0; i--)
		if (memcmp(w->shown[i - 1].run_id, record->run_id, sizeof(record->run_id)) == 0)
			return &w->shown[i - 1];
	grown = arena_grow(&w->arena, w->shown, w->n_shown, sizeof(*grown));
	if (!grown)
		return NULL;
	w->shown = grown;
	memcpy(grown[w->n_shown].run_id, record->run_id, sizeof(record->run_id));
	return &grown[w->n_shown++];
}

/* Is it the next one? Lines that are missing before it are told. */
static bool is_news(struct waiting *w, const struct run_log_record *record)
{
	struct shown *s = shown_of(w, record);
	uint64_t missing;

	if (!s || record->number < s->next)
		return false;
	missing = record->number - s->next;
	if (missing > 0 && !cli_has(w->cli, CLI_QUIET))
		(void) fprintf(stderr, "-- %" PRIu64 " line%s missing here --\n", missing,
			       missing == 1 ? " is" : "s are");
	s->next = record->number + 1;
	return true;
}

static void show(struct waiting *w, const struct log_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		const struct run_log_record *record = &lines->entry[i].record;

		if (!is_news(w, record))
			continue;
		w->ends_with_newline = log_lines_print_bare(
			record, record->stream == RUN_LOG_STDOUT ? stdout : stderr);
	}
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	w->is_broken = true;
	if (errno == EPIPE)
		stop(w, SIGPIPE);
	else
		(void) cli_fail(w->cli, CONTROL_FAILED, "what it prints cannot be shown: %s",
				strerror(errno));
}

static void on_rows(void *userdata, const struct supd_row *row, size_t n)
{
	_cleanup_(log_lines_done) struct log_lines lines = { 0 };
	struct waiting *w = userdata;

	for (size_t i = 0; !w->is_broken && i < n; i++)
		if (log_lines_add_row(&lines, &row[i]) < 0)
			return;
	if (!w->is_broken)
		show(w, &lines);
}

static struct control_question *ask_for_output(struct waiting *w, bool follow)
{
	struct control_question *q = control_client_ask(w->client, "ReadOutput", "sstttb",
							w->what->unit, "", w->what->since,
							USEC_NEVER, (uint64_t) 0, (int) follow);

	control_client_take_rows(q, on_rows, w);
	return q;
}

/* What was printed shortly before the end may not have been sent yet. */
static void show_rest(struct waiting *w)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };

	control_client_wait(w->client, ask_for_output(w, false), &reply);
	on_rows(w, reply.row, reply.n);
	/* Nothing was ever printed, and the service is gone by now. */
	if (reply.status == CONTROL_NO_UNIT)
		reply.message = NULL;
	if (reply.status != CONTROL_OK && reply.status != CONTROL_NO_DAEMON && reply.message)
		(void) fprintf(stderr, "supctl: warning: %s\n", reply.message);
	if (!w->is_broken && !w->ends_with_newline && isatty(STDOUT_FILENO))
		putchar('\n');
	(void) fflush(stdout);
}

/* ---- the whole ---- */

static void on_rows_ahead(void *userdata, const struct supd_row *row, size_t n)
{
	const struct waiting *w = userdata;

	w->what->tell(row, n);
}

static void wait_for_end(struct waiting *w, struct control_reply *ret)
{
	struct control_question *q;

	q = control_client_ask(w->client, "RunTransient", "sssb", w->what->unit,
			       w->what->service_text, w->what->timer_text, 1);
	control_client_take_rows(q, on_rows_ahead, w);
	/* Answered in its turn: when there is such a unit. If there is none, the other answer says
	 * why. */
	if (w->what->shows)
		(void) ask_for_output(w, true);
	control_client_wait(w->client, q, ret);
	if (w->what->shows && ret->status != CONTROL_NO_DAEMON && ret->n > 0)
		show_rest(w);
}

int run_wait(struct cli *c, const struct run_wait *what, struct control_reply *ret)
{
	struct waiting w = { .cli = c, .what = what, .ends_with_newline = true };
	_cleanup_close_ int fd = -1;

	w.client = cli_client(c, ret);
	if (!w.client)
		return 0;
	/* Who writes to nobody is told so by the write. */
	(void) signal(SIGPIPE, SIG_IGN);
	fd = catch_interrupt();
	if (fd >= 0)
		control_client_watch(w.client, fd, on_signal, &w);
	wait_for_end(&w, ret);
	control_client_watch(w.client, -1, NULL, NULL);
	arena_done(&w.arena);
	return w.signal;
}
