/* SPDX-License-Identifier: MIT */
/* Enabling and masking: which links and drop-ins an admin's word means. All of it is planned before
 * anything is written. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/install.h"
#include "core/manager_private.h"
#include "core/report.h"

#define SERVICES_DIR "default.target.wants"
#define TIMERS_DIR "timers.target.wants"
/* A unit and those of its Also=, of theirs … */
#define UNITS_MAX 64

struct planned {
	char name[UNIT_NAME_MAX + 1];
	struct unit_change change;
};

struct plan {
	struct manager *m;
	struct arena arena;
	bool enable, runtime;
	struct planned item[UNITS_MAX];
	size_t n;
	char *reterr;
	size_t reterr_n;
};

static int fail(struct plan *p, int r, const char *fmt, ...) _printf_(3, 4);
static int fail(struct plan *p, int r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void) vsnprintf(p->reterr, p->reterr_n, fmt, ap);
	va_end(ap);
	return r;
}

/* ---- may it be enabled? ---- */

static int judge_service(struct plan *p, const char *name)
{
	struct unit *u = manager_load_unit(p->m, name);
	enum manager_verdict v = unit_judge(p->m, u);
	bool says_no = v == MANAGER_DONE && p->enable && !u->config->spec->is_enabled;

	/* of a mask more is said later */
	if (v == MANAGER_DONE || v == MANAGER_NO_UNIT || v == MANAGER_MASKED) {
		manager_unload_unit(p->m, u);
		return says_no ? fail(p, -EBADMSG,
				      "%s says Enabled=no, which outweighs any link; take that out first",
				      name)
			       : 0;
	}
	manager_verdict_words(p->m, name, v, p->reterr, p->reterr_n);
	manager_unload_unit(p->m, u);
	return -EBADMSG;
}

static int judge_timer(struct plan *p, const char *name)
{
	struct manager_plugin_unit u;

	if (!p->m->host.instance)
		return fail(p, -EHOSTDOWN, "timers are not running; %s was left alone", name);
	/* What is written for it would be a change of an invalid unit, and stand in the way of each
	 * reload. */
	if (manager_plugin_unit(p->m, name, &u) && u.problems->n_errors > 0)
		return fail(p, -EBADMSG,
			    "%s is invalid, and was left alone; supctl status %s tells why", name,
			    name);
	return 0;
}

static int judge(struct plan *p, const char *name)
{
	switch (unit_name_kind(name)) {
	case UNIT_SERVICE:
		return judge_service(p, name);
	case UNIT_TIMER:
		return judge_timer(p, name);
	case UNIT_TARGET:
		return 0;
	case UNIT_OTHER:
		break;
	}
	return fail(p, -EBADMSG,
		    "%s cannot be enabled or disabled here: supd has no units of that kind", name);
}

/* ---- what it means ---- */

static int add_link(struct plan *p, struct planned *u, const char *dir, const char *name,
		    const char *target)
{
	struct unit_link *grown = arena_alloc(&p->arena, (u->change.n_links + 1) * sizeof(*grown));

	if (!grown || !dir || !name || !target)
		return -ENOMEM;
	if (u->change.n_links > 0)
		memcpy(grown, u->change.link, u->change.n_links * sizeof(*grown));
	grown[u->change.n_links++] =
		(struct unit_link){ .dir = dir, .name = name, .target = target };
	u->change.link = grown;
	return 0;
}

/* Targets of systemd's that stand for "with the machine" are what starts with supd. */
static bool is_start_up(const char *target)
{
	static const char *const known[] = { "default.target", "multi-user.target",
					     "graphical.target", "timers.target" };

	for (size_t i = 0; i < ELEMENTS(known); i++)
		if (str_equal(target, known[i]))
			return true;
	return false;
}

/* Links of one kind. @start_up: where what is wanted at start-up is linked, or NULL: it needs no
 * link. */
static int link_each(struct plan *p, struct planned *u, const char *const *targets,
		     const char *suffix, const char *start_up, const char *fragment)
{
	int r = 0;

	for (; r >= 0 && targets && *targets; targets++) {
		if (!is_start_up(*targets))
			r = add_link(p, u, arena_printf(&p->arena, "%s%s", *targets, suffix),
				     u->name, fragment);
		else if (start_up)
			r = add_link(p, u, start_up, u->name, fragment);
	}
	return r;
}

static int link_aliases(struct plan *p, struct planned *u, const struct install *install,
			const struct unit_source *source, const char *fragment)
{
	int r = 0;

	for (const char *const *alias = install->alias; r >= 0 && alias && *alias; alias++) {
		/* A plain name stands for one instance, which has no file to lead to. */
		bool by_name = source->is_made && !strchr(*alias, '@');

		if (str_equal(*alias, u->name))
			continue;
		if (!str_equal(unit_name_suffix(*alias), unit_name_suffix(u->name)))
			return fail(p, -EBADMSG, "%s: Alias=%s is of another kind", u->name,
				    *alias);
		r = add_link(p, u, "", *alias, by_name ? u->name : fragment);
	}
	return r;
}

