/* SPDX-License-Identifier: MIT */
/* What %I and %f make of an escaped name, against systemd-escape --unescape. (But for \\x00, which
 * ends what systemd prints, and is refused here.) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "service/specifier.h"
#include "tests/oracle/systemd_analyze.h"

#define COUNT 60

static const char *const chosen[] = {
	"a", "-", "a-b", "a--b", "-a", "a-", "srv-www\\x2ddata", "\\x2d", "\\x2e", "..", ".", "a-..-b", "a-.-b", "\\x2f",
	"a\\x20b", "\\x", "\\xg0", "\\x0", "\\", "a\\", "\\x5cx2d", "\\xc3\\xa4", "@", "a@b", ":", "...", "\\x2fa",
};

/* NULL: systemd-escape refuses it. The caller frees. */
static char *ask(const char *name, bool is_path)
{
	_cleanup_free_ char *copy = strdup(name);
	char *argv[] = { (char[]) { "systemd-escape" }, (char[]) { "--unescape" }, (char[]) { "--path" },
			 (char[]) { "--" }, copy, NULL };
	char *string_argv[] = { argv[0], argv[1], argv[3], copy, NULL };
	char *line = NULL;
	size_t size = 0;
	int status;
	pid_t pid;
	FILE *out = analyze_start(is_path ? argv : string_argv, "UTC", &pid);
	ssize_t n = getline(&line, &size, out);

	(void) fclose(out);
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || n <= 0) {
		free(line);
		return NULL;
	}
	line[n - 1] = '\0';
	return line;
}

static bool agrees(const char *name, bool is_path)
{
	_cleanup_free_ char *theirs = ask(name, is_path);
	_cleanup_(arena_done) struct arena arena = { 0 };
	char unit[300], *ours = NULL;
	struct specifiers s = { .unit = unit };

	(void) snprintf(unit, sizeof(unit), "m@%s.service", name);
	if (specifier_expand(&s, is_path ? "%f" : "%I", &arena, &ours, NULL) < 0)
		ours = NULL;
	if ((!ours && !theirs) || (ours && theirs && strcmp(ours, theirs) == 0))
		return true;
	printf("# '%s' as a %s: systemd-escape says '%s', supd '%s'\n", name, is_path ? "path" : "string",
	       theirs ? theirs : "(refused)", ours ? ours : "(refused)");
	return false;
}

static void draw(unsigned *seed, char name[16])
{
	static const char *const piece[] = { "a", "b", "-", "\\x2d", "\\x2f", ".", "\\", "x2", "@", "\\xe4" };
	size_t n = 0, pieces = 1 + (unsigned) rand_r(seed) % 4;

	name[0] = '\0';
	while (pieces-- > 0 && n < 11) {
		strcat(name, piece[(unsigned) rand_r(seed) % ELEMENTS(piece)]);
		n = strlen(name);
	}
}

int main(void)
{
	const char *given = getenv("ORACLE_SEED"), *count = getenv("ORACLE_COUNT");
	unsigned seed = given ? (unsigned) strtoul(given, NULL, 10) : 1;
	unsigned long n = count ? strtoul(count, NULL, 10) / 100 : COUNT;
	bool all = true;
	char name[16];

	if (!analyze_is_reference())
		return 0;
	printf("1..2\n# seed %u\n", seed);
	for (size_t i = 0; i < ELEMENTS(chosen); i++)
		all = agrees(chosen[i], false) && all;
	for (size_t i = 0; i < ELEMENTS(chosen); i++)
		all = agrees(chosen[i], true) && all;
	printf("%sok 1 - chosen names are unescaped alike\n", all ? "" : "not ");
	all = true;
	for (unsigned long i = 0; i < n; i++) {
		draw(&seed, name);
		all = agrees(name, i % 2) && all;
	}
	printf("%sok 2 - random names are unescaped alike\n", all ? "" : "not ");
	return 0;
}
