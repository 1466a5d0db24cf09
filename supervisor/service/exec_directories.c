/* SPDX-License-Identifier: MIT */
#include "service/exec_directories.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "service/spec_values.h"

#define MODE 0755

const char *exec_directory_variable(enum exec_directory_kind kind)
{
	static const char *const names[] = {
		[EXEC_DIRECTORY_RUNTIME] = "RUNTIME_DIRECTORY",
		[EXEC_DIRECTORY_STATE] = "STATE_DIRECTORY",
		[EXEC_DIRECTORY_CACHE] = "CACHE_DIRECTORY",
		[EXEC_DIRECTORY_LOGS] = "LOGS_DIRECTORY",
		[EXEC_DIRECTORY_CONFIGURATION] = "CONFIGURATION_DIRECTORY",
	};

	static_assert(ELEMENTS(names) == EXEC_DIRECTORY_COUNT, "a variable for each kind");
	return names[kind];
}

/* Made at the first key; NULL: no memory. */
static struct exec_directories *directories_of(const struct key_context *c)
{
	struct exec_context *exec = &spec_draft_of(c)->exec;
	struct exec_directories *made;

	if (!exec->directories) {
		made = arena_alloc(c->arena, sizeof(*made));
		for (size_t i = 0; made && i < EXEC_DIRECTORY_COUNT; i++)
			made->set[i].mode = MODE;
		exec->directories = made;
	}
	return (struct exec_directories *) (uintptr_t) exec->directories;
}

static const char *root_of(const struct specifiers *s, enum exec_directory_kind kind)
{
	switch (kind) {
	case EXEC_DIRECTORY_RUNTIME:
		return s->runtime_dir;
	case EXEC_DIRECTORY_STATE:
		return s->state_dir;
	case EXEC_DIRECTORY_CACHE:
		return s->cache_dir;
	case EXEC_DIRECTORY_LOGS:
		return s->logs_dir;
	case EXEC_DIRECTORY_CONFIGURATION:
		return s->config_dir;
	}
	return NULL;
}

/* "a//b/./c/" → "a/b/c", in place. False: it is not below anything, or leads out of it. */
static bool normalize(char *path)
{
	char *to = path, *word, *state = NULL;

	if (*path == '/' || strlen(path) >= PATH_MAX)
		return false;
	for (word = strtok_r(path, "/", &state); word; word = strtok_r(NULL, "/", &state)) {
		size_t n = strlen(word);

		if (str_equal(word, "."))
			continue;
		if (str_equal(word, "..") || n > NAME_MAX)
			return false;
		if (to != path)
			*to++ = '/';
		memmove(to, word, n);
		to += n;
	}
	*to = '\0';
	/* What systemd keeps for itself there. */
	return to != path && !str_equal(path, "private") && !str_starts(path, "private/");
}

/* "PATH" or "PATH:LINK", where LINK is to be a symbolic link to PATH. */
static int add(const struct key_context *c, struct exec_directory_set *set, const char *word)
{
	char *path, *link;
	int r;

	r = spec_expand(c, word, &path);
	if (r < 0)
		return spec_reported(r);
	link = strchr(path, ':');
	if (link) {
		spec_not_applied(c, word);
		*link = '\0';
	}
	if (!normalize(path)) {
		spec_refuse(c, "wants relative paths without '..'", word);
		return 0;
	}
	return spec_list_append(c->arena, &set->path, path);
}

int exec_directories_parse(const struct key_context *c)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	enum exec_directory_kind kind = (enum exec_directory_kind) c->row->parameter;
	const char *at = c->assignment->value, *root = root_of(spec_draft_of(c)->specifiers, kind);
	struct exec_directories *d = directories_of(c);
	struct exec_directory_set *set;
	char *word;
	int r;

	if (!d)
		return -ENOMEM;
	set = &d->set[kind];
	if (!*at) {
		set->path = NULL;
		return 0;
	}
	if (!root) {
		key_error(c, "%s= has no place: it is not known here where such directories are",
			  c->assignment->key);
		return 0;
	}
	set->root = arena_strdup(c->arena, root);
	if (!set->root)
		return -ENOMEM;
	while ((r = value_word(&at, VALUE_WORD_PLAIN, &scratch, &word)) > 0) {
		r = add(c, set, word);
		if (r < 0)
			return r;
	}
	if (r == -EINVAL)
		spec_refuse(c, "wants balanced quotes and known escapes", c->assignment->value);
	return r == -ENOMEM ? r : 0;
}

int exec_directories_parse_mode(const struct key_context *c)
{
	struct exec_directories *d = directories_of(c);
	mode_t mode = MODE;

	if (!d)
		return -ENOMEM;
	if (*c->assignment->value && value_mode(c->assignment->value, &mode) < 0)
		spec_refuse(c, "wants an octal mode up to 7777", c->assignment->value);
	d->set[c->row->parameter].mode = mode;
	return 0;
}

int exec_directories_parse_preserve(const struct key_context *c)
{
	struct exec_directories *d = directories_of(c);
	const char *value = c->assignment->value;
	bool preserve = false;

	if (!d)
		return -ENOMEM;
	if (str_equal(value, "restart"))
		d->preserve = EXEC_PRESERVE_RESTART;
	else if (*value && value_bool(value, &preserve) < 0)
		spec_refuse(c, "wants yes, no or restart", value);
	else
		d->preserve = preserve ? EXEC_PRESERVE_YES : EXEC_PRESERVE_NO;
	return 0;
}
