/* SPDX-License-Identifier: MIT */
/* Whether conditions are met. Each judge_… returns 1, 0, or a negative errno where there is no
 * answer. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"
#include "service/condition.h"
#include "service/condition_private.h"

struct look {
	const struct condition_facts *facts;
	struct arena *arena;
	const char *parameter;
	enum condition_kind kind;
};

typedef int judge_fn(const struct look *l);

static int text(const struct look *l, enum condition_text what, const char *name, const char **ret)
{
	return l->facts->text(l->facts->userdata, what, name, ret);
}

/* What must be there to be judged. */
static int text_needed(const struct look *l, enum condition_text what, const char **ret)
{
	int r = text(l, what, NULL, ret);

	return r == 0 ? -ENODATA : r;
}

static int test(const struct look *l, const char *parameter)
{
	return l->facts->test(l->facts->userdata, l->kind, parameter);
}

static int judge_by_test(const struct look *l)
{
	return test(l, l->parameter);
}

/* Is one of the blank-separated words of @list this one? */
static bool has_word(const char *list, const char *word, size_t n)
{
	for (size_t k; *list; list += k) {
		list += strspn(list, " \t\n");
		k = strcspn(list, " \t\n");
		if (k == n && memcmp(list, word, n) == 0)
			return true;
	}
	return false;
}

/* ---- the kernel's command line ---- */

/* 1: found, *@ret_value behind the '=', or NULL without one. */
static int find_option(const struct look *l, const char *name, const char **ret_value)
{
	size_t n = strlen(name);
	const char *line;
	char *word;
	int r = text_needed(l, CONDITION_TEXT_COMMAND_LINE, &line), found = 0;

	if (r < 0)
		return r;
	while ((r = value_word(&line, VALUE_WORD_RAW, l->arena, &word)) > 0) {
		if (strncmp(word, name, n) != 0 || (word[n] && word[n] != '='))
			continue;
		*ret_value = word[n] ? word + n + 1 : NULL;
		found = 1;
	}
	return r == -ENOMEM ? r : found;
}

/* What an admin has said to the kernel about it: 1 or 0, or -ENODATA. */
static int option_bool(const struct look *l, const char *name)
{
	const char *value;
	bool is_on = true;

	if (find_option(l, name, &value) <= 0 || (value && value_bool(value, &is_on) < 0))
		return -ENODATA;
	return is_on;
}

static int judge_kernel_command_line(const struct look *l)
{
	const char *line;
	char *word;
	size_t n = strlen(l->parameter);
	bool is_whole = strchr(l->parameter, '=');
	int r = text_needed(l, CONDITION_TEXT_COMMAND_LINE, &line);

	if (r < 0)
		return r;
	while ((r = value_word(&line, VALUE_WORD_RAW, l->arena, &word)) > 0)
		if (strncmp(word, l->parameter, n) == 0 &&
		    (!word[n] || (word[n] == '=' && !is_whole)))
			return 1;
	return r == -ENOMEM ? r : 0;
}

/* ---- yes or no ---- */

static int is_as_wanted(const struct look *l, int is)
{
	bool wanted;

	if (is < 0)
		return is;
	return value_bool(l->parameter, &wanted) < 0 ? -EINVAL : (is > 0) == wanted;
}

static int judge_ac_power(const struct look *l)
{
	return is_as_wanted(l, test(l, NULL));
}

static int judge_first_boot(const struct look *l)
{
	int said = option_bool(l, "systemd.condition-first-boot");

	return is_as_wanted(l, said >= 0 ? said : test(l, NULL));
}

static int judge_needs_update(const struct look *l)
{
	int said = option_bool(l, "systemd.condition-needs-update");

	return said >= 0 ? said : test(l, l->parameter);
}

/* ---- names ---- */

static int judge_architecture(const struct look *l)
{
	const char *is, *wanted = l->parameter;
	int r = text_needed(l, CONDITION_TEXT_ARCHITECTURE, &is);

	if (r >= 0 && str_equal(wanted, "native"))
		r = text_needed(l, CONDITION_TEXT_NATIVE_ARCHITECTURE, &wanted);
	return r < 0 ? r : str_equal(is, wanted);
}

