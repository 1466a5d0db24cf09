/* SPDX-License-Identifier: MIT */
/* Any bytes as an environment file: what comes out is assignments and nothing else, and all of them
 * get into the environment, the last one of a name. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "service/environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

static bool has_same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n + 1) == 0;
}

static bool is_last_of_its_name(const char *const *item)
{
	for (const char *const *later = item + 1; *later; later++)
		if (has_same_name(*item, *later))
			return false;
	return true;
}

static bool contains(char *const *environment, const char *assignment)
{
	for (; *environment; environment++)
		if (str_equal(*environment, assignment))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	_cleanup_(diag_done) struct diag diag = { 0 };
	const struct exec_context exec = { 0 };
	const struct service_spec spec = { .exec = &exec };
	const struct run run = { .scheduled_real = USEC_NEVER, .scheduled_boot = USEC_NEVER };
	struct environment_input in = { .spec = &spec, .run = &run, .unit = "f.service", .is_system = true };
	const char **list = NULL;
	char **environment;
	size_t n = 0;
	int r;

	r = environment_file_parse("f", (const char *) data, size, &arena, &list, &n, &diag);
	CHECK(r == 0 || r == -EBADMSG);
	CHECK((r == -EBADMSG) == (diag.n_errors > 0));
	CHECK(!list || !list[n]);
	for (size_t i = 0; i < n; i++)
		CHECK(environment_assignment_is_valid(list[i]));
	in.file_assignment = list;
	CHECK(environment_build(&in, &arena, &environment) == 0);
	for (size_t i = 0; i < n && n < 100; i++)
		CHECK(!is_last_of_its_name(&list[i]) || contains(environment, list[i]));
	return 0;
}
