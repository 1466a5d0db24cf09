/* SPDX-License-Identifier: MIT */
#include "service/spec_values.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse_error.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"
#include "service/command.h"
#include "service/environment.h"

#define SHOWN_MAX 128

/* ---- shared ---- */

struct spec_draft *spec_draft_of(const struct key_context *c)
{
	return c->object;
}

void spec_refuse(const struct key_context *c, const char *sentence, const char *text)
{
	char shown[SHOWN_MAX];

	key_error(c, "%s= %s, not '%s'", c->assignment->key, sentence,
		  text_escape_to(shown, sizeof(shown), text));
}

void spec_not_applied(const struct key_context *c, const char *text)
{
	const struct assignment *a = c->assignment;
	char shown[SHOWN_MAX];

	diag_add(c->diag, DIAG_NOT_APPLIED, a->file, a->line, a->key,
		 "%s=%s is not applied, ignored", a->key,
		 text_escape_to(shown, sizeof(shown), text));
}

int spec_expand(const struct key_context *c, const char *text, char **ret)
{
	char letter, shown[SHOWN_MAX];
	int r;

	r = specifier_expand(spec_draft_of(c)->specifiers, text, c->arena, ret, &letter);
	if (r != -EINVAL)
		return r;
	key_error(
		c,
		"%s= asks for %%%c, which is not known here: '%s' (a percent sign is written %%%%)",
		c->assignment->key, letter, text_escape_to(shown, sizeof(shown), text));
	return -EBADMSG;
}

int spec_reported(int r)
{
	return r == -EBADMSG ? 0 : r;
}

