/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_PLUGIN_HOST_H
#define SUPD_CORE_PLUGIN_HOST_H

/* The manager's side of a plugin. plugin_host.c has its life, plugin_calls.c what it may ask,
 * plugin_units.c its units; the manager and its reload are the only users. Moments are as in struct
 * supd_now. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/names.h"
#include "base/usec.h"
#include "supd-plugin.h"
#include "unit/fragment.h"

struct manager;
struct reload_report;
struct unit;

/* What its files say of a unit of a plugin's suffix, as far as the host knows. */
struct plugin_unit_files {
	struct fragment fragment;
	uint64_t fingerprint;
	bool is_read;
	bool is_masked;
	struct diag problems;
};

struct plugin_unit {
	struct plugin_unit_files files;
	struct plugin_unit_files *next; /* read again, and not settled yet; or NULL */
	bool is_present;                /* stands in the new index */
	char name[];
};

struct plugin_host {
	struct manager *manager;
	const char *name;                 /* the file's name, "timer" */
	const struct supd_plugin *plugin; /* NULL: not open */
	struct supd_instance *instance;   /* NULL: not running */
	struct supd_host table;           /* what it is lent */
	const struct supd_listener *listener;
	void *listener_data;
	usec_t wake[SUPD_CLOCK_COUNT];
	uint64_t last_ticket;
	/* the state that could not be written when the instance stopped; NULL: none */
	void *unsaved;
	size_t n_unsaved;
	bool is_preparing;
	/* while it prepares: nothing else is looked at; NULL: all */
	const char *const *only;
	bool is_stopping;  /* inside plugin->stop(): saves are synchronous */
	struct names units; /* struct plugin_unit */
	char shown[FRAGMENT_PATH_MAX]; /* the path of the unit that was asked for last */
	char failure[512]; /* why it does not run although the gate is open; "" */
};

/* plugin_host.c */
void plugin_host_init(struct plugin_host *h, struct manager *m, const char *name);
void plugin_host_done(struct plugin_host *h);
/* Starts or stops the instance so that it runs exactly while @wanted. */
void plugin_host_apply(struct plugin_host *h, const struct supd_now *now, bool wanted);
void plugin_host_run(struct plugin_host *h, const struct supd_now *now, const struct unit *u,
		     enum supd_run_stage stage);
/* Errors of units that are new, changed, or were valid so far go to @mistakes. */
int plugin_host_prepare(struct plugin_host *h, const struct supd_now *now, struct diag *mistakes);
/* The same, but all units other than @only (NULL-terminated) are as they were, whatever is on the
 * disk. */
int plugin_host_prepare_only(struct plugin_host *h, const struct supd_now *now,
			     const char *const *only, struct diag *mistakes);
void plugin_host_commit(struct plugin_host *h, const struct supd_now *now,
			struct reload_report *report);
void plugin_host_abort(struct plugin_host *h);

/* plugin_calls.c: fills h->table; and forgets the state that was kept for the next start. */
void plugin_calls_init(struct plugin_host *h);
void plugin_calls_done(struct plugin_host *h);

/* plugin_units.c */
/* read_units() and problem() of struct supd_host. */
int plugin_units_read(void *ctx, const struct supd_unit_reader *reader);
int plugin_units_problem(void *ctx, const struct supd_problem *p);
struct plugin_unit *plugin_unit_find(struct plugin_host *h, const char *name);
/* The path of its file, or its name; lent until the next is asked for. */
const char *plugin_unit_fragment(struct plugin_host *h, const struct plugin_unit *pu);
/* Is any unit's file mistaken? Then the plugin looks at it again at each reload: what it lacked may
 * be there. */
bool plugin_units_have_mistakes(const struct plugin_host *h);
/* Said once, when they are read first; a reload answers whoever asked for it. */
void plugin_units_log(const struct plugin_host *h);
/* Of a reload that is prepared: mistakes that are new; then what changes, and that this is now how
 * things are; or all as it was. */
void plugin_units_blame(struct plugin_host *h, struct diag *mistakes);
void plugin_units_report(const struct plugin_host *h, struct reload_report *report);
void plugin_units_settle(struct plugin_host *h);
void plugin_units_abort(struct plugin_host *h);
void plugin_units_forget(struct plugin_host *h);

#endif
