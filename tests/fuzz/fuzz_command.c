/* SPDX-License-Identifier: MIT */
/* Any value of ExecStart=: commands that make sense or a mistake that is told, never both; then the
 * words with their variables, taken from a fixed environment. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "service/command.h"
#include "service/environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

static char *const environment[] = {
	(char[]) { "A=one" },	(char[]) { "B=two 'two  two' \"three" }, (char[]) { "C=" },
	(char[]) { "D=\\ \\\\" }, (char[]) { "E=$A ${B}" },		 NULL,
};

static void check_command(const struct exec_command *c, struct arena *arena)
{
	char **argv;
	int r;

	CHECK(*c->path && (*c->path == '/' || !strchr(c->path, '/')));
	CHECK(c->argv[0]);
	r = exec_command_expand(c, environment, arena, &argv);
	CHECK(r == 0 || r == -E2BIG);
	if (r == 0)
		CHECK(argv[0]);
	if (r == 0 && c->no_substitution)
		for (size_t i = 0; argv[i] || c->argv[i]; i++)
			CHECK(str_equal(argv[i], c->argv[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct specifiers specifiers = { .unit = "fuzz-er@in-\\x20ner.service", .host_name = "box.example" };
	_cleanup_(arena_done) struct arena arena = { 0 };
	_cleanup_(diag_done) struct diag diag = { 0 };
	_cleanup_free_ char *value = strndup((const char *) data, size);
	struct assignment a = { .section = "Service", .key = "ExecStart", .value = value, .file = "f", .line = 1 };
	struct key_context c = { .assignment = &a, .arena = &arena, .diag = &diag };
	struct exec_commands list = { 0 };

	CHECK(value);
	CHECK(exec_command_parse(&c, &specifiers, &list) == 0);
	CHECK(diag.n_errors == 0 || list.n == 0);
	CHECK(diag.n_errors <= 1);
	for (size_t i = 0; i < list.n; i++)
		check_command(&list.item[i], &arena);
	return 0;
}
