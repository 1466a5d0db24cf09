/* SPDX-License-Identifier: MIT */
#include "unit/name.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *suffix;
	enum unit_kind kind;
} suffixes[] = {
	{ ".service", UNIT_SERVICE }, { ".timer", UNIT_TIMER },     { ".target", UNIT_TARGET },
	{ ".socket", UNIT_OTHER },    { ".path", UNIT_OTHER },      { ".mount", UNIT_OTHER },
	{ ".slice", UNIT_OTHER },     { ".automount", UNIT_OTHER }, { ".swap", UNIT_OTHER },
	{ ".device", UNIT_OTHER },    { ".scope", UNIT_OTHER },
};

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr(":_.\\-@", c));
}

const char *unit_name_suffix(const char *name)
{
	return strrchr(name, '.');
}

/* -1: no suffix of a unit. */
static int find_suffix(const char *suffix)
{
	for (size_t i = 0; suffix && i < ELEMENTS(suffixes); i++)
		if (str_equal(suffix, suffixes[i].suffix))
			return (int) i;
	return -1;
}

bool unit_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	if (n > UNIT_NAME_MAX || n == 0 || strchr(".-@", name[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_name_char(name[i]))
			return false;
	return find_suffix(unit_name_suffix(name)) >= 0;
}

/* The '@' between prefix and instance, NULL if there is none. */
static const char *find_at(const char *name)
{
	const char *at = strchr(name, '@'), *suffix = unit_name_suffix(name);

	return at && suffix && at < suffix ? at : NULL;
}

bool unit_name_is_template(const char *name)
{
	const char *at = find_at(name);

	return at && at + 1 == unit_name_suffix(name);
}

bool unit_name_is_instance(const char *name)
{
	const char *at = find_at(name);

	return at && at + 1 < unit_name_suffix(name);
}

enum unit_kind unit_name_kind(const char *name)
{
	int i = find_suffix(unit_name_suffix(name));

	return i < 0 ? UNIT_OTHER : suffixes[i].kind;
}

/* @n bytes of @stem, then @suffix: if that is a name. */
static int compose(const char *stem, size_t n, const char *suffix, char ret[UNIT_NAME_MAX + 1])
{
	char name[UNIT_NAME_MAX + 1];
	size_t m = strlen(suffix);

	if (n > UNIT_NAME_MAX || m > UNIT_NAME_MAX - n)
		return -EINVAL;
	memcpy(name, stem, n);
	memcpy(name + n, suffix, m + 1);
	if (!unit_name_is_valid(name))
		return -EINVAL;
	memcpy(ret, name, n + m + 1);
	return 0;
}

int unit_name_complete(const char *typed, const char *default_suffix, char ret[UNIT_NAME_MAX + 1])
{
	bool has_suffix = find_suffix(unit_name_suffix(typed)) >= 0;

	return compose(typed, strlen(typed), has_suffix ? "" : default_suffix, ret);
}

int unit_name_change_suffix(const char *name, const char *suffix, char ret[UNIT_NAME_MAX + 1])
{
	const char *old = unit_name_suffix(name);

	return compose(name, old ? (size_t) (old - name) : strlen(name), suffix, ret);
}

int unit_name_template(const char *name, char ret[UNIT_NAME_MAX + 1])
{
	if (!unit_name_is_instance(name))
		return -EINVAL;
	return compose(name, (size_t) (find_at(name) + 1 - name), unit_name_suffix(name), ret);
}

/* @n bytes of @instance. */
static int add_instance(const char *template, const char *instance, size_t n,
			char ret[UNIT_NAME_MAX + 1])
{
	char stem[UNIT_NAME_MAX + 1];
	size_t stem_n;

	if (!unit_name_is_template(template) || n == 0)
		return -EINVAL;
	stem_n = (size_t) (find_at(template) + 1 - template);
	if (n > UNIT_NAME_MAX - stem_n)
		return -EINVAL;
	memcpy(stem, template, stem_n);
	memcpy(stem + stem_n, instance, n);
	return compose(stem, stem_n + n, unit_name_suffix(template), ret);
}

int unit_name_add_instance(const char *template, const char *instance, char ret[UNIT_NAME_MAX + 1])
{
	return add_instance(template, instance, strlen(instance), ret);
}

int unit_name_instance_of(const char *template, const char *instance, char ret[UNIT_NAME_MAX + 1])
{
	const char *begin;

	if (!unit_name_is_instance(instance))
		return -EINVAL;
	begin = find_at(instance) + 1;
	return add_instance(template, begin, (size_t) (unit_name_suffix(instance) - begin), ret);
}