static int judge_capability(const struct look *l)
{
	uint64_t set;
	unsigned number;
	int r = l->facts->number(l->facts->userdata, CONDITION_NUMBER_CAPABILITIES, &set);

	if (r < 0)
		return r;
	return capability_read(l->parameter, &number) ? (int) (set >> number & 1) : -EINVAL;
}

/* Controllers that nobody knows are passed over, as systemd does. */
static int judge_controllers(const struct look *l)
{
	const char *v1, *v2 = "", *have = "", *s = l->parameter;
	int is_v1 = text(l, CONDITION_TEXT_CONTROLLERS_V1, NULL, &v1);
	int is_v2 = text(l, CONDITION_TEXT_CONTROLLERS, NULL, &v2);

	if (is_v1 < 0 || is_v2 < 0)
		return is_v1 < 0 ? is_v1 : is_v2;
	if (str_equal(s, "v1"))
		return is_v1 > 0;
	if (str_equal(s, "v2"))
		return is_v2 > 0 && is_v1 == 0;
	have = is_v1 > 0 ? v1 : v2;
	for (size_t n; *s; s += n) {
		s += strspn(s, " \t");
		n = strcspn(s, " \t");
		if (controller_is_known(s, n) && !has_word(have, s, n))
			return 0;
	}
	return 1;
}

/* What cpuid(1) leaves are called by systemd, and by the kernel where that differs. */
static int judge_cpu_feature(const struct look *l)
{
	static const char *const names[][2] = {
		{ "pclmul", "pclmulqdq" }, { "fma3", "fma" }, { "osxsave", "xsave" },
	};
	const char *list, *wanted = l->parameter;
	int r = text(l, CONDITION_TEXT_CPU_FEATURES, NULL, &list);

	if (r <= 0)
		return r;
	for (size_t i = 0; i < ELEMENTS(names); i++)
		if (strcasecmp(wanted, names[i][0]) == 0)
			wanted = names[i][1];
	/* The kernel writes them in small letters, people as they like. */
	for (size_t n; *list; list += n) {
		list += strspn(list, " \t\n");
		n = strcspn(list, " \t\n");
		if (n == strlen(wanted) && strncasecmp(list, wanted, n) == 0)
			return 1;
	}
	return 0;
}

static int judge_environment(const struct look *l)
{
	const char *equals = strchrnul(l->parameter, '='), *value;
	char *name = arena_strndup(l->arena, l->parameter, (size_t) (equals - l->parameter));
	int r = name ? text(l, CONDITION_TEXT_ENVIRONMENT, name, &value) : -ENOMEM;

	if (r <= 0)
		return r;
	return !*equals || str_equal(value, equals + 1);
}

/* 32 hexadecimal digits, or the same as a UUID with dashes: without those, in @hex. */
static bool read_id(const char *s, char hex[33])
{
	uint8_t id[16];
	size_t n = 0;

	for (size_t i = 0; s[i]; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash && s[i] == '-' && strlen(s) == 36)
			continue;
		if (n == 32)
			return false;
		hex[n++] = s[i];
	}
	hex[n] = '\0';
	return n == 32 && text_unhex16(hex, id);
}

static int judge_host(const struct look *l)
{
	const char *is;
	char hex[33];
	bool is_id = read_id(l->parameter, hex);
	int r = text_needed(l, is_id ? CONDITION_TEXT_MACHINE_ID : CONDITION_TEXT_HOST_NAME, &is);

	if (r < 0)
		return r;
	return fnmatch(is_id ? hex : l->parameter, is, FNM_CASEFOLD) == 0;
}

