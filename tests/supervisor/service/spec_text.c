/* SPDX-License-Identifier: MIT */
#include "tests/supervisor/service/spec_text.h"

#include <check.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "unit/reader.h"

static const struct specifiers specifiers = {
	.unit = "backup@home.service",
	.home = "/root",
	.user = "root",
	.runtime_dir = "/run",
	.state_dir = "/var/lib",
	.logs_dir = "/var/log",
	.host_name = "box.example.org",
};

void spec_text_init(struct spec_text *t, const char *text)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	_cleanup_free_ char *file = NULL;
	struct assignments all = { 0 };
	int n;

	*t = (struct spec_text) { 0 };
	n = asprintf(&file, "%s%s\n", *text == '[' || !*text ? "" : "[Service]\n", text);
	ck_assert_int_ge(n, 0);
	ck_assert_int_eq(unit_read("x.service", file, (size_t) n, &scratch, &all, &t->diag), 0);
	ck_assert_int_eq(service_spec_parse(&specifiers, "x.service", all.item, all.n, &t->arena, &t->diag, &t->spec), 0);
}

static void print(const struct diag *d)
{
	for (size_t i = 0; i < d->n; i++) {
		_cleanup_free_ char *s = diag_format(&d->entry[i]);

		fprintf(stderr, "%s\n", s);
	}
}

void spec_text_init_good(struct spec_text *t, const char *text)
{
	spec_text_init(t, text);
	if (t->diag.n > 0)
		print(&t->diag);
	ck_assert_uint_eq(t->diag.n_errors, 0);
	ck_assert_uint_eq(t->diag.n_warnings, 0);
}

void spec_text_done(struct spec_text *t)
{
	arena_done(&t->arena);
	diag_done(&t->diag);
}

bool spec_text_has(const struct spec_text *t, enum diag_severity severity, const char *line_and_message)
{
	for (size_t i = 0; i < t->diag.n; i++) {
		const struct diag_entry *e = &t->diag.entry[i];
		_cleanup_free_ char *s = NULL;

		if (e->severity != severity || asprintf(&s, "%u: %s", e->line, e->message) < 0)
			continue;
		if (str_equal(s, line_and_message))
			return true;
	}
	print(&t->diag);
	return false;
}
