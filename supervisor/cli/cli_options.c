/* SPDX-License-Identifier: MIT */
#include "cli/cli_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli_verbs.h"
#include "control/format.h"

enum takes { TAKES_NOTHING, TAKES_VALUE, MAY_TAKE_VALUE };

struct option {
	cli_options bit;
	bool is_global;
	char letter; /* 0: none */
	enum takes takes;
	const char *name;
	const char *value; /* as --help names it */
	const char *help;
};

static const struct option options[] = {
	{ CLI_USER, true, 0, TAKES_NOTHING, "user", NULL,
	  "talk to your own supd (the default unless you are root)" },
	{ CLI_SYSTEM, true, 0, TAKES_NOTHING, "system", NULL, "talk to the supd of the system" },
	{ CLI_RUNTIME_DIR, true, 0, TAKES_VALUE, "runtime-dir", "=DIR",
	  "talk to the supd with this runtime directory" },
	{ CLI_JSON, true, 0, MAY_TAKE_VALUE, "json", "[=short|pretty]", "answer in JSON" },
	{ CLI_NO_LEGEND, true, 0, TAKES_NOTHING, "no-legend", NULL,
	  "tables without header and footer" },
	{ CLI_FULL, true, 'l', TAKES_NOTHING, "full", NULL,
	  "cut nothing, however narrow the terminal" },
	{ CLI_HELP, true, 'h', TAKES_NOTHING, "help", NULL,
	  "show this help; after a verb, help on the verb" },
	{ CLI_VERSION, true, 0, TAKES_NOTHING, "version", NULL, "show the version of supctl" },
	{ CLI_ALL, false, 'a', TAKES_NOTHING, "all", NULL,
	  "inactive and disabled ones, or templates, too" },
	{ CLI_FAILED, false, 0, TAKES_NOTHING, "failed", NULL, "failed ones only" },
	{ CLI_NO_BLOCK, false, 0, TAKES_NOTHING, "no-block", NULL, "do not wait until it is done" },
	{ CLI_QUIET, false, 'q', TAKES_NOTHING, "quiet", NULL,
	  "print no result; the exit status tells" },
	{ CLI_PROPERTY, false, 'p', TAKES_VALUE, "property", "=KEY,…", "these only" },
	{ CLI_VALUE, false, 0, TAKES_NOTHING, "value", NULL, "values without their keys" },
	{ CLI_NULL, false, '0', TAKES_NOTHING, "null", NULL,
	  "as they are, each ended by a zero byte" },
	{ CLI_LINES, false, 'n', TAKES_VALUE, "lines", "=N|all", "the last N lines" },
	{ CLI_FOLLOW, false, 'f', TAKES_NOTHING, "follow", NULL,
	  "go on with what is printed from now on" },
	{ CLI_RUN, false, 0, TAKES_VALUE, "run", "=ID",
	  "of this run; the first digits of its id suffice" },
	{ CLI_SINCE, false, 0, TAKES_VALUE, "since", "=TIME", "from then on" },
	{ CLI_UNTIL, false, 0, TAKES_VALUE, "until", "=TIME", "up to then" },
	{ CLI_DAY, false, 0, TAKES_VALUE, "day", "=DATE",
	  "today, tomorrow, yesterday, 2026-11-22" },
	{ CLI_FROM, false, 0, TAKES_VALUE, "from", "=TIME", "from then on, and a day further" },
	{ CLI_TO, false, 0, TAKES_VALUE, "to", "=TIME", "up to before then" },
	{ CLI_RESULT, false, 0, TAKES_VALUE, "result", "=WORD,…",
	  "success, failed, skipped, stopped, interrupted, running, missed, gap" },
	{ CLI_CAUSE, false, 0, TAKES_VALUE, "cause", "=WORD",
	  "calendar, retry, catch-up, manual …" },
	{ CLI_TYPE, false, 0, TAKES_VALUE, "type", "=WORD,…",
	  "missed, started, finished, retry …: supd-events(7)" },
	{ CLI_UNIT, false, 0, TAKES_VALUE, "unit", "=PATTERN",
	  "of these units only, as an argument" },
	{ CLI_OFFSET, false, 0, TAKES_VALUE, "offset", "=N", "leave out the newest N" },
	{ CLI_OPENMETRICS, false, 0, TAKES_NOTHING, "openmetrics", NULL, "as text for a scraper" },
	{ CLI_STATE_DIR, false, 0, TAKES_VALUE, "state-dir", "=DIR",
	  "read the files there, without a daemon" },
	{ CLI_NOW, false, 0, TAKES_NOTHING, "now", NULL, "and start or stop the units, too" },
	{ CLI_RUNTIME, false, 0, TAKES_NOTHING, "runtime", NULL, "until supd ends, not beyond" },
};

