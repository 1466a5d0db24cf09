/* SPDX-License-Identifier: MIT */
#include "cli/verify_programs.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "service/environment.h"
#include "service/spec.h"
#include "unit/merge.h"
#include "unit/source.h"

/* ---- where it stands ---- */

struct place {
	const char *file;
	unsigned line;
};

/* The last assignment to @key that speaks of @text: what counts, and what a person would look
 * for. */
static struct place place_of(const struct assignments *all, const char *key, const char *text)
{
	struct place p = { NULL, 0 };

	for (size_t i = 0; i < all->n; i++)
		if (str_equal(all->item[i].key, key) && strstr(all->item[i].value, text))
			p = (struct place) { all->item[i].file, all->item[i].line };
	return p;
}

/* ---- programs ---- */

/* 0, or why it cannot be executed. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) < 0 ? errno : 0;
}

static int check_program(const char *name)
{
	char path[4096];
	int error = ENOENT;

	if (strchr(name, '/'))
		return check_file(name);
	for (const char *p = ENVIRONMENT_PATH, *end; p; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');
		if (snprintf(path, sizeof(path), "%.*s/%s", (int) (end - p), p, name) >=
		    (int) sizeof(path))
			continue;
		if (check_file(path) == 0)
			return 0;
	}
	return error;
}

static void check_commands(const struct service_spec *spec, const struct assignments *all,
			   const char *file, struct diag *d)
{
	static const char *const key[] = {
		[EXEC_CONDITION] = "ExecCondition",
		[EXEC_START_PRE] = "ExecStartPre",
		[EXEC_START] = "ExecStart",
		[EXEC_START_POST] = "ExecStartPost",
		[EXEC_STOP] = "ExecStop",
		[EXEC_STOP_POST] = "ExecStopPost",
	};
	_Static_assert(ELEMENTS(key) == EXEC_PHASE_COUNT, "a key for each phase");

	for (size_t phase = 0; phase < ELEMENTS(key); phase++)
		for (size_t i = 0; i < spec->command[phase].n; i++) {
			const struct exec_command *c = &spec->command[phase].item[i];
			struct place p = place_of(all, key[phase], c->path);
			int error = c->ignore_failure ? 0 : check_program(c->path);
			char shown[256];

			if (error)
				diag_add(d, DIAG_WARNING, p.file ? p.file : file, p.line,
					 key[phase], "%s= cannot be executed here: '%s': %s",
					 key[phase], text_escape_to(shown, sizeof(shown), c->path),
					 strerror(error));
		}
}

/* ---- who it runs as ---- */

static bool is_number(const char *s)
{
	return s[strspn(s, "0123456789")] == '\0';
}

static void check_name(const char *key, const char *name, bool is_known,
		       const struct assignments *all, const char *file, struct diag *d)
{
	struct place p = place_of(all, key, name);
	char shown[128];

	if (!is_known)
		diag_add(d, DIAG_WARNING, p.file ? p.file : file, p.line, key,
			 "%s=%s is not known here", key,
			 text_escape_to(shown, sizeof(shown), name));
}

static void check_identity(const struct service_spec *spec, const struct assignments *all,
			   const char *file, struct diag *d)
{
	if (spec->exec->user && !is_number(spec->exec->user))
		check_name("User", spec->exec->user, getpwnam(spec->exec->user), all, file, d);
	if (spec->exec->group && !is_number(spec->exec->group))
		check_name("Group", spec->exec->group, getgrnam(spec->exec->group), all, file, d);
}

void verify_programs(const struct service_spec *spec, const struct unit_source *source,
		     struct diag *d)
{
	const char *file = source->n_pieces > 0 ? source->piece[0].path : source->name;
	struct arena arena = { 0 };
	struct assignments all = { 0 };
	struct diag known = { 0 }; /* told already */

	if (unit_merge(source, &arena, &all, &known) >= 0) {
		check_commands(spec, &all, file, d);
		check_identity(spec, &all, file, d);
	}
	diag_done(&known);
	arena_done(&arena);
}
