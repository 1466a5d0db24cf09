/* SPDX-License-Identifier: MIT */
#include "cli/verify_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/text.h"
#include "control/client.h"
#include "control/rows_json.h"
#include "core/report.h"
#include "service/not_applied.h"

/* ---- text ---- */

/* " (reason: explanation)"; or nothing. */
static void explain(const struct verify_report *r, const struct diag_entry *e, char *buf, size_t n)
{
	*buf = '\0';
	if (r->is_strict && e->severity == DIAG_NOT_APPLIED)
		(void) snprintf(buf, n, " (%s: %s)",
				not_applied_reason_to_string(not_applied_reason(e->key)),
				not_applied_explanation(e->key));
}

/* "file:line: message" of an error, "file:line: warning: message" of what is none. */
static void print_problem(const struct verify_report *r, const struct diag_entry *e)
{
	const char *word = e->severity == DIAG_ERROR ? "" : "warning: ";
	_cleanup_free_ char *line = NULL, *shown = NULL;
	char why[256];
	int n;

	explain(r, e, why, sizeof(why));
	if (e->file && e->line > 0)
		n = asprintf(&line, "%s:%u: %s%s%s", e->file, (unsigned) e->line, word, e->message,
			     why);
	else
		n = asprintf(&line, "%s%s%s%s%s", e->file ? e->file : "", e->file ? ": " : "", word,
			     e->message, why);
	if (n < 0)
		line = NULL;
	shown = line ? text_printable(line) : NULL;
	(void) puts(shown ? shown : e->message);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void print_summary(const struct verify_report *r)
{
	(void) printf("%zu unit%s: %zu invalid, %u warning%s", r->n_units, plural(r->n_units),
		      r->n_invalid, r->n_warnings, plural(r->n_warnings));
	if (r->is_strict)
		(void) printf(", %u not applied", r->n_not_applied);
	if (r->n_unsupported > 0)
		(void) printf(" (%zu of a type that supd does not run)", r->n_unsupported);
	(void) putchar('\n');
}

/* ---- JSON ---- */

static void append(struct verify_report *r, json_t **array, json_t *item)
{
	if (!*array)
		*array = json_array();
	if (!*array || json_array_append_new(*array, item) < 0)
		r->is_failed = true;
}

static json_t *problem_json(const struct diag_entry *e)
{
	struct arena arena = { 0 };
	struct report report = { .arena = &arena };
	struct supd_row row;
	json_t *json = NULL;

	report_problem(&report, e);
	if (report_end(&report, &row) >= 0)
		json = rows_json_object(&row);
	arena_done(&arena);
	return json;
}

static void append_problems(struct verify_report *r, json_t **array, const struct diag *d)
{
	for (size_t i = 0; d && i < d->n; i++)
		append(r, array, problem_json(&d->entry[i]));
}

static json_t *text_json(const char *s)
{
	return s ? rows_json_string(s) : json_null();
}

static void append_unit(struct verify_report *r, const struct verify_unit *unit,
			const struct diag *problems, const struct diag *more)
{
	json_t *list = json_array(), *json;

	append_problems(r, &list, problems);
	append_problems(r, &list, more);
	json = json_pack("{so so so so}", "unit", text_json(unit->name), "path",
			 text_json(unit->path), "load_state", text_json(unit->load_state),
			 "problems", list);
	append(r, &r->units, json);
}

static int print_json(struct verify_report *r, json_t *json, int status)
{
	int e = rows_json_print(json, r->json == VERIFY_JSON_PRETTY, isatty(STDOUT_FILENO), stdout);

	return e < 0 ? CONTROL_FAILED : status;
}

static json_t *take_array(json_t **array)
{
	json_t *taken = TAKE_PTR(*array);

	return taken ? taken : json_array();
}

static int end_json(struct verify_report *r, int status)
{
	json_t *json = json_pack("{so so si si si si}", "units", take_array(&r->units), "problems",
				 take_array(&r->problems), "invalid", (int) r->n_invalid, "errors",
				 (int) r->n_errors, "warnings", (int) r->n_warnings, "not_applied",
				 (int) r->n_not_applied);

	return print_json(r, json, status);
}

/* ---- both ---- */

/* Has the same been said of another instance of the same file? */
static bool is_told(struct verify_report *r, const struct diag_entry *e)
{
	_cleanup_free_ char *line = diag_format(e);

	if (line && names_find(&r->told, line))
		return true;
	if (!line || names_add(&r->told, line) < 0)
		r->is_failed = true;
	else
		(void) TAKE_PTR(line);
	return false;
}

static void count(struct verify_report *r, const struct diag *d)
{
	for (size_t i = 0; d && i < d->n; i++) {
		if (is_told(r, &d->entry[i]))
			continue;
		if (d->entry[i].severity == DIAG_ERROR)
			r->n_errors++;
		else
			r->n_warnings++;
		r->n_not_applied += d->entry[i].severity == DIAG_NOT_APPLIED;
		if (r->json == VERIFY_TEXT)
			print_problem(r, &d->entry[i]);
	}
}

void verify_report_unit(struct verify_report *r, const struct verify_unit *unit,
			const struct diag *problems, const struct diag *more)
{
	r->n_units++;
	r->n_invalid += unit->is_invalid;
	r->n_unsupported += str_equal(unit->load_state, "unsupported");
	count(r, problems);
	count(r, more);
	if (r->json != VERIFY_TEXT)
		append_unit(r, unit, problems, more);
}

void verify_report_problems(struct verify_report *r, const struct diag *d)
{
	count(r, d);
	if (r->json != VERIFY_TEXT)
		append_problems(r, &r->problems, d);
}

static int verdict(const struct verify_report *r)
{
	if (r->n_invalid > 0)
		return CONTROL_NO_UNIT;
	if (r->n_errors > 0)
		return CONTROL_FAILED;
	return r->is_strict && r->n_not_applied > 0 ? CONTROL_NO_UNIT : CONTROL_OK;
}

int verify_report_end(struct verify_report *r)
{
	int status = verdict(r);

	if (r->is_failed)
		return verify_report_fail(r, "out of memory", CONTROL_FAILED);
	if (r->json != VERIFY_TEXT)
		return end_json(r, status);
	print_summary(r);
	return status;
}

int verify_report_fail(struct verify_report *r, const char *message, int status)
{
	_cleanup_free_ char *shown = text_printable(message);

	if (r->json != VERIFY_TEXT)
		return print_json(r, rows_json_error(message, status), status);
	(void) fflush(stdout);
	(void) fprintf(stderr, "supctl: %s\n", shown ? shown : "out of memory");
	return status;
}

void verify_report_done(struct verify_report *r)
{
	for (size_t i = 0; i < r->told.n; i++)
		free(r->told.item[i]);
	names_done(&r->told);
	json_decref(r->units);
	json_decref(r->problems);
}
