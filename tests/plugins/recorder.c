/* SPDX-License-Identifier: MIT */
/* A plugin in order. It does nothing but keep a record of what it heard, which list() tells, and
 * log each entry. "arm" in a unit's value arms the boot-time clock for that many µs after the
 * start. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supd-plugin.h"

#define RECORD_MAX 64

struct supd_instance {
	const struct supd_host *host;
	struct supd_listener listener;
	char record[RECORD_MAX][128];
	unsigned n;
	uint64_t arm_after;
};

static void record(struct supd_instance *self, const char *what, const char *about)
{
	char *entry;

	if (self->n == RECORD_MAX)
		return;
	entry = self->record[self->n++];
	snprintf(entry, sizeof(self->record[0]), "%s %.100s", what, about);
	self->host->log(self->host->ctx, SUPD_LOG_INFO, NULL, entry);
}

static void on_wake(void *userdata, const struct supd_now *now, enum supd_clock clock)
{
	(void) now;
	record(userdata, "wake", clock == SUPD_CLOCK_BOOTTIME ? "boottime" : "realtime");
}

static void on_clock_jump(void *userdata, const struct supd_now *now, int64_t delta)
{
	(void) now;
	record(userdata, "clock_jump", delta < 0 ? "back" : "forward");
}

static void on_zone_change(void *userdata, const struct supd_now *now)
{
	(void) now;
	record(userdata, "zone_change", "");
}

static void on_run(void *userdata, const struct supd_now *now, const struct supd_run_event *run)
{
	static const char *const stage[] = { "started", "ended", "refused" };

	(void) now;
	record(userdata, stage[run->stage], run->unit);
}

static void on_saved(void *userdata, const struct supd_now *now, uint64_t ticket, int result)
{
	(void) now;
	(void) ticket;
	record(userdata, "saved", result == 0 ? "well" : "not");
}

static bool want(void *userdata, const char *name, uint64_t fingerprint)
{
	(void) userdata;
	(void) name;
	(void) fingerprint;
	return true;
}

static int on_unit(void *userdata, const struct supd_unit_file *file)
{
	struct supd_instance *self = userdata;

	record(self, "unit", file->name);
	for (size_t i = 0; i < file->n_assignments; i++)
		if (strcmp(file->assignment[i].key, "Arm") == 0)
			self->arm_after = strtoull(file->assignment[i].value, NULL, 10);
	return 0;
}

static int read_units(struct supd_instance *self)
{
	struct supd_unit_reader reader = { .size = sizeof(reader), .userdata = self, .want = want, .unit = on_unit };

	return self->host->read_units(self->host->ctx, &reader);
}

static int on_prepare(void *userdata, const struct supd_now *now)
{
	(void) now;
	record(userdata, "prepare", "");
	return read_units(userdata);
}

static void on_commit(void *userdata, const struct supd_now *now)
{
	(void) now;
	record(userdata, "commit", "");
}

static void on_abort(void *userdata)
{
	record(userdata, "abort", "");
}

static int on_command(void *userdata, const struct supd_now *now, const struct supd_command_request *request,
		      struct supd_command_reply *reply)
{
	(void) now;
	record(userdata, "command", request->unit);
	snprintf(reply->message, sizeof(reply->message), "the recorder only records");
	return -EOPNOTSUPP;
}

static int start(const struct supd_host *host, const struct supd_start_info *info, struct supd_instance **ret)
{
	struct supd_instance *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return -ENOMEM;
	self->host = host;
	self->listener = (struct supd_listener) {
		.abi = SUPD_ABI, .size = sizeof(self->listener),
		.wake = on_wake, .clock_jump = on_clock_jump, .zone_change = on_zone_change, .run = on_run,
		.saved = on_saved, .prepare = on_prepare, .commit = on_commit, .abort = on_abort, .command = on_command,
	};
	record(self, "start", "");
	r = host->subscribe(host->ctx, &self->listener, self);
	if (r >= 0)
		r = read_units(self);
	if (r >= 0 && self->arm_after > 0)
		r = host->arm(host->ctx, SUPD_CLOCK_BOOTTIME, info->now.boot + self->arm_after);
	if (r < 0) {
		free(self);
		return r;
	}
	*ret = self;
	return 0;
}

static void stop(struct supd_instance *self, const struct supd_now *now)
{
	(void) now;
	if (self)
		record(self, "stop", "");
	free(self);
}

/* One row an entry, in order. */
static int list(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row, void *userdata)
{
	int r = 0;

	if (strcmp(query->table, "units") != 0)
		return -EOPNOTSUPP;
	for (unsigned i = 0; r >= 0 && i < self->n; i++) {
		struct supd_field field = { .key = "entry", .type = SUPD_STRING, .value.string = self->record[i] };
		struct supd_row one = { .field = &field, .n = 1 };

		r = row(userdata, &one);
	}
	return r;
}

const struct supd_plugin supd_plugin_1 = {
	.abi = SUPD_ABI, .size = sizeof(struct supd_plugin), .name = "recorder", .suffix = ".recorder",
	.start = start, .stop = stop, .list = list,
};
