/* SPDX-License-Identifier: MIT */
#include "tests/oracle/systemd_analyze.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFERENCE 252

bool analyze_is_reference(void)
{
	char *argv[] = { (char[]) { "systemd-analyze" }, (char[]) { "--version" }, NULL };
	int version = 0;
	pid_t pid;
	FILE *out = analyze_start(argv, "UTC", &pid);

	if (fscanf(out, "systemd %d", &version) != 1)
		version = 0;
	analyze_finish(out, pid);
	if (version == REFERENCE || (version > 0 && getenv("ORACLE_ANY")))
		return true;
	if (version == 0)
		printf("1..0 # SKIP systemd-analyze is not installed\n");
	else
		printf("1..0 # SKIP systemd-analyze is version %d, not %d\n", version, REFERENCE);
	return false;
}

FILE *analyze_start(char *const *argv, const char *tz, pid_t *ret_pid)
{
	int pipes[2];

	if (pipe(pipes) < 0)
		abort();
	*ret_pid = fork();
	if (*ret_pid < 0)
		abort();
	if (*ret_pid == 0) {
		setenv("TZ", tz, 1);
		setenv("SYSTEMD_COLORS", "0", 1);
		setenv("LC_ALL", "C", 1);
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		if (!freopen("/dev/null", "w", stderr))
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(pipes[1]);
	return fdopen(pipes[0], "r");
}

void analyze_finish(FILE *out, pid_t pid)
{
	fclose(out);
	waitpid(pid, NULL, 0);
}

unsigned long analyze_number(const char *variable, unsigned long otherwise)
{
	const char *value = getenv(variable);

	return value ? strtoul(value, NULL, 10) : otherwise;
}

bool analyze_split(char *line, const char **ret_label, const char **ret_value)
{
	char *colon = strstr(line, ": ");

	if (!colon)
		return false;
	*colon = '\0';
	colon[2 + strcspn(colon + 2, "\n")] = '\0';
	*ret_label = line + strspn(line, " ");
	*ret_value = colon + 2;
	return true;
}
