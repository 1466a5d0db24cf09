/* SPDX-License-Identifier: MIT */
#include "daemon/supd_history.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/log.h"
#include "core/ledger.h"
#include "daemon/settings.h"
#include "daemon/supd_places.h"
#include "run/history_keeper.h"

int supd_history_open(sd_event *event, const struct settings *settings, const struct places *places,
		      struct history_keeper **ret)
{
	const struct config *c = &settings->config;
	char path[PATH_MAX];
	const struct history_keeper_config config = {
		.path = path,
		.limits = {
			.age = c->history_max_age, .per_unit = c->history_max_per_unit, .size = c->history_max_size,
		},
		.priority = SD_EVENT_PRIORITY_IDLE,
	};

	*ret = NULL;
	if (!c->history || places->state_dir < 0)
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", settings->state_dir, HISTORY_FILE) >= (int) sizeof(path))
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

void supd_history_event(struct history_keeper *k, const char *type, const char *unit, const struct supd_row *fields)
{
	struct history_record record;

	if (k && ledger_event(type, unit, fields, &record))
		history_keeper_add(k, &record);
}
