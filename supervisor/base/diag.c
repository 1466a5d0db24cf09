/* SPDX-License-Identifier: MIT */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"

static void entry_done(struct diag_entry *e)
{
	free(e->file);
	free(e->key);
	free(e->message);
}

void diag_done(struct diag *d)
{
	for (size_t i = 0; i < d->n; i++)
		entry_done(&d->entry[i]);
	free(d->entry);
	*d = (struct diag) {0};
}

static bool make_room(struct diag *d, size_t more)
{
	size_t wanted = d->allocated ? d->allocated : 4;
	struct diag_entry *bigger;

	if (more <= d->allocated - d->n)
		return true;
	while (wanted - d->n < more)
		wanted *= 2;
	bigger = reallocarray(d->entry, wanted, sizeof(*bigger));
	if (!bigger)
		return false;
	d->entry = bigger;
	d->allocated = (unsigned) wanted;
	return true;
}

static void count(struct diag *d, enum diag_severity severity)
{
	if (severity == DIAG_ERROR)
		d->n_errors++;
	else
		d->n_warnings++;
}

/* Whatever a caller put into its sentence, it stays one line and harmless. */
static char *format_message(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
static char *format_message(const char *fmt, va_list ap)
{
	_cleanup_free_ char *raw = NULL;

	if (vasprintf(&raw, fmt, ap) < 0) {
		raw = NULL;
		return NULL;
	}
	return text_printable(raw);
}

void diag_add(struct diag *d, enum diag_severity severity, const char *file, uint32_t line,
	      const char *key, const char *fmt, ...)
{
	struct diag_entry e = {.severity = severity, .line = line};
	va_list ap;

	count(d, severity);
	va_start(ap, fmt);
	e.message = format_message(fmt, ap);
	va_end(ap);
	e.file = file ? strdup(file) : NULL;
	e.key = key ? strdup(key) : NULL;
	if (!e.message || (file && !e.file) || (key && !e.key) || !make_room(d, 1)) {
		entry_done(&e);
		return;
	}
	d->entry[d->n++] = e;
}

void diag_drop_last(struct diag *d)
{
	const struct diag_entry *e = d->n > 0 ? &d->entry[--d->n] : NULL;

	if (!e)
		return;
	if (e->severity == DIAG_ERROR)
		d->n_errors--;
	else
		d->n_warnings--;
	entry_done(&d->entry[d->n]);
}

void diag_drop_not_applied(struct diag *d, const char *key)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < d->n; i++) {
		struct diag_entry *e = &d->entry[i];

		if (e->severity == DIAG_NOT_APPLIED && e->key && str_equal(e->key, key)) {
			d->n_warnings--;
			entry_done(e);
		} else {
			d->entry[kept++] = *e;
		}
	}
	d->n = kept;
}

void diag_move(struct diag *to, struct diag *from)
{
	to->n_errors += from->n_errors;
	to->n_warnings += from->n_warnings;
	if (to->n == 0 && from->n > 0) {
		free(to->entry);
		to->entry = TAKE_PTR(from->entry);
		to->n = from->n;
		to->allocated = from->allocated;
		from->n = 0;
	} else if (from->n > 0 && make_room(to, from->n)) {
		memcpy(to->entry + to->n, from->entry, from->n * sizeof(*from->entry));
		to->n += from->n;
		from->n = 0;
	}
	diag_done(from);
}

char *diag_format(const struct diag_entry *e)
{
	_cleanup_free_ char *raw = NULL;
	int n;

	if (e->file && e->line)
		n = asprintf(&raw, "%s:%u: %s", e->file, (unsigned) e->line, e->message);
	else if (e->file)
		n = asprintf(&raw, "%s: %s", e->file, e->message);
	else
		n = asprintf(&raw, "%s", e->message);
	if (n < 0) {
		raw = NULL;
		return NULL;
	}
	return text_printable(raw);
}