#define HELP_COLUMN 28

/* ---- help ---- */

static void print_padded(const char *text, FILE *f)
{
	size_t width = format_width(text);

	fprintf(f, "%s%*s", text, width < HELP_COLUMN ? (int) (HELP_COLUMN - width) : 1, "");
}

static void help_option(const struct option *o, FILE *f)
{
	char text[64];

	if (o->letter)
		(void) snprintf(text, sizeof(text), "  -%c, --%s%s", o->letter, o->name,
				o->value ? o->value : "");
	else
		(void) snprintf(text, sizeof(text), "      --%s%s", o->name,
				o->value ? o->value : "");
	print_padded(text, f);
	fprintf(f, "%s\n", o->help);
}

static void help_options(unsigned bits, FILE *f)
{
	for (size_t i = 0; i < ELEMENTS(options); i++)
		if (options[i].is_global ? bits == 0 : (bits & (unsigned) options[i].bit) != 0)
			help_option(&options[i], f);
}

static void help_line(const struct cli_verb *v, FILE *f)
{
	char text[128];

	(void) snprintf(text, sizeof(text), "  %s%s%s", v->name, *v->arguments ? " " : "",
			v->arguments);
	if (format_width(text) < HELP_COLUMN)
		print_padded(text, f);
	else
		fprintf(f, "%s\n%*s", text, HELP_COLUMN, "");
	fprintf(f, "%s\n", v->summary);
}

void cli_options_help(FILE *f)
{
	const char *group = "";
	const struct cli_verb *v;

	fputs("supctl [OPTION…] VERB [ARGUMENT…]\n\nAsks and commands supd, the supervisor of oneshot services and timers.\n",
	      f);
	for (size_t i = 0; (v = cli_verb_at(i)); i++) {
		if (!str_equal(group, v->group))
			fprintf(f, "\n%s:\n", v->group);
		group = v->group;
		help_line(v, f);
	}
	fputs("\nOptions, before or after the verb:\n", f);
	help_options(0, f);
	fputs("\nsupctl VERB --help tells more about a verb, supctl(1) about all of them.\n", f);
}

void cli_options_help_verb(const struct cli_verb *v, FILE *f)
{
	fprintf(f, "supctl %s%s%s\n\n%s\n", v->name, *v->arguments ? " " : "", v->arguments,
		v->summary);
	if (v->alias)
		fprintf(f, "Also: supctl %s, as systemctl calls it.\n", v->alias);
	if (v->options != 0) {
		fputs("\nOptions:\n", f);
		help_options(v->options, f);
	}
	fputs("\nOptions of all verbs:\n", f);
	help_options(0, f);
}

/* ---- finding ---- */

const struct cli_verb *cli_options_verb(const char *name)
{
	const struct cli_verb *v;

	for (size_t i = 0; (v = cli_verb_at(i)); i++)
		if (str_equal(v->name, name) || (v->alias && str_equal(v->alias, name)))
			return v;
	return NULL;
}

static const char *verb_name_at(void *userdata _unused_, size_t i)
{
	const struct cli_verb *v = cli_verb_at(i);

	return v ? v->name : NULL;
}

static const char *option_name_at(void *userdata _unused_, size_t i)
{
	return i < ELEMENTS(options) ? options[i].name : NULL;
}

static const struct option *find_long(const char *name, size_t n)
{
	for (size_t i = 0; i < ELEMENTS(options); i++)
		if (strlen(options[i].name) == n && memcmp(options[i].name, name, n) == 0)
			return &options[i];
	return NULL;
}

static const struct option *find_letter(char letter)
{
	for (size_t i = 0; i < ELEMENTS(options); i++)
		if (options[i].letter == letter)
			return &options[i];
	return NULL;
}

static bool is_option(const char *arg)
{
	return arg[0] == '-' && arg[1] != '\0';
}

/* The option that @arg names, whether it is a long or a short one; *ret_value its value in the same
 * word, or NULL. */
static const struct option *find_option(const char *arg, const char **ret_value)
{
	const struct option *o;
	size_t n;

	*ret_value = NULL;
	if (arg[1] != '-') {
		o = find_letter(arg[1]);
		if (o && o->takes != TAKES_NOTHING && arg[2])
			*ret_value = arg + 2;
		return o;
	}
	n = strcspn(arg + 2, "=");
	if (arg[2 + n] == '=')
		*ret_value = arg + 2 + n + 1;
	return find_long(arg + 2, n);
}

/* Is the next word the value of this one? */
static bool takes_next(const char *arg)
{
	const char *value;
	const struct option *o = find_option(arg, &value);

	return o && o->takes == TAKES_VALUE && !value;
}

