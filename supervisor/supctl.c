/* SPDX-License-Identifier: MIT */

/* supctl: asks and commands supd. Its verbs are in cli/. */

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/cli_options.h"

static int run(struct cli *c, int argc, char **argv)
{
	if (cli_has(c, CLI_VERSION)) {
		puts("supctl " PACKAGE_VERSION);
		return CONTROL_OK;
	}
	if (cli_has(c, CLI_HELP)) {
		if (c->verb)
			cli_options_help_verb(c->verb, stdout);
		else
			cli_options_help(stdout);
		return CONTROL_OK;
	}
	if (!c->verb)
		return cli_fail(c, CONTROL_USAGE, "a verb is missing (supctl --help lists them)");
	return c->verb->raw ? c->verb->raw(argc, argv) : c->verb->run(c, argc, argv);
}

int main(int argc, char **argv)
{
	_cleanup_free_ char **words = NULL;
	struct cli c;
	int status, n;

	cli_init(&c);
	status = cli_options_parse(&c, argc, argv, &n, &words);
	if (status == 0)
		status = run(&c, n, words);
	cli_done(&c);
	return cli_flush(status);
}
