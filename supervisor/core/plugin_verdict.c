/* SPDX-License-Identifier: MIT */
#include "core/plugin_verdict.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "supd-plugin.h"

#define WORD_MAX 32

/* What version 1 had, however long the structs have grown since. */
#define PLUGIN_SIZE_1 \
	(offsetof(struct supd_plugin, list) + sizeof(((struct supd_plugin *) NULL)->list))
#define LISTENER_SIZE_1 \
	(offsetof(struct supd_listener, command) + sizeof(((struct supd_listener *) NULL)->command))

/* [a-z][a-z0-9-]*, not longer than a unit's suffix may be. */
static bool is_word(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return s[0] >= 'a' && s[0] <= 'z' && s[n] == '\0' && n <= WORD_MAX;
}

/* The first required member that is not there, as a word for the sentence; NULL: all are. */
static const char *missing_member(const struct supd_plugin *p)
{
	if (!p->name)
		return "name";
	if (!p->suffix)
		return "suffix";
	if (!p->start)
		return "start";
	if (!p->stop)
		return "stop";
	if (!p->list)
		return "list";
	return NULL;
}

static bool is_complete(const struct supd_plugin *p)
{
	return !missing_member(p) && is_word(p->name) && p->suffix[0] == '.' &&
	       is_word(p->suffix + 1);
}

static bool suffix_is_taken(const struct supd_plugin *p, plugin_suffix_owner_fn *owner,
			    void *userdata)
{
	return str_equal(p->suffix, ".service") || (owner && owner(userdata, p->suffix));
}

enum plugin_verdict plugin_judge(const struct supd_plugin *plugin, plugin_suffix_owner_fn *owner,
				 void *userdata)
{
	if (plugin->abi != SUPD_ABI)
		return PLUGIN_ABI_DIFFERS;
	if (plugin->size < PLUGIN_SIZE_1)
		return PLUGIN_TOO_SMALL;
	if (!is_complete(plugin))
		return PLUGIN_INCOMPLETE;
	if (suffix_is_taken(plugin, owner, userdata))
		return PLUGIN_SUFFIX_TAKEN;
	return PLUGIN_FIT;
}

static void incomplete_words(const struct supd_plugin *plugin, const char *where, char *buf,
			     size_t n)
{
	const char *missing = missing_member(plugin);
	bool bad_name = !missing && !is_word(plugin->name);
	char shown[64];

	if (missing)
		snprintf(buf, n, "plugin %s has no %s", where, missing);
	else
		snprintf(buf, n, "plugin %s has the %s '%s', which is not of the form %s", where,
			 bad_name ? "name" : "suffix",
			 text_escape_to(shown, sizeof(shown),
					bad_name ? plugin->name : plugin->suffix),
			 bad_name ? "'timer'" : "'.timer'");
}

const char *plugin_verdict_words(enum plugin_verdict v, const struct supd_plugin *plugin,
				 const char *where, char *buf, size_t n)
{
	switch (v) {
	case PLUGIN_FIT:
		snprintf(buf, n, "plugin %s is fit", where);
		break;
	case PLUGIN_ABI_DIFFERS:
		snprintf(
			buf, n,
			"plugin %s was made for version %u of the plugin interface, this supd has version %u",
			where, (unsigned) plugin->abi, SUPD_ABI);
		break;
	case PLUGIN_TOO_SMALL:
		snprintf(
			buf, n,
			"plugin %s describes itself in %u bytes, version %u of the interface needs %zu",
			where, (unsigned) plugin->size, SUPD_ABI, PLUGIN_SIZE_1);
		break;
	case PLUGIN_INCOMPLETE:
		incomplete_words(plugin, where, buf, n);
		break;
	case PLUGIN_SUFFIX_TAKEN:
		snprintf(buf, n, "plugin %s wants units named *%s, which are taken", where,
			 plugin->suffix);
		break;
	}
	return buf;
}

bool plugin_listener_is_complete(const struct supd_listener *l)
{
	return l && l->abi == SUPD_ABI && l->size >= LISTENER_SIZE_1 && l->wake && l->clock_jump &&
	       l->zone_change && l->run && l->saved && l->prepare && l->commit && l->abort &&
	       l->command;
}