/* A timer of supd's own directories is active without a link: a drop-in turns it off and on. One of
 * an instance or of systemd's directories is, if linked. */
static void switch_timer(struct planned *u, const struct unit_source *source,
			 const struct install *install, const char **ret_start_up)
{
	bool by_link = source->is_systemd || source->is_made;

	*ret_start_up = by_link ? TIMERS_DIR : NULL;
	u->change.off_dir = by_link ? TIMERS_DIR : NULL;
	u->change.section = !by_link || install->says_enabled ? "Timer" : NULL;
}

static int plan_links(struct plan *p, struct planned *u, const struct unit_source *source,
		      const struct install *install)
{
	const char *fragment = arena_strdup(&p->arena, source->piece[0].path),
		   *start_up = SERVICES_DIR;
	bool is_timer = unit_name_kind(u->name) == UNIT_TIMER;
	int r;

	if (!fragment)
		return -ENOMEM;
	u->change.off_dir = SERVICES_DIR;
	if (is_timer)
		switch_timer(u, source, install, &start_up);
	/* What says nothing of it is started with supd, or elapses, if somebody enables it. */
	if (start_up && !install->wanted_by && !install->required_by && !install->upheld_by &&
	    (is_timer || (!install->alias && !install->also))) {
		r = add_link(p, u, start_up, u->name, fragment);
		if (r < 0)
			return r;
	}
	r = link_each(p, u, install->wanted_by, ".wants", start_up, fragment);
	if (r >= 0)
		r = link_each(p, u, install->required_by, ".requires", start_up, fragment);
	if (r >= 0)
		r = link_each(p, u, install->upheld_by, ".upholds", start_up, fragment);
	return r < 0 ? r : link_aliases(p, u, install, source, fragment);
}

static const char *first_error(const struct diag *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->entry[i].severity == DIAG_ERROR)
			return d->entry[i].message;
	return "its files cannot be read";
}

/* ---- the plan ---- */

static struct planned *plan_find(struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_equal(p->item[i].name, name))
			return &p->item[i];
	return NULL;
}

static int plan_unit(struct plan *p, const char *name);

static int plan_also(struct plan *p, const char *name, const struct install *install)
{
	int r = 0;

	for (const char *const *also = install->also; r >= 0 && also && *also; also++) {
		r = plan_unit(p, *also);
		/* It may have been removed meanwhile. */
		if (r == -ENOENT && !p->enable)
			r = 0;
		else if (r == -ENOENT)
			(void) fail(p, r, "%s: Also= names %s, and there is no such unit", name,
				    *also);
	}
	return r;
}

static int plan_template(struct plan *p, const char *name, const struct install *install)
{
	char instance[UNIT_NAME_MAX + 1];

	if (install->default_instance &&
	    unit_name_add_instance(name, install->default_instance, instance) == 0)
		return plan_unit(p, instance);
	return fail(p, -EBADMSG,
		    "%s is a template without DefaultInstance=; name an instance of it: %.*sNAME%s",
		    name, (int) (unit_name_suffix(name) - name), name, unit_name_suffix(name));
}

static int plan_source(struct plan *p, const char *name, const struct unit_source *source)
{
	_cleanup_(diag_done) struct diag d = { 0 };
	struct install install;
	struct planned *u;
	int r;

	if (source->is_masked)
		return fail(p, -EBADMSG, "%s is masked; supctl unmask %s comes first", name, name);
	if (source->n_pieces == 0)
		return fail(p, -EBADMSG, "%s: %s", name, first_error(&source->problems));
	r = install_read(name, source, p->m->config->specifiers, &p->arena, &d, &install);
	if (r < 0)
		return r;
	if (d.n_errors > 0)
		return fail(p, -EBADMSG, "%s: %s", name, first_error(&d));
	if (unit_name_is_template(name))
		return plan_template(p, name, &install);
	if (p->n == UNITS_MAX)
		return fail(p, -E2BIG, "%s: Also= leads to more than %d units", name, UNITS_MAX);
	u = &p->item[p->n++];
	(void) snprintf(u->name, sizeof(u->name), "%s", name);
	u->change =
		(struct unit_change){ .unit = u->name, .enable = p->enable, .runtime = p->runtime };
	r = plan_links(p, u, source, &install);
	return r < 0 ? r : plan_also(p, name, &install);
}

static int plan_unit(struct plan *p, const char *asked)
{
	const struct world *w = p->m->world;
	const char *real = w->unit_resolve(w->ctx, asked);
	char name[UNIT_NAME_MAX + 1];
	struct unit_source source = { 0 };
	int r;

	(void) snprintf(name, sizeof(name), "%s", real ? real : asked);
	if (plan_find(p, name))
		return 0;
	/* A template is never started itself, but stands for its default instance. */
	r = unit_name_is_template(name) ? 0 : judge(p, name);
	if (r >= 0)
		r = w->read_unit(w->ctx, name, &source);
	if (r == -ENOENT)
		manager_verdict_words(p->m, name, MANAGER_NO_UNIT, p->reterr, p->reterr_n);
	if (r >= 0)
		r = plan_source(p, name, &source);
	unit_source_done(&source);
	return r;
}