int spec_list_append(struct arena *arena, const char *const **list, const char *word)
{
	const char **grown = (const char **) (uintptr_t) *list;
	size_t n = 0;

	if (!grown) {
		grown = arena_grow(arena, NULL, 0, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		grown[0] = NULL;
	}
	while (grown[n])
		n++;
	grown = arena_grow(arena, grown, n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[n] = word;
	grown[n + 1] = NULL;
	*list = grown;
	return 0;
}

typedef bool word_check_fn(const char *word);

/* Words of a list, each expanded, checked and appended; "" empties the list. */
static int parse_list(const struct key_context *c, word_check_fn *check, const char *wanted)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	const char *const **list = key_field(c), *at = c->assignment->value;
	char *word;
	int r;

	if (!*at) {
		*list = NULL;
		return 0;
	}
	for (;;) {
		r = value_word(&at, VALUE_WORD_PLAIN, &scratch, &word);
		if (r == -EINVAL) {
			spec_refuse(c, "wants words with balanced quotes and known escapes",
				    c->assignment->value);
			return 0;
		}
		if (r <= 0)
			return r;
		r = spec_expand(c, word, &word);
		if (r < 0)
			return spec_reported(r);
		if (!check(word)) {
			spec_refuse(c, wanted, word);
			continue;
		}
		r = spec_list_append(c->arena, list, word);
		if (r < 0)
			return r;
	}
}

/* ---- [Unit] ---- */

/* Shown to people, so a percent sign gone astray in it is no reason not to run. */
int spec_parse_description(const struct key_context *c)
{
	const char **field = key_field(c);
	char *text;
	int r;

	*field = NULL;
	if (!*c->assignment->value)
		return 0;
	r = specifier_expand(spec_draft_of(c)->specifiers, c->assignment->value, c->arena, &text,
			     NULL);
	if (r == -EINVAL)
		text = arena_strdup(c->arena, c->assignment->value);
	else if (r < 0)
		return r;
	*field = text;
	return text ? 0 : -ENOMEM;
}

/* ---- what kind of service ---- */

int spec_type_from_string(const char *word, enum service_type *ret)
{
	static const char *const others[] = {
		"simple", "exec", "forking", "dbus", "notify", "notify-reload", "idle",
	};

	*ret = SERVICE_ONESHOT;
	if (str_equal(word, "oneshot"))
		return 0;
	for (size_t i = 0; i < ELEMENTS(others); i++)
		if (str_equal(word, others[i])) {
			*ret = SERVICE_UNSUPPORTED;
			return 0;
		}
	return -EINVAL;
}

int spec_parse_type(const struct key_context *c)
{
	const char *value = c->assignment->value;
	enum service_type type;

	/* Another type than oneshot does not get here, unless a later assignment takes its
	 * place. */
	if (*value && spec_type_from_string(value, &type) < 0)
		spec_refuse(c, "wants oneshot (or another type that systemd knows)", value);
	return 0;
}

int spec_parse_command(const struct key_context *c)
{
	return exec_command_parse(c, spec_draft_of(c)->specifiers, key_field(c));
}

/* ---- SuccessExitStatus= and its like ---- */

/* systemd.exec(5), "PROCESS EXIT CODES", and sysexits.h. */
static const struct {
	const char *name;
	uint8_t code;
} exit_codes[] = {
	{ "SUCCESS", 0 }, { "FAILURE", 1 }, { "INVALIDARGUMENT", 2 }, { "NOTIMPLEMENTED", 3 },
	{ "NOPERMISSION", 4 }, { "NOTINSTALLED", 5 }, { "NOTCONFIGURED", 6 }, { "NOTRUNNING", 7 },
	{ "USAGE", 64 }, { "DATAERR", 65 }, { "NOINPUT", 66 }, { "NOUSER", 67 }, { "NOHOST", 68 },
	{ "UNAVAILABLE", 69 }, { "SOFTWARE", 70 }, { "OSERR", 71 }, { "OSFILE", 72 },
	{ "CANTCREAT", 73 }, { "IOERR", 74 }, { "TEMPFAIL", 75 }, { "PROTOCOL", 76 },
	{ "NOPERM", 77 }, { "CONFIG", 78 }, { "CHDIR", 200 }, { "NICE", 201 }, { "FDS", 202 },
	{ "EXEC", 203 }, { "MEMORY", 204 }, { "LIMITS", 205 }, { "OOM_ADJUST", 206 },
	{ "SIGNAL_MASK", 207 }, { "STDIN", 208 }, { "STDOUT", 209 }, { "CHROOT", 210 },
	{ "IOPRIO", 211 }, { "TIMERSLACK", 212 }, { "SECUREBITS", 213 }, { "SETSCHEDULER", 214 },
	{ "CPUAFFINITY", 215 }, { "GROUP", 216 }, { "USER", 217 }, { "CAPABILITIES", 218 },
	{ "CGROUP", 219 }, { "SETSID", 220 }, { "CONFIRM", 221 }, { "STDERR", 222 }, { "PAM", 224 },
	{ "NETWORK", 225 }, { "NAMESPACE", 226 }, { "NO_NEW_PRIVILEGES", 227 }, { "SECCOMP", 228 },
	{ "SELINUX_CONTEXT", 229 }, { "PERSONALITY", 230 }, { "APPARMOR", 231 },
	{ "ADDRESS_FAMILIES", 232 }, { "RUNTIME_DIRECTORY", 233 }, { "CHOWN", 235 },
	{ "SMACK_PROCESS_LABEL", 236 }, { "KEYRING", 237 }, { "STATE_DIRECTORY", 238 },
	{ "CACHE_DIRECTORY", 239 }, { "LOGS_DIRECTORY", 240 }, { "CONFIGURATION_DIRECTORY", 241 },
	{ "NUMA_POLICY", 242 }, { "CREDENTIALS", 243 }, { "BPF", 245 }, { "EXCEPTION", 255 },
};

static bool exit_code_from_string(const char *word, uint64_t *ret)
{
	if (value_unsigned(word, 255, ret) == 0)
		return true;
	for (size_t i = 0; i < ELEMENTS(exit_codes); i++)
		if (str_equal(word, exit_codes[i].name)) {
			*ret = exit_codes[i].code;
			return true;
		}
	return false;
}

static bool is_number(const char *word)
{
	return word[strspn(word, "0123456789")] == '\0';
}

static void add_status(const struct key_context *c, struct exit_status_set *set, const char *word)
{
	uint64_t code;
	int signal;

	if (exit_code_from_string(word, &code))
		set->code[code / 64] |= UINT64_C(1) << code % 64;
	else if (!is_number(word) && value_signal(word, &signal) == 0)
		set->signal[signal / 64] |= UINT64_C(1) << signal % 64;
	else
		spec_refuse(c, "wants exit codes from 0 to 255, their names, and signals", word);
}

int spec_parse_exit_status(const struct key_context *c)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	const struct exit_status_set *(*field) = key_field(c);
	const char *at = c->assignment->value;
	struct exit_status_set *set;
	char *word;
	int r;

	if (!*at) {
		*field = NULL;
		return 0;
	}
	set = arena_alloc(c->arena, sizeof(*set));
	if (!set)
		return -ENOMEM;
	if (*field)
		*set = **field;
	*field = set;
	while ((r = value_word(&at, VALUE_WORD_RAW, &scratch, &word)) > 0)
		add_status(c, set, word);
	if (r == -EINVAL)
		spec_refuse(c, "wants balanced quotes", c->assignment->value);
	return r == -ENOMEM ? r : 0;
}

