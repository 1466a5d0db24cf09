/* SPDX-License-Identifier: MIT */
/* Any words as the command of supctl run: one line of a unit file, which read again is the same
 * words. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/run_unit.h"
#include "service/command.h"
#include "service/environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())
#define WORDS_MAX 64

static char *const environment[] = { (char[]) { "A=one" }, (char[]) { "HOME=/x y" }, NULL };

/* The value of the only ExecStart=; its end is cut off. */
static char *value_of(char *text)
{
	char *value = strstr(text, "\nExecStart="), *end;

	CHECK(value);
	value += strlen("\nExecStart=");
	CHECK(!strstr(value, "\nExecStart="));
	end = strchr(value, '\n');
	CHECK(end && !end[1]);
	*end = '\0';
	return value;
}

static void check_words(const char *value, const char *const *argv, size_t n)
{
	const struct specifiers specifiers = { .unit = "f.service", .host_name = "box" };
	_cleanup_(arena_done) struct arena arena = { 0 };
	_cleanup_(diag_done) struct diag diag = { 0 };
	struct assignment a = { .section = "Service", .key = "ExecStart", .value = value, .file = "f", .line = 1 };
	struct key_context c = { .assignment = &a, .arena = &arena, .diag = &diag };
	struct exec_commands list = { 0 };
	char **expanded;

	CHECK(exec_command_parse(&c, &specifiers, &list) == 0);
	CHECK(diag.n == 0);
	CHECK(list.n == 1);
	CHECK(str_equal(list.item[0].path, argv[0]));
	CHECK(exec_command_expand(&list.item[0], environment, &arena, &expanded) == 0);
	for (size_t i = 1; i < n; i++)
		CHECK(str_equal(expanded[i], argv[i]));
	CHECK(!expanded[n]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *bytes = strndup((const char *) data, size), *text = NULL;
	const char *argv[WORDS_MAX + 2] = { "/bin/job" };
	struct run_unit u = { .argv = argv };
	size_t n = 1;

	CHECK(bytes);
	/* Words end with a byte that none has. */
	for (char *word = strtok(bytes, "\x1e"); word && n <= WORDS_MAX; word = strtok(NULL, "\x1e"))
		argv[n++] = word;
	text = run_unit_service(&u);
	CHECK(text);
	check_words(value_of(text), argv, n);
	return 0;
}