static int judge_virtualization(const struct look *l)
{
	const char *container, *machine;
	int in_container = text(l, CONDITION_TEXT_CONTAINER, NULL, &container), in_machine;
	bool wanted;

	if (str_equal(l->parameter, "private-users"))
		return test(l, l->parameter);
	if (in_container < 0)
		return in_container;
	in_machine = in_container > 0 ? 0 : text(l, CONDITION_TEXT_VIRTUAL_MACHINE, NULL, &machine);
	if (in_machine < 0)
		return in_machine;
	if (value_bool(l->parameter, &wanted) >= 0)
		return (in_container > 0 || in_machine > 0) == wanted;
	/* Of several, the innermost counts. */
	if (in_container > 0)
		return str_equal(l->parameter, "container") || str_equal(l->parameter, container);
	return in_machine > 0 &&
	       (str_equal(l->parameter, "vm") || str_equal(l->parameter, machine));
}

/* ---- comparisons ---- */

static int judge_cpus(const struct look *l)
{
	struct number_test wanted;
	uint64_t is;
	int r = l->facts->number(l->facts->userdata, CONDITION_NUMBER_CPUS, &is);

	if (r < 0)
		return r;
	return cpus_test_read(l->parameter, &wanted)
		       ? comparison_of_numbers(wanted.comparison, is, wanted.number)
		       : -EINVAL;
}

static int judge_memory(const struct look *l)
{
	struct number_test wanted;
	uint64_t is;
	int r = l->facts->number(l->facts->userdata, CONDITION_NUMBER_MEMORY, &is);

	if (r < 0)
		return r;
	return memory_test_read(l->parameter, &wanted)
		       ? comparison_of_numbers(wanted.comparison, is, wanted.number)
		       : -EINVAL;
}

/* All of them. */
static int judge_versions(const struct look *l, const char *is, const char *wanted)
{
	struct version_test t;
	bool is_first = true;
	int r;

	while ((r = version_test_next(&wanted, is_first, l->arena, &t)) > 0) {
		if (!comparison_of_texts(t.comparison, is, t.version))
			return 0;
		is_first = false;
	}
	return r < 0 ? r : 1;
}

static int judge_kernel_version(const struct look *l)
{
	const char *is;
	int r = text_needed(l, CONDITION_TEXT_KERNEL_RELEASE, &is);

	return r < 0 ? r : judge_versions(l, is, l->parameter);
}

static int judge_version(const struct look *l)
{
	const char *wanted = l->parameter, *is;
	enum version_of of = version_of_read(&wanted);
	int r;

	/* Which is not here, in no version. */
	if (of == VERSION_OF_SYSTEMD)
		return 0;
	r = text(l,
		 of == VERSION_OF_GLIBC ? CONDITION_TEXT_GLIBC_VERSION
					: CONDITION_TEXT_KERNEL_RELEASE,
		 NULL, &is);
	return r <= 0 ? r : judge_versions(l, is, wanted);
}

/* A field that is not there is empty. */
static int judge_os_release(const struct look *l)
{
	const char *wanted = l->parameter, *is;
	struct field_test t;
	int r;

	while ((r = field_test_next(&wanted, l->arena, &t)) > 0) {
		r = text(l, CONDITION_TEXT_OS_RELEASE, t.field, &is);
		if (r < 0)
			return r;
		if (!comparison_of_texts(t.comparison, r > 0 ? is : "", t.value))
			return 0;
	}
	return r < 0 ? r : 1;
}

static int judge_firmware(const struct look *l)
{
	struct field_test t;
	const char *is;
	int r;

	if (!str_starts(l->parameter, "smbios-field("))
		return test(l, l->parameter);
	r = smbios_test_read(l->parameter, l->arena, &t);
	if (r >= 0)
		r = text(l, CONDITION_TEXT_SMBIOS, t.field, &is);
	return r <= 0 ? r : comparison_of_texts(t.comparison, is, t.value);
}

