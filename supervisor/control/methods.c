/* SPDX-License-Identifier: MIT */
#include "control/methods.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"

#define UNIT_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.\\-@"
#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyz"
#define RUN_CHARACTERS "0123456789abcdefABCDEF"
#define PATTERN_CHARACTERS UNIT_CHARACTERS "*?[]!"
#define WORDS_CHARACTERS WORD_CHARACTERS "-,"
#define WORDS_MAX 256
#define UNIT_MAX 255
#define RUN_MAX 32
#define WORD_MAX 32
#define TEXT_MAX ((size_t) 256 * 1024)

#define ROW(name, signature, arguments, verb, right) { name, signature, arguments, verb, right },
static const struct method methods[] = { METHODS(ROW) };
#undef ROW

const struct method *method_at(size_t i)
{
	return i < ELEMENTS(methods) ? &methods[i] : NULL;
}

const struct method *method_find(const char *name)
{
	for (size_t i = 0; name && i < ELEMENTS(methods); i++)
		if (str_equal(methods[i].name, name))
			return &methods[i];
	return NULL;
}

bool method_is_allowed(const struct method *m, enum right right)
{
	return m && m->right != RIGHT_NONE && right >= m->right;
}

/* ---- arguments ---- */

enum argument_kind {
	ARGUMENT_UNIT,
	ARGUMENT_UNIT_OR_ALL,
	ARGUMENT_WORD,
	ARGUMENT_WORDS, /* parted by commas; "" for none */
	ARGUMENT_RUN,   /* "" for none */
	ARGUMENT_TEXT,  /* of a file */
	ARGUMENT_BOOL,
	ARGUMENT_NUMBER,
	ARGUMENT_UNITS, /* patterns; none for all */
	ARGUMENT_KEYS,  /* not part of the request: who answers need not care */
};

struct argument {
	const char *name;
	enum argument_kind kind;
	size_t offset; /* in struct control_request */
};

#define FIELD(member) offsetof(struct control_request, member)
static const struct argument arguments[] = {
	{ "unit", ARGUMENT_UNIT, FIELD(unit) },
	{ "unit_or_all", ARGUMENT_UNIT_OR_ALL, FIELD(unit) },
	{ "subsystem", ARGUMENT_WORD, FIELD(subsystem) },
	{ "table", ARGUMENT_WORD, FIELD(table) },
	{ "feature", ARGUMENT_WORD, FIELD(subsystem) },
	{ "service_text", ARGUMENT_TEXT, FIELD(service_text) },
	{ "timer_text", ARGUMENT_TEXT, FIELD(timer_text) },
	{ "wait", ARGUMENT_BOOL, FIELD(wait) },
	{ "on", ARGUMENT_BOOL, FIELD(on) },
	{ "runtime", ARGUMENT_BOOL, FIELD(runtime) },
	{ "run", ARGUMENT_RUN, FIELD(run) },
	{ "since", ARGUMENT_NUMBER, FIELD(since) },
	{ "until", ARGUMENT_NUMBER, FIELD(until) },
	{ "lines", ARGUMENT_NUMBER, FIELD(lines) },
	{ "moment", ARGUMENT_NUMBER, FIELD(moment) },
	{ "offset", ARGUMENT_NUMBER, FIELD(offset) },
	{ "follow", ARGUMENT_BOOL, FIELD(follow) },
	{ "outcomes", ARGUMENT_WORDS, FIELD(outcomes) },
	{ "types", ARGUMENT_WORDS, FIELD(types) },
	{ "cause", ARGUMENT_WORDS, FIELD(cause) },
	{ "units", ARGUMENT_UNITS, 0 },
	{ "keys", ARGUMENT_KEYS, 0 },
};
#undef FIELD

static const struct argument *argument_find(const char *name)
{
	for (size_t i = 0; i < ELEMENTS(arguments); i++)
		if (str_equal(arguments[i].name, name))
			return &arguments[i];
	return NULL;
}

static bool consists_of(const char *s, const char *characters, size_t max)
{
	size_t n = strlen(s);

	return n > 0 && n <= max && strspn(s, characters) == n;
}

/* Is it a name at all; which names there are is for those to say who know units. */
static bool is_unit_like(const char *s)
{
	return consists_of(s, UNIT_CHARACTERS, UNIT_MAX) && *s != '.' && *s != '-';
}

