/* SPDX-License-Identifier: MIT */
/* The units of a plugin's suffix: their files read for it, its judgement of them kept, and what a
 * reload changes in both. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "core/manager_private.h"
#include "service/specifier.h"
#include "unit/merge.h"

/* ---- one unit ---- */

static void files_done(struct plugin_unit_files *f)
{
	fragment_done(&f->fragment);
	diag_done(&f->problems);
}

static void next_drop(struct plugin_unit *pu)
{
	if (pu->next)
		files_done(pu->next);
	free(TAKE_PTR(pu->next));
}

static void plugin_unit_free(struct plugin_unit *pu)
{
	next_drop(pu);
	files_done(&pu->files);
	free(pu);
}

void plugin_units_forget(struct plugin_host *h)
{
	for (size_t i = 0; i < h->units.n; i++)
		plugin_unit_free(h->units.item[i]);
	names_done(&h->units);
}

struct plugin_unit *plugin_unit_find(struct plugin_host *h, const char *name)
{
	return names_find(&h->units, name);
}

static struct plugin_unit *unit_get(struct plugin_host *h, const char *name)
{
	size_t n = strlen(name) + 1;
	struct plugin_unit *pu = names_find(&h->units, name);

	if (pu)
		return pu;
	pu = calloc(1, sizeof(*pu) + n);
	if (!pu)
		return NULL;
	memcpy(pu->name, name, n);
	if (names_add(&h->units, pu) == 0)
		return pu;
	free(pu);
	return NULL;
}

/* Room for what is read now; the fragment is the caller's to fill in. */
static struct plugin_unit_files *next_begin(struct plugin_unit *pu, uint64_t fingerprint,
					    bool is_masked)
{
	next_drop(pu);
	pu->next = calloc(1, sizeof(*pu->next));
	if (!pu->next)
		return NULL;
	pu->next->fingerprint = fingerprint;
	pu->next->is_masked = is_masked;
	pu->next->is_read = true;
	return pu->next;
}

static int next_read(struct plugin_unit *pu, const struct unit_source *source)
{
	struct plugin_unit_files *next = next_begin(pu, source->fingerprint, source->is_masked);

	return next ? fragment_init(&next->fragment, source) : -ENOMEM;
}

/* Only the plugin's own judgement of a file that stands as it was: its old problems go. */
static int next_same(struct plugin_unit *pu)
{
	struct plugin_unit_files *next = next_begin(pu, pu->files.fingerprint, pu->files.is_masked);

	return next ? fragment_copy(&pu->files.fragment, &next->fragment) : -ENOMEM;
}

/* What was read becomes what is. */
static void unit_settle(struct plugin_unit *pu)
{
	if (!pu->next)
		return;
	files_done(&pu->files);
	pu->files = *pu->next;
	free(TAKE_PTR(pu->next));
}

static bool is_expanded(const struct plugin_host *h, const char *key)
{
	if (!SUPD_HAS(h->plugin, expanded) || !h->plugin->expanded)
		return false;
	if (str_starts(key, "X-"))
		key += strlen("X-");
	for (const char *const *k = h->plugin->expanded; *k; k++)
		if (str_equal(*k, key))
			return true;
	return false;
}

/* Specifiers in those values of @file that the plugin names. Mistakes go to @d. 0 or -ENOMEM. */
static int expand_all(struct plugin_host *h, const struct supd_unit_file *file, struct arena *arena,
		      struct assignments *all, struct diag *d)
{
	struct specifiers s = *h->manager->config->specifiers;

	s.unit = file->name;
	s.fragment = file->path;
	for (size_t i = 0; i < all->n; i++) {
		struct assignment *a = &all->item[i];
		char *value, letter, shown[128];
		int r;

		if (!strchr(a->value, '%') || !is_expanded(h, a->key))
			continue;
		r = specifier_expand(&s, a->value, arena, &value, &letter);
		if (r >= 0)
			a->value = value;
		else if (r == -EINVAL)
			diag_add(d, DIAG_ERROR, a->file, a->line, a->key,
				 "%s= asks for %%%c, which is not known here: '%s' (a percent sign is written %%%%)",
				 a->key, letter, text_escape_to(shown, sizeof(shown), a->value));
		else
			return r;
	}
	return 0;
}

