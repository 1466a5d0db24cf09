/* SPDX-License-Identifier: MIT */
#include "daemon/supd_history.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "control/client.h"
#include "core/history_report.h"
#include "core/ledger.h"
#include "daemon/settings.h"
#include "daemon/supd_control.h"
#include "daemon/supd_places.h"
#include "run/history_keeper.h"

/* Other questions, and what is to be written, wait that long for one at most. */
#define PATIENCE (10 * USEC_PER_SEC)

int supd_history_open(sd_event *event, const struct settings *settings, const struct places *places,
		      struct history_keeper **ret)
{
	const struct config *c = &settings->config;
	char path[PATH_MAX];
	const struct history_keeper_config config = {
		.path = path,
		.limits = {
			.age = c->history_max_age,
			.per_unit = c->history_max_per_unit,
			.size = c->history_max_size,
		},
		.priority = SD_EVENT_PRIORITY_IDLE,
	};

	*ret = NULL;
	if (!c->history || places->state_dir < 0)
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", settings->state_dir, HISTORY_FILE) >=
	    (int) sizeof(path))
		return -ENAMETOOLONG;
	return history_keeper_new(event, &config, ret);
}

void supd_history_run(struct history_keeper *k, const struct unit *u)
{
	char words[LEDGER_WORDS_MAX];
	struct history_record record;

	if (!k)
		return;
	ledger_run(u, words, &record);
	history_keeper_add(k, &record);
}

void supd_history_event(struct history_keeper *k, const char *type, const char *unit,
			const struct supd_row *fields)
{
	struct history_record record;

	if (k && ledger_event(type, unit, fields, &record))
		history_keeper_add(k, &record);
}

/* ---- who asks ---- */

struct asked {
	struct supd_control *c;
	uint64_t id;
	bool is_owner;
};

static int on_record(void *userdata, const struct history_record *record)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	struct asked *a = userdata;

	/* What services print may be secret. */
	history_report_record(&r, record, a->is_owner);
	supd_control_row(a->c, a->id, &r);
	return 0;
}

static int on_tally(void *userdata, const char *unit, const struct tally *t)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	struct asked *a = userdata;

	history_report_tally(&r, unit, t);
	supd_control_row(a->c, a->id, &r);
	return 0;
}

static void on_answered(void *userdata, int result, const char *message)
{
	struct asked *a = userdata;

	control_done(a->c->server, a->id, result < 0 ? CONTROL_FAILED : CONTROL_OK, message);
	free(a);
}

static void on_drop(void *userdata)
{
	free(userdata);
}

static void refuse(struct supd_control *c, const struct control_request *q, int status,
		   const char *sentence)
{
	control_done(c->server, q->id, status, sentence);
}

void history_ask(struct supd_control *c, const struct control_request *q)
{
	bool is_list = q->verb == CONTROL_HISTORY;
	uint8_t first[RUN_ID_BYTES], last[RUN_ID_BYTES];
	struct history_filter filter = {
		.unit = q->units,
		.n_units = q->n_units,
		.cause = q->cause,
		.since = q->since,
		.until = q->until,
		.limit = q->lines > 0 ? q->lines : UINT64_MAX,
		.offset = q->offset,
		.patience = PATIENCE,
	};
	struct history_answer answer = {
		.record = is_list ? on_record : NULL,
		.tally = is_list ? NULL : on_tally,
		.done = on_answered,
		.drop = on_drop,
	};
	struct asked *a;

	if (!c->history) {
		refuse(c, q, CONTROL_FAILED,
		       "this supd keeps no history (History= in supd.conf, or it has no disk to write to)");
		return;
	}
	if (q->outcomes && !history_classes_from_string(q->outcomes, &filter.classes)) {
		refuse(c, q, CONTROL_USAGE, "there is no such outcome of a run");
		return;
	}
	if (q->run && history_run_range(q->run, first, last)) {
		filter.run_first = first;
		filter.run_last = last;
	}
	a = answer.userdata = calloc(1, sizeof(*a));
	if (a)
		*a = (struct asked) { .c = c, .id = q->id, .is_owner = q->is_owner };
	if (!a || history_keeper_ask(c->history, &filter, &answer) < 0) {
		free(a);
		refuse(c, q, CONTROL_FAILED, "out of memory");
	}
}