/* "full avg10=0.00 avg60=1.25 avg300=0.31 total=12345": in 1/100 %, or -EINVAL. */
static int read_pressure(const char *s, const char *line, unsigned seconds, struct arena *arena)
{
	char *key = arena_printf(arena, "avg%u=", seconds);
	const char *at;
	int x = 0, digits = -1;

	if (!key)
		return -ENOMEM;
	while (s && !str_starts(s, line)) {
		s = strchr(s, '\n');
		s = s ? s + 1 : NULL;
	}
	at = s ? strstr(s, key) : NULL;
	if (!at)
		return -EINVAL;
	for (at += strlen(key);
	     x < 100000 && digits < 2 && ((*at >= '0' && *at <= '9') || *at == '.'); at++) {
		if (*at == '.')
			digits = 0;
		else {
			x = x * 10 + (*at - '0');
			digits += digits >= 0;
		}
	}
	for (; digits < 2; digits++)
		x *= digits < 0 ? 1 : 10;
	return x;
}

/* Holds while nothing is known of pressure; nothing here runs in slices. */
static int judge_pressure(const struct look *l, const char *resource, const char *line)
{
	struct pressure_test wanted;
	const char *is;
	int r;

	if (!pressure_test_read(l->parameter, &wanted))
		return -EINVAL;
	if (wanted.has_slice)
		return 1;
	r = text(l, CONDITION_TEXT_PRESSURE, resource, &is);
	if (r <= 0)
		return r < 0 ? r : 1;
	r = read_pressure(is, line, wanted.seconds, l->arena);
	return r < 0 ? r : (unsigned) r <= wanted.limit;
}

static int judge_cpu_pressure(const struct look *l)
{
	return judge_pressure(l, "cpu", "some");
}

static int judge_io_pressure(const struct look *l)
{
	return judge_pressure(l, "io", "full");
}

static int judge_memory_pressure(const struct look *l)
{
	return judge_pressure(l, "memory", "full");
}

/* ---- one, and all ---- */

static judge_fn *const judges[] = {
	[CONDITION_AC_POWER] = judge_ac_power,
	[CONDITION_ARCHITECTURE] = judge_architecture,
	[CONDITION_CAPABILITY] = judge_capability,
	[CONDITION_CONTROL_GROUP_CONTROLLER] = judge_controllers,
	[CONDITION_CPU_FEATURE] = judge_cpu_feature,
	[CONDITION_CPU_PRESSURE] = judge_cpu_pressure,
	[CONDITION_CPUS] = judge_cpus,
	[CONDITION_CREDENTIAL] = judge_by_test,
	[CONDITION_DIRECTORY_NOT_EMPTY] = judge_by_test,
	[CONDITION_ENVIRONMENT] = judge_environment,
	[CONDITION_FILE_IS_EXECUTABLE] = judge_by_test,
	[CONDITION_FILE_NOT_EMPTY] = judge_by_test,
	[CONDITION_FIRMWARE] = judge_firmware,
	[CONDITION_FIRST_BOOT] = judge_first_boot,
	[CONDITION_GROUP] = judge_by_test,
	[CONDITION_HOST] = judge_host,
	[CONDITION_IO_PRESSURE] = judge_io_pressure,
	[CONDITION_KERNEL_COMMAND_LINE] = judge_kernel_command_line,
	[CONDITION_KERNEL_MODULE_LOADED] = judge_by_test,
	[CONDITION_KERNEL_VERSION] = judge_kernel_version,
	[CONDITION_MEMORY] = judge_memory,
	[CONDITION_MEMORY_PRESSURE] = judge_memory_pressure,
	[CONDITION_NEEDS_UPDATE] = judge_needs_update,
	[CONDITION_OS_RELEASE] = judge_os_release,
	[CONDITION_PATH_EXISTS] = judge_by_test,
	[CONDITION_PATH_EXISTS_GLOB] = judge_by_test,
	[CONDITION_PATH_IS_DIRECTORY] = judge_by_test,
	[CONDITION_PATH_IS_ENCRYPTED] = judge_by_test,
	[CONDITION_PATH_IS_MOUNT_POINT] = judge_by_test,
	[CONDITION_PATH_IS_READ_WRITE] = judge_by_test,
	[CONDITION_PATH_IS_SOCKET] = judge_by_test,
	[CONDITION_PATH_IS_SYMBOLIC_LINK] = judge_by_test,
	[CONDITION_SECURITY] = judge_by_test,
	[CONDITION_USER] = judge_by_test,
	[CONDITION_VERSION] = judge_version,
	[CONDITION_VIRTUALIZATION] = judge_virtualization,
};
_Static_assert(ELEMENTS(judges) == CONDITION_KIND_COUNT, "a judge for each kind");