static int unit_hand_over(struct plugin_host *h, struct plugin_unit *pu,
			  const struct unit_source *source, const struct supd_unit_reader *reader)
{
	struct arena arena = { 0 };
	struct assignments all = { 0 };
	struct supd_assignment *out = NULL;
	struct supd_unit_file file = {
		.size = sizeof(file),
		.name = pu->name,
		.fingerprint = source->fingerprint,
		.is_masked = source->is_masked,
		/* Supd's own are so unless they say no; instances, only if somebody wants them. */
		.is_enabled = source->is_wanted || !(source->is_systemd || source->is_made),
		.path = source->n_pieces > 0 ? source->piece[0].path : pu->name,
	};
	int r = 0;

	if (!source->is_masked)
		r = unit_merge(source, &arena, &all, &pu->next->problems);
	if (r >= 0)
		r = expand_all(h, &file, &arena, &all, &pu->next->problems);
	if (r >= 0 && pu->next->problems.n_errors == 0) {
		out = calloc(all.n + 1, sizeof(*out));
		for (size_t i = 0; out && i < all.n; i++)
			out[i] = (struct supd_assignment){
				.section = all.item[i].section,
				.key = all.item[i].key,
				.value = all.item[i].value,
				.file = all.item[i].file,
				.line = all.item[i].line,
				.section_line = all.item[i].section_line,
			};
		file.assignment = out;
		file.n_assignments = all.n;
		r = out ? reader->unit(reader->userdata, &file) : -ENOMEM;
	}
	free(out);
	arena_done(&arena);
	return r;
}

static int unit_read_one(struct plugin_host *h, const char *name,
			 const struct supd_unit_reader *reader)
{
	const struct world *w = h->manager->world;
	struct unit_source source = { 0 };
	struct plugin_unit *pu = unit_get(h, name);
	int r;

	if (!pu)
		return -ENOMEM;
	pu->is_present = true;
	if (!reader->want(reader->userdata, name, w->unit_fingerprint(w->ctx, name)) &&
	    pu->files.is_read && pu->files.problems.n_errors == 0)
		return 0;
	r = w->read_unit(w->ctx, name, &source);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = next_read(pu, &source);
	if (r >= 0)
		r = unit_hand_over(h, pu, &source, reader);
	unit_source_done(&source);
	/* Only a reload may yet be refused. */
	if (r >= 0 && !h->is_preparing)
		unit_settle(pu);
	return r;
}

/* ---- all of them ---- */

static bool is_among(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (str_equal(*names, name))
			return true;
	return false;
}

/* Those that are known are said to be as they were, so that they stay. */
static int read_only(struct plugin_host *h, const struct supd_unit_reader *reader)
{
	const struct world *w = h->manager->world;
	int r = 0;

	for (size_t i = 0; i < h->units.n; i++) {
		struct plugin_unit *pu = h->units.item[i];

		if (is_among(h->only, pu->name))
			continue;
		pu->is_present = true;
		(void) reader->want(reader->userdata, pu->name, pu->files.fingerprint);
	}
	for (const char *const *name = h->only; r >= 0 && *name; name++)
		if (str_ends(*name, h->plugin->suffix) && w->unit_fingerprint(w->ctx, *name) != 0)
			r = unit_read_one(h, *name, reader);
	return r;
}

int plugin_units_read(void *ctx, const struct supd_unit_reader *reader)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	const char *name;
	int r;

	if (h->only)
		return read_only(h, reader);
	for (size_t i = 0; (name = w->unit_name(w->ctx, i)); i++) {
		/* A template is a file to make units of, none itself. */
		if (!str_ends(name, h->plugin->suffix) || unit_name_is_template(name) ||
		    !manager_is_unit(h->manager, name))
			continue;
		r = unit_read_one(h, name, reader);
		if (r < 0)
			return r;
	}
	return 0;
}