/* ---- times and signals ---- */

static bool parse_timeout(const struct key_context *c, usec_t *ret)
{
	struct parse_error error;

	if (timespan_parse(c->assignment->value, ret, &error) < 0) {
		key_error(c, "%s= is no time span: %s", c->assignment->key, error.sentence);
		return false;
	}
	if (*ret == 0)
		*ret = USEC_NEVER;
	return true;
}

int spec_parse_timeout(const struct key_context *c)
{
	usec_t *field = key_field(c);

	if (!*c->assignment->value)
		*field = (usec_t) c->row->parameter;
	else
		(void) parse_timeout(c, field);
	return 0;
}

int spec_parse_timeout_both(const struct key_context *c)
{
	struct service_spec *spec = &spec_draft_of(c)->spec;
	usec_t timeout;

	if (!*c->assignment->value) {
		spec->timeout_start = USEC_NEVER;
		spec->timeout_stop = SPEC_TIMEOUT_STOP;
	} else if (parse_timeout(c, &timeout))
		spec->timeout_start = spec->timeout_stop = timeout;
	return 0;
}

int spec_parse_kill_mode(const struct key_context *c)
{
	static const char *const words[] = {
		[KILL_CONTROL_GROUP] = "control-group",
		[KILL_MIXED] = "mixed",
		[KILL_PROCESS] = "process",
		[KILL_NONE] = "none",
	};
	enum kill_mode *field = key_field(c);
	const char *value = *c->assignment->value ? c->assignment->value
						  : words[KILL_CONTROL_GROUP];

	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (str_equal(value, words[i])) {
			*field = (enum kill_mode) i;
			if (i == KILL_NONE)
				key_warning(
					c,
					"KillMode=none leaves behind whatever still runs at a stop");
			return 0;
		}
	spec_refuse(c, "wants control-group, mixed, process or none", value);
	return 0;
}

int spec_parse_notify_access(const struct key_context *c)
{
	static const char *const words[] = {
		[NOTIFY_ALL] = "all",
		[NOTIFY_EXEC] = "exec",
		[NOTIFY_MAIN] = "main",
		[NOTIFY_NONE] = "none",
	};
	enum notify_access *field = key_field(c);
	const char *value = *c->assignment->value ? c->assignment->value : words[NOTIFY_ALL];

	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (str_equal(value, words[i])) {
			*field = (enum notify_access) i;
			return 0;
		}
	spec_refuse(c, "wants all, exec, main or none", value);
	return 0;
}

/* ---- who ---- */

/* Numbers that are no user's, and texts that are almost numbers, must never fall back to root. */
static bool is_id(const char *s)
{
	uint64_t id;

	if (value_unsigned(s, UINT32_MAX - 1, &id) < 0)
		return false;
	return id != UINT16_MAX && (*s != '0' || s[1] == '\0');
}