static void tell_change(struct manager *m, const char *type, const char *unit, bool runtime)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_bool(&r, "runtime", runtime);
	manager_tell(m, type, unit, &r);
}

/* What is left of a unit that is no more is removed all the same. */
static int disable_missing(struct plan *p, const char *name, manager_enabled_fn *fn, void *userdata)
{
	const struct unit_change change = { .unit = name, .runtime = p->runtime };
	char ignored[16];
	int r = p->m->world->enable_unit(p->m->world->ctx, &change, ignored, sizeof(ignored));

	if (r <= 0)
		return -ENOENT;
	tell_change(p->m, "disabled", name, p->runtime);
	fn(userdata, name, true);
	return r;
}

static int carry_out(struct plan *p, manager_enabled_fn *fn, void *userdata)
{
	const struct world *w = p->m->world;
	int changed = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct planned *u = &p->item[i];
		char words[512] = "";
		int r = w->enable_unit(w->ctx, &u->change, words, sizeof(words));

		if (r < 0)
			return fail(p, r, "%s could not be %s: %s", u->name,
				    p->enable ? "enabled" : "disabled",
				    words[0] ? words : strerror(-r));
		if (r > 0)
			tell_change(p->m, p->enable ? "enabled" : "disabled", u->name, p->runtime);
		fn(userdata, u->name, r > 0);
		changed |= r > 0;
	}
	return changed;
}

int manager_enable_unit(struct manager *m, const struct manager_enabling *what,
			manager_enabled_fn *fn, void *userdata, char *reterr, size_t n)
{
	struct plan *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	*p = (struct plan){
		.m = m,
		.enable = what->enable,
		.runtime = what->runtime,
		.reterr = reterr,
		.reterr_n = n,
	};
	reterr[0] = '\0';
	r = plan_unit(p, what->unit);
	if (r >= 0)
		r = carry_out(p, fn, userdata);
	else if (r == -ENOENT && !p->enable && p->n == 0)
		r = disable_missing(p, what->unit, fn, userdata);
	if (r < 0 && !reterr[0])
		(void) fail(p, r, "%s: %s", what->unit, strerror(-r));
	arena_done(&p->arena);
	free(p);
	return r;
}

/* The gate closed, it is not known which timers there are. */
static bool is_looked_at(const struct manager *m, const char *unit)
{
	return unit_name_kind(unit) != UNIT_TIMER || m->host.instance;
}

int manager_mask_unit(struct manager *m, const char *unit, bool mask, bool runtime, char *reterr,
		      size_t n)
{
	const struct world *w = m->world;
	const char *real = w->unit_resolve(w->ctx, unit);
	char words[512] = "";
	int r;

	if (mask && real && !str_equal(real, unit)) {
		snprintf(reterr, n, "%s is another name of %s; mask that", unit, real);
		return -EBADMSG;
	}
	r = w->mask_unit(w->ctx, unit, mask, runtime, words, sizeof(words));
	if (r < 0)
		snprintf(reterr, n, "%s could not be %s: %s", unit, mask ? "masked" : "unmasked",
			 words[0] ? words : strerror(-r));
	else
		snprintf(reterr, n, "%s", mask && !real && is_looked_at(m, unit)
				? "there is no such unit, masked all the same" : "");
	if (r > 0)
		tell_change(m, mask ? "masked" : "unmasked", unit, runtime);
	return r;
}

/* ---- is it enabled? ---- */

static const char *word_of(struct manager *m, const char *name, const struct unit_source *source,
			   bool is_enabled)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	_cleanup_(diag_done) struct diag d = { 0 };
	struct install install = { 0 };

	if (source->is_masked)
		return source->is_runtime ? "masked-runtime" : "masked";
	if (is_enabled || (source->is_linked && unit_name_kind(name) != UNIT_TIMER))
		return source->is_linked && !source->is_linked_for_good ? "enabled-runtime"
									: "enabled";
	if (source->is_outside)
		return source->is_runtime ? "linked-runtime" : "linked";
	if (install_read(name, source, m->config->specifiers, &arena, &d, &install) < 0)
		return NULL;
	if (!install.is_there && source->is_systemd)
		return "static";
	if (install.also && !install.wanted_by && !install.required_by && !install.upheld_by &&
	    !install.alias)
		return "indirect";
	return "disabled";
}

const char *manager_unit_file_state(struct manager *m, const char *asked, bool is_enabled)
{
	const struct world *w = m->world;
	const char *real = w->unit_resolve(w->ctx, asked), *word;
	struct unit_source source = { 0 };

	if (!real)
		return NULL;
	if (!str_equal(real, asked))
		return "alias";
	if (w->read_unit(w->ctx, asked, &source) < 0)
		return NULL;
	word = word_of(m, asked, &source, is_enabled);
	unit_source_done(&source);
	return word;
}