static int judge_text(const struct argument *a, const char *text, const char **ret,
		      const char **reterr)
{
	bool is_good = false, may_be_empty = false;

	switch (a->kind) {
	case ARGUMENT_UNIT_OR_ALL:
		may_be_empty = true;
		__attribute__((fallthrough));
	case ARGUMENT_UNIT:
		is_good = is_unit_like(text);
		*reterr = "that is not the name of a unit";
		break;
	case ARGUMENT_WORD:
		is_good = consists_of(text, WORD_CHARACTERS, WORD_MAX);
		*reterr = "a subsystem, a table or a feature is a word of small letters";
		break;
	case ARGUMENT_WORDS:
		may_be_empty = true;
		is_good = consists_of(text, WORDS_CHARACTERS, WORDS_MAX);
		*reterr = "outcomes, causes and types are words of small letters, parted by commas";
		break;
	case ARGUMENT_RUN:
		may_be_empty = true;
		is_good = consists_of(text, RUN_CHARACTERS, RUN_MAX);
		*reterr = "the id of a run has at most 32 hexadecimal digits";
		break;
	case ARGUMENT_TEXT:
		is_good = strlen(text) <= TEXT_MAX;
		*reterr = "a unit file of more than 256 KiB";
		break;
	case ARGUMENT_BOOL:
	case ARGUMENT_NUMBER:
	case ARGUMENT_UNITS:
	case ARGUMENT_KEYS:
		break;
	}
	if (may_be_empty && *text == '\0')
		return 0;
	if (!is_good)
		return -EINVAL;
	*ret = text;
	return 0;
}

static int read_units(sd_bus_message *message, struct control_request *request, const char **reterr)
{
	const char *unit;
	int r = sd_bus_message_enter_container(message, 'a', "s");

	if (r < 0)
		return -EINVAL;
	while ((r = sd_bus_message_read_basic(message, 's', &unit)) > 0) {
		if (request->n_units == CONTROL_UNITS_MAX) {
			*reterr =
				"these are more units than may be asked for at once: use patterns";
			return -EINVAL;
		}
		if (!consists_of(unit, PATTERN_CHARACTERS, UNIT_MAX)) {
			*reterr = "that is neither the name of a unit nor a pattern";
			return -EINVAL;
		}
		request->units[request->n_units++] = unit;
	}
	return r < 0 || sd_bus_message_exit_container(message) < 0 ? -EINVAL : 0;
}

static uint64_t beginning(const char *key)
{
	return UINT64_C(1) << ((key[0] * 5u + (key[0] ? (unsigned char) key[1] : 0u)) % 64);
}

/* Asked for each field of each row. */
bool method_keys_want(const struct method_keys *keys, const char *key)
{
	if (keys->n == 0)
		return true;
	if (!(keys->beginnings & beginning(key)))
		return false;
	for (size_t i = 0; i < keys->n; i++)
		if (str_equal(keys->key[i], key))
			return true;
	return false;
}

static int read_keys(sd_bus_message *message, struct method_keys *keys, const char **reterr)
{
	const char *key;
	int r = sd_bus_message_enter_container(message, 'a', "s");

	if (r < 0)
		return -EINVAL;
	while ((r = sd_bus_message_read_basic(message, 's', &key)) > 0) {
		if (keys->n == METHOD_KEYS_MAX) {
			*reterr = "these are more keys than rows have";
			return -EINVAL;
		}
		keys->key[keys->n++] = key;
		keys->beginnings |= beginning(key);
	}
	return r < 0 || sd_bus_message_exit_container(message) < 0 ? -EINVAL : 0;
}

static int read_argument(const struct argument *a, sd_bus_message *message,
			 struct control_request *request, struct method_keys *keys,
			 const char **reterr)
{
	void *field = (char *) request + a->offset;
	const char *text;
	int truth, r;

	if (a->kind == ARGUMENT_UNITS)
		return read_units(message, request, reterr);
	if (a->kind == ARGUMENT_KEYS)
		return read_keys(message, keys, reterr);
	if (a->kind == ARGUMENT_BOOL) {
		r = sd_bus_message_read_basic(message, 'b', &truth);
		if (r > 0)
			*(bool *) field = truth;
		return r > 0 ? 0 : -EINVAL;
	}
	if (a->kind == ARGUMENT_NUMBER)
		return sd_bus_message_read_basic(message, 't', field) > 0 ? 0 : -EINVAL;
	r = sd_bus_message_read_basic(message, 's', &text);
	return r > 0 ? judge_text(a, text, field, reterr) : -EINVAL;
}

int method_read(const struct method *m, sd_bus_message *message, struct control_request *ret,
		struct method_keys *ret_keys, const char **reterr)
{
	struct control_request request = { .verb = m->verb };
	struct method_keys keys = { .n = 0 };
	int r;

	*reterr = "the arguments are not those of this method";
	for (const char *name = m->arguments; *name; name += strlen(name) + 1) {
		r = read_argument(argument_find(name), message, &request, &keys, reterr);
		if (r < 0)
			return r;
	}
	*ret = request;
	*ret_keys = keys;
	return 0;
}