/* ---- parsing ---- */

static int set_json(struct cli *c, const char *mode)
{
	static const struct {
		const char *name;
		enum cli_json json;
	} modes[] = { { "short", CLI_JSON_SHORT },
		      { "pretty", CLI_JSON_PRETTY },
		      { "off", CLI_JSON_OFF } };

	for (size_t i = 0; i < ELEMENTS(modes); i++)
		if (!mode || str_equal(mode, modes[i].name)) {
			c->json = modes[i].json;
			return 0;
		}
	return cli_fail(c, CONTROL_USAGE, "--json= is short, pretty or off, not '%s'", mode);
}

static void set_past_option(struct cli *c, const struct option *o, const char *value)
{
	const struct {
		cli_options bit;
		const char **field;
	} fields[] = {
		{ CLI_LINES, &c->lines },
		{ CLI_RUN, &c->run },
		{ CLI_SINCE, &c->since },
		{ CLI_UNTIL, &c->until },
		{ CLI_STATE_DIR, &c->state_dir },
		{ CLI_RESULT, &c->result },
		{ CLI_CAUSE, &c->cause },
		{ CLI_OFFSET, &c->offset },
		{ CLI_DAY, &c->day },
		{ CLI_TYPE, &c->type },
		{ CLI_UNIT, &c->unit },
		{ CLI_FROM, &c->from },
		{ CLI_TO, &c->to },
	};

	for (size_t i = 0; i < ELEMENTS(fields); i++)
		if (o->bit == fields[i].bit)
			*fields[i].field = value;
}

static int set_option(struct cli *c, const struct option *o, const char *value)
{
	c->given |= o->bit;
	if (o->bit == CLI_JSON)
		return set_json(c, value);
	if (o->bit == CLI_RUNTIME_DIR)
		c->runtime_dir = value;
	if (o->bit == CLI_PROPERTY)
		c->property = value;
	set_past_option(c, o, value);
	return 0;
}

static int fail_unknown(const struct cli *c, const char *arg)
{
	char name[64];
	const char *meant;

	(void) snprintf(name, sizeof(name), "%.*s", (int) strcspn(arg + 2, "="), arg + 2);
	meant = arg[1] == '-' ? text_suggest(name, option_name_at, NULL) : NULL;
	if (meant)
		return cli_fail(c, CONTROL_USAGE, "unknown option '%s' (did you mean --%s?)", arg,
				meant);
	return cli_fail(c, CONTROL_USAGE, "unknown option '%s' (supctl%s%s --help lists them)", arg,
			c->verb ? " " : "", c->verb ? c->verb->name : "");
}

/* Is this option one of the verb's? @verb NULL: there is none. */
static int check_option(const struct cli *c, const struct option *o, const char *arg,
			const char *value)
{
	if (!o)
		return fail_unknown(c, arg);
	if (!o->is_global && (!c->verb || (c->verb->options & o->bit) == 0))
		return cli_fail(c, CONTROL_USAGE,
				"%s takes no --%s (supctl %s --help lists what it takes)",
				c->verb ? c->verb->name : "supctl", o->name,
				c->verb ? c->verb->name : "");
	if (o->takes == TAKES_NOTHING && value)
		return cli_fail(c, CONTROL_USAGE, "--%s takes no value", o->name);
	return 0;
}

/* One word that is an option, or several letters in one; *i moves on to a value of its own. */
static int parse_word(struct cli *c, int argc, char **argv, int *i)
{
	const char *arg = argv[*i], *value;
	const struct option *o = find_option(arg, &value);
	int r = check_option(c, o, arg, value);

	if (r != 0)
		return r;
	if (takes_next(arg)) {
		if (*i + 1 >= argc)
			return cli_fail(c, CONTROL_USAGE, "--%s needs a value", o->name);
		value = argv[++*i];
	}
	r = set_option(c, o, value);
	for (const char *p = arg + 2; r == 0 && arg[1] != '-' && o->takes == TAKES_NOTHING && *p;
	     p++) {
		const char one[] = { '-', *p, '\0' };

		o = find_letter(*p);
		r = check_option(c, o, one, NULL);
		if (r == 0 && o->takes != TAKES_NOTHING)
			r = cli_fail(c, CONTROL_USAGE, "-%c needs a word of its own", *p);
		if (r == 0)
			r = set_option(c, o, NULL);
	}
	return r;
}

/* The index of the verb, or @argc. */
static int find_verb(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (str_equal(argv[i], "--"))
			return i + 1 < argc ? i + 1 : argc;
		if (!is_option(argv[i]))
			break;
		if (takes_next(argv[i]))
			i++;
	}
	return i < argc ? i : argc;
}