static bool is_user_or_group(const char *s)
{
	size_t n = strlen(s);

	if (is_id(s))
		return true;
	/* No name begins with a digit: "0day", "012" and "65535" are mistakes. */
	if (n == 0 || n > NAME_MAX || (*s >= '0' && *s <= '9'))
		return false;
	if (*s == '-' || *s == '+' || *s == ' ' || s[n - 1] == ' ' || str_equal(s, ".") ||
	    str_equal(s, ".."))
		return false;
	for (const char *p = s; *p; p++)
		if ((unsigned char) *p < ' ' || *p == 0x7f || *p == ':' || *p == '/')
			return false;
	return text_utf8_valid(s, n) == n;
}

int spec_parse_user(const struct key_context *c)
{
	const char **field = key_field(c);
	char *name;
	int r;

	if (!*c->assignment->value) {
		*field = NULL;
		return 0;
	}
	r = spec_expand(c, c->assignment->value, &name);
	if (r < 0)
		return spec_reported(r);
	if (is_user_or_group(name))
		*field = name;
	else
		spec_refuse(c, "wants a name or a number below 4294967295 that is not 65535", name);
	return 0;
}

int spec_parse_groups(const struct key_context *c)
{
	return parse_list(c, is_user_or_group,
			  "wants names or numbers below 4294967295 that are not 65535");
}

/* ---- where ---- */

static bool is_absolute_path(const char *path)
{
	return *path == '/' && strlen(path) < PATH_MAX;
}

int spec_parse_directory(const struct key_context *c)
{
	struct exec_context *exec = &spec_draft_of(c)->exec;
	const char *value = c->assignment->value;
	bool is_optional = *value == '-';
	char *path;
	int r;

	if (!*value) {
		exec->working_directory = NULL;
		exec->working_directory_optional = false;
		return 0;
	}
	r = spec_expand(c, value + is_optional, &path);
	if (r < 0)
		return spec_reported(r);
	if (!str_equal(path, "~") && !is_absolute_path(path)) {
		spec_refuse(c, "wants an absolute path or ~", path);
		return 0;
	}
	exec->working_directory = path;
	exec->working_directory_optional = is_optional;
	return 0;
}

int spec_parse_nice(const struct key_context *c)
{
	struct exec_context *exec = &spec_draft_of(c)->exec;
	int64_t nice = 0;

	if (*c->assignment->value && value_signed(c->assignment->value, -20, 19, &nice) < 0) {
		spec_refuse(c, "wants a number from -20 to 19", c->assignment->value);
		return 0;
	}
	exec->nice = (int) nice;
	exec->has_nice = *c->assignment->value != '\0';
	return 0;
}

/* ---- the environment ---- */

static bool is_name_or_assignment(const char *s)
{
	return environment_name_is_valid(s) || environment_assignment_is_valid(s);
}

int spec_parse_environment(const struct key_context *c)
{
	return parse_list(c, environment_assignment_is_valid,
			  "wants NAME=value, quoted as a whole where it has blanks");
}

int spec_parse_pass_environment(const struct key_context *c)
{
	return parse_list(c, environment_name_is_valid, "wants names of variables");
}

int spec_parse_unset_environment(const struct key_context *c)
{
	return parse_list(c, is_name_or_assignment, "wants names of variables or assignments");
}

int spec_parse_environment_file(const struct key_context *c)
{
	struct exec_context *exec = &spec_draft_of(c)->exec;
	const char *value = c->assignment->value;
	struct environment_file *grown;
	bool is_optional = *value == '-';
	char *path;
	int r;

	if (!*value) {
		exec->environment_file = NULL;
		exec->n_environment_files = 0;
		return 0;
	}
	r = spec_expand(c, value + is_optional, &path);
	if (r < 0)
		return spec_reported(r);
	if (!is_absolute_path(path)) {
		spec_refuse(c, "wants an absolute path", path);
		return 0;
	}
	grown = arena_grow(c->arena, (void *) (uintptr_t) exec->environment_file,
			   exec->n_environment_files, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[exec->n_environment_files++] = (struct environment_file) { path, is_optional };
	exec->environment_file = grown;
	return 0;
}