int condition_judge(const struct condition *c, const struct condition_facts *facts,
		    struct arena *arena)
{
	const struct look l = {
		.facts = facts,
		.arena = arena,
		.parameter = c->parameter,
		.kind = (enum condition_kind) c->kind,
	};
	int r = judges[c->kind](&l);

	return r < 0 ? r : (r > 0) != c->is_negated;
}

static char *words_of(const struct condition *c, const char *prefix, struct arena *arena)
{
	return arena_printf(arena, "%s%s=%s%s%s", prefix,
			    condition_kind_to_string((enum condition_kind) c->kind),
			    c->is_trigger ? "|" : "", c->is_negated ? "!" : "", c->parameter);
}

static const char *one_unmet(const struct condition *c, const char *prefix, int r,
			     struct arena *arena)
{
	const char *words = words_of(c, prefix, arena);

	if (!words)
		return NULL;
	if (r < 0)
		return arena_printf(arena, "%s could not be judged (%s), and counts as not met",
				    words, strerror(-r));
	return arena_printf(arena, "%s was not met", words);
}

static const char *triggers_unmet(const struct condition_list *list, const char *prefix,
				  struct arena *arena)
{
	const struct condition *only = NULL;
	const char *all = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const char *words;

		if (!list->item[i].is_trigger)
			continue;
		only = &list->item[i];
		words = words_of(only, prefix, arena);
		all = !words || (n > 0 && !all) ? NULL
		      : n == 0                  ? words
						: arena_printf(arena, "%s, %s", all, words);
		n++;
	}
	if (n == 1)
		return one_unmet(only, prefix, 0, arena);
	return all ? arena_printf(arena, "none of %s was met", all) : NULL;
}

/* As systemd goes through them: up to the first that must be met and is not. */
static bool list_holds(const struct condition_list *list, const char *prefix,
		       const struct condition_facts *facts, struct arena *arena,
		       const char **ret_unmet)
{
	bool has_trigger = false, is_triggered = false;

	for (size_t i = 0; i < list->n; i++) {
		const struct condition *c = &list->item[i];
		int r;

		has_trigger |= c->is_trigger;
		if (c->is_trigger && is_triggered)
			continue;
		r = condition_judge(c, facts, arena);
		if (c->is_trigger)
			is_triggered = r > 0;
		else if (r <= 0) {
			*ret_unmet = one_unmet(c, prefix, r, arena);
			return false;
		}
	}
	if (has_trigger && !is_triggered)
		*ret_unmet = triggers_unmet(list, prefix, arena);
	return !has_trigger || is_triggered;
}

/* Where that cannot be told, nothing is known to be missing: there is no list of mounts. */
static bool are_mounted(const char *const *paths, const struct condition_facts *facts,
			struct arena *arena, const char **ret_unmet)
{
	const char *missing;

	for (; paths && *paths; paths++) {
		if (facts->text(facts->userdata, CONDITION_TEXT_MISSING_MOUNT, *paths, &missing) <=
		    0)
			continue;
		*ret_unmet = arena_printf(arena, "%s is not mounted", missing);
		return false;
	}
	return true;
}

enum condition_outcome conditions_judge(const struct conditions *c,
					const struct condition_facts *facts, struct arena *arena,
					const char **ret_unmet)
{
	*ret_unmet = NULL;
	if (!are_mounted(c->mounts, facts, arena, ret_unmet))
		return CONDITIONS_UNMOUNTED;
	if (!list_holds(&c->condition, "Condition", facts, arena, ret_unmet))
		return CONDITIONS_SKIP;
	if (!list_holds(&c->assert, "Assert", facts, arena, ret_unmet))
		return CONDITIONS_FAIL;
	return CONDITIONS_HOLD;
}