static bool is_verbatim(const char *name)
{
	const struct cli_verb *v = cli_options_verb(name);

	return v && (v->options & CLI_VERBATIM);
}

/* Errors, too, are told in JSON where that is asked for, wherever it stands. */
static int find_json(struct cli *c, int argc, char **argv)
{
	for (int i = 1; i < argc && !str_equal(argv[i], "--"); i++) {
		const char *value;
		const struct option *o = is_option(argv[i]) ? find_option(argv[i], &value) : NULL;

		if (o && o->bit == CLI_JSON && set_json(c, value) != 0)
			return CONTROL_USAGE;
	}
	return 0;
}

static int set_verb(struct cli *c, const char *name)
{
	const char *meant;

	c->verb = cli_options_verb(name);
	if (c->verb)
		return 0;
	meant = text_suggest(name, verb_name_at, NULL);
	if (meant)
		return cli_fail(c, CONTROL_USAGE, "unknown verb '%s' (did you mean %s?)", name,
				meant);
	return cli_fail(c, CONTROL_USAGE, "unknown verb '%s' (supctl --help lists them)", name);
}

/* Options that mean nothing to a verb that parses for itself. */
static bool is_passed_over(const struct cli_verb *v, const struct option *o)
{
	return o && o->is_global && o->bit != CLI_HELP && o->bit != CLI_JSON &&
	       (v->options & o->bit) == 0;
}

/* Gives such a verb all other words, those before it as well. */
static int hand_over(struct cli *c, int argc, char **argv, int verb, char **rest, int *n)
{
	for (int i = 1; i < argc; i++) {
		const char *value;
		const struct option *o = is_option(argv[i]) ? find_option(argv[i], &value) : NULL;
		/* Before the verb a value in a word of its own goes with its option. */
		int last = o && takes_next(argv[i]) && i + 1 < argc ? i + 1 : i;

		if (i == verb || (i < verb && str_equal(argv[i], "--")))
			continue;
		if (i > verb && (c->verb->options & CLI_VERBATIM)) {
			rest[(*n)++] = argv[i];
			continue;
		}
		if (i < verb && !o)
			return fail_unknown(c, argv[i]);
		if (!is_passed_over(c->verb, o)) {
			rest[(*n)++] = argv[i];
			if (i < verb && last > i)
				rest[(*n)++] = argv[last];
			else
				last = i;
		}
		i = last;
	}
	return 0;
}

static int parse_all(struct cli *c, int argc, char **argv, int verb, char **rest, int *n)
{
	bool is_over = false;
	int r = 0;

	for (int i = 1; i < argc && r == 0; i++) {
		if (i == verb)
			continue;
		if (!is_over && str_equal(argv[i], "--"))
			is_over = true;
		else if (!is_over && is_option(argv[i]))
			r = parse_word(c, argc, argv, &i);
		else
			rest[(*n)++] = argv[i];
	}
	return r;
}

static int check_count(const struct cli *c, int n)
{
	if (cli_has(c, CLI_HELP) || !c->verb)
		return 0;
	if (n < c->verb->min)
		return cli_fail(c, CONTROL_USAGE, "%s needs %s (supctl %s --help tells more)",
				c->verb->name, c->verb->arguments, c->verb->name);
	if (c->verb->max >= 0 && n > c->verb->max)
		return cli_fail(c, CONTROL_USAGE, "%s takes %s%s (supctl %s --help tells more)",
				c->verb->name, c->verb->max > 0 ? "no more than " : "no arguments",
				c->verb->max > 0 ? c->verb->arguments : "", c->verb->name);
	return 0;
}

static int parse(struct cli *c, int argc, char **argv, char **rest, int *n)
{
	int verb = find_verb(argc, argv);
	int r = find_json(c, verb < argc && is_verbatim(argv[verb]) ? verb : argc, argv);

	if (r == 0 && verb < argc)
		r = set_verb(c, argv[verb]);
	if (r != 0)
		return r;
	if (c->verb)
		rest[(*n)++] = argv[verb];
	if (c->verb && c->verb->raw)
		return hand_over(c, argc, argv, verb, rest, n);
	r = parse_all(c, argc, argv, verb, rest, n);
	return r == 0 ? check_count(c, *n - (c->verb != NULL)) : r;
}

int cli_options_parse(struct cli *c, int argc, char **argv, int *ret_argc, char ***ret_argv)
{
	char **rest = calloc((size_t) argc + 1, sizeof(*rest));
	int n = 0, r;

	if (!rest)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	r = parse(c, argc, argv, rest, &n);
	if (r != 0) {
		free(rest);
		return r;
	}
	*ret_argc = n;
	*ret_argv = rest;
	return 0;
}