static enum diag_severity severity_of(enum supd_severity s)
{
	switch (s) {
	case SUPD_PROBLEM_ERROR:
		return DIAG_ERROR;
	case SUPD_PROBLEM_WARNING:
		return DIAG_WARNING;
	case SUPD_PROBLEM_NOT_APPLIED:
		return DIAG_NOT_APPLIED;
	}
	return DIAG_ERROR;
}

int plugin_units_problem(void *ctx, const struct supd_problem *p)
{
	struct plugin_host *h = ctx;
	struct plugin_unit *pu = plugin_unit_find(h, p->unit);

	if (!pu)
		return -ENOENT;
	if (!pu->next && h->is_preparing && next_same(pu) < 0)
		return -ENOMEM;
	diag_add(pu->next ? &pu->next->problems : &pu->files.problems, severity_of(p->severity),
		 p->file ? p->file : pu->name, p->line, p->key, "%s", p->message);
	return 0;
}

const char *plugin_unit_fragment(struct plugin_host *h, const struct plugin_unit *pu)
{
	const char *path = fragment_path(&pu->files.fragment, pu->name, h->shown);

	return path ? path : pu->name;
}

void plugin_units_log(const struct plugin_host *h)
{
	for (size_t u = 0; u < h->units.n; u++) {
		const struct plugin_unit *pu = h->units.item[u];

		for (size_t i = 0; i < pu->files.problems.n; i++) {
			const struct diag_entry *e = &pu->files.problems.entry[i];
			_cleanup_free_ char *line = diag_format(e);

			log_unit(pu->name,
				 e->severity == DIAG_NOT_APPLIED ? LOG_DEBUG : LOG_WARNING, 0, "%s",
				 line ? line : e->message);
		}
	}
}

bool plugin_units_have_mistakes(const struct plugin_host *h)
{
	for (size_t i = 0; i < h->units.n; i++) {
		const struct plugin_unit *pu = h->units.item[i];

		if (pu->files.problems.n_errors > 0)
			return true;
	}
	return false;
}

/* ---- reload ---- */

static bool is_present(void *item, void *userdata _unused_)
{
	struct plugin_unit *pu = item;

	if (!pu->is_present) {
		plugin_unit_free(pu);
		return false;
	}
	unit_settle(pu);
	pu->is_present = false;
	return true;
}

void plugin_units_settle(struct plugin_host *h)
{
	names_keep(&h->units, is_present, NULL);
}

static void blame(struct plugin_unit *pu, struct diag *mistakes)
{
	bool was_invalid = pu->files.problems.n_errors > 0;

	if (!pu->next || (was_invalid && pu->next->fingerprint == pu->files.fingerprint))
		return;
	for (size_t i = 0; i < pu->next->problems.n; i++) {
		const struct diag_entry *e = &pu->next->problems.entry[i];

		if (e->severity == DIAG_ERROR)
			diag_add(mistakes, e->severity, e->file, e->line, e->key, "%s", e->message);
	}
}

void plugin_units_blame(struct plugin_host *h, struct diag *mistakes)
{
	names_settle(&h->units);
	for (size_t i = 0; i < h->units.n; i++) {
		struct plugin_unit *pu = h->units.item[i];

		if (!h->only || is_among(h->only, pu->name))
			blame(pu, mistakes);
	}
}

static const char *change_of(const struct plugin_unit *pu)
{
	if (!pu->is_present)
		return "removed";
	if (!pu->files.is_read)
		return "added";
	return pu->next && pu->next->fingerprint != pu->files.fingerprint ? "changed" : NULL;
}

void plugin_units_report(const struct plugin_host *h, struct reload_report *report)
{
	for (size_t i = 0; i < h->units.n; i++) {
		const struct plugin_unit *pu = h->units.item[i];
		const char *what = change_of(pu);

		if (what)
			reload_report_add(report, pu->name, what);
	}
}

static bool was_there(void *item, void *userdata _unused_)
{
	struct plugin_unit *pu = item;

	if (!pu->files.is_read) {
		plugin_unit_free(pu);
		return false;
	}
	next_drop(pu);
	pu->is_present = false;
	return true;
}

void plugin_units_abort(struct plugin_host *h)
{
	names_keep(&h->units, was_there, NULL);
}
