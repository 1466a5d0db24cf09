/* SPDX-License-Identifier: MIT */
#include "service/spec.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

static struct spec_text t;

static void teardown(void)
{
	spec_text_done(&t);
}

static void ck_list(const char *const *list, const char *joined)
{
	char got[512] = "";

	for (; list && *list; list++) {
		strcat(got, "[");
		strcat(got, *list);
		strcat(got, "]");
	}
	ck_assert_str_eq(got, joined);
}

/* ---- defaults, and each key ---- */

START_TEST(a_service_that_says_little_has_systemds_defaults)
{
	const struct service_spec *s = &t.spec;

	spec_text_init_good(&t, "ExecStart=/bin/true");
	ck_assert_int_eq(s->type, SERVICE_ONESHOT);
	ck_assert_str_eq(s->type_name, "oneshot");
	ck_assert(!s->has_type);
	ck_assert(s->is_enabled);
	ck_assert(!s->remain_after_exit);
	ck_assert_uint_eq(s->timeout_start, USEC_NEVER);
	ck_assert_uint_eq(s->timeout_stop, 90 * USEC_PER_SEC);
	ck_assert_int_eq(s->kill_mode, KILL_CONTROL_GROUP);
	ck_assert_int_eq(s->kill_signal, SIGTERM);
	ck_assert(s->send_sigkill);
	ck_assert(!s->send_sighup);
	ck_assert_uint_eq(s->exec->umask, 0022);
	ck_assert(!s->exec->has_nice);
	ck_assert_ptr_null(s->exec->user);
	ck_assert_ptr_null(s->exec->group);
	ck_assert_ptr_null(s->exec->supplementary_groups);
	ck_assert_ptr_null(s->exec->working_directory);
	ck_assert_ptr_null(s->exec->environment);
	ck_assert_ptr_null(s->description);
}
END_TEST

START_TEST(each_key_reaches_its_field)
{
	const struct service_spec *s = &t.spec;

	spec_text_init_good(&t, "[Unit]\nDescription=%i's backup\n"
				"[Service]\nType=oneshot\nEnabled=no\nExecStart=a\nExecStop=b\nRemainAfterExit=on\n"
				"TimeoutStartSec=1min\nTimeoutStopSec=5\nKillMode=mixed\nKillSignal=INT\n"
				"SendSIGKILL=no\nSendSIGHUP=1\nUser=ann\nGroup=50\nSupplementaryGroups=adm 'dial out'\n"
				"SupplementaryGroups=7\nWorkingDirectory=-/srv/%i\nUMask=077\nNice=-5\n"
				"Environment=A=1 \"B=x y\"\nEnvironment=C=%H\nEnvironmentFile=/etc/default/a\n"
				"EnvironmentFile=-/etc/default/%p\nPassEnvironment=LANG TZ\nUnsetEnvironment=B A=1\n"
				"[Install]\nWantedBy=whatever.target\nAlso=b.service\nDefaultInstance=x\n");
	ck_assert_str_eq(s->description, "home's backup");
	ck_assert(s->has_type);
	ck_assert(!s->is_enabled);
	ck_assert(s->remain_after_exit);
	ck_assert_uint_eq(s->timeout_start, 60 * USEC_PER_SEC);
	ck_assert_uint_eq(s->timeout_stop, 5 * USEC_PER_SEC);
	ck_assert_int_eq(s->kill_mode, KILL_MIXED);
	ck_assert_int_eq(s->kill_signal, SIGINT);
	ck_assert(!s->send_sigkill);
	ck_assert(s->send_sighup);
	ck_assert_str_eq(s->exec->user, "ann");
	ck_assert_str_eq(s->exec->group, "50");
	ck_list(s->exec->supplementary_groups, "[adm][dial out][7]");
	ck_assert_str_eq(s->exec->working_directory, "/srv/home");
	ck_assert(s->exec->working_directory_optional);
	ck_assert_uint_eq(s->exec->umask, 077);
	ck_assert(s->exec->has_nice);
	ck_assert_int_eq(s->exec->nice, -5);
	ck_list(s->exec->environment, "[A=1][B=x y][C=box.example.org]");
	ck_assert_uint_eq(s->exec->n_environment_files, 2);
	ck_assert_str_eq(s->exec->environment_file[0].path, "/etc/default/a");
	ck_assert(!s->exec->environment_file[0].is_optional);
	ck_assert_str_eq(s->exec->environment_file[1].path, "/etc/default/backup");
	ck_assert(s->exec->environment_file[1].is_optional);
	ck_list(s->exec->pass_environment, "[LANG][TZ]");
	ck_list(s->exec->unset_environment, "[B][A=1]");
}
END_TEST

START_TEST(permissions_may_be_for_the_start_only)
{
	spec_text_init_good(&t, "PermissionsStartOnly=yes\nExecStartPre=a\nExecStart=b\nExecStopPost=c");
	ck_assert(t.spec.command[EXEC_START_PRE].item[0].keeps_user && t.spec.command[EXEC_STOP_POST].item[0].is_unlimited);
	ck_assert(!t.spec.command[EXEC_START].item[0].keeps_user && !t.spec.command[EXEC_START].item[0].is_unlimited);
}
END_TEST

START_TEST(an_empty_value_resets)
{
	const struct service_spec *s = &t.spec;

	spec_text_init_good(&t, "[Unit]\nDescription=x\nDescription=\n"
				"[Service]\nExecStart=a\nRemainAfterExit=yes\nRemainAfterExit=\nTimeoutStartSec=5\n"
				"TimeoutStartSec=\nTimeoutStopSec=5\nTimeoutStopSec=\nKillMode=mixed\nKillMode=\n"
				"KillSignal=INT\nKillSignal=\nUser=ann\nUser=\nGroup=ann\nGroup=\n"
				"SupplementaryGroups=a b\nSupplementaryGroups=\nSupplementaryGroups=c\n"
				"WorkingDirectory=-/srv\nWorkingDirectory=\nUMask=0\nUMask=\nNice=3\nNice=\n"
				"Environment=A=1\nEnvironment=\nEnvironmentFile=/x\nEnvironmentFile=\n"
				"PassEnvironment=A\nPassEnvironment=\nUnsetEnvironment=A\nUnsetEnvironment=\n"
				"SuccessExitStatus=3\nSuccessExitStatus=\nType=oneshot\nType=\n");
	ck_assert_ptr_null(s->description);
	ck_assert(!s->has_type);
	ck_assert(!s->remain_after_exit);
	ck_assert_uint_eq(s->timeout_start, USEC_NEVER);
	ck_assert_uint_eq(s->timeout_stop, 90 * USEC_PER_SEC);
	ck_assert_int_eq(s->kill_mode, KILL_CONTROL_GROUP);
	ck_assert_int_eq(s->kill_signal, SIGTERM);
	ck_assert_ptr_null(s->exec->user);
	ck_assert_ptr_null(s->exec->group);
	ck_list(s->exec->supplementary_groups, "[c]");
	ck_assert_ptr_null(s->exec->working_directory);
	ck_assert(!s->exec->working_directory_optional);
	ck_assert_uint_eq(s->exec->umask, 0022);
	ck_assert(!s->exec->has_nice);
	ck_assert_ptr_null(s->exec->environment);
	ck_assert_uint_eq(s->exec->n_environment_files, 0);
	ck_assert_ptr_null(s->exec->pass_environment);
	ck_assert_ptr_null(s->exec->unset_environment);
	ck_assert_ptr_null(s->success);
}
END_TEST

static const struct {
	const char *text;
	usec_t start, stop;
} timeouts[] = {
	{ "TimeoutStartSec=0", USEC_NEVER, 90 * USEC_PER_SEC },
	{ "TimeoutStartSec=infinity", USEC_NEVER, 90 * USEC_PER_SEC },
	{ "TimeoutStartSec=500ms", 500000, 90 * USEC_PER_SEC },
	{ "TimeoutStopSec=0", USEC_NEVER, USEC_NEVER },
	{ "TimeoutStopSec=infinity", USEC_NEVER, USEC_NEVER },
	{ "TimeoutSec=7", 7 * USEC_PER_SEC, 7 * USEC_PER_SEC },
	{ "TimeoutSec=0", USEC_NEVER, USEC_NEVER },
	{ "TimeoutSec=7\nTimeoutSec=", USEC_NEVER, 90 * USEC_PER_SEC },
	{ "TimeoutSec=7\nTimeoutStopSec=1h", 7 * USEC_PER_SEC, USEC_PER_HOUR },
};

START_TEST(a_timeout_of_zero_is_none)
{
	char text[128];

	(void) snprintf(text, sizeof(text), "ExecStart=a\n%s", timeouts[_i].text);
	spec_text_init_good(&t, text);
	ck_assert_uint_eq(t.spec.timeout_start, timeouts[_i].start);
	ck_assert_uint_eq(t.spec.timeout_stop, timeouts[_i].stop);
}
END_TEST

/* ---- mistakes: the unit is invalid, nothing falls back ---- */

static const struct {
	const char *text, *message;
} mistakes[] = {
	{ "User=0day", "3: User= wants a name or a number below 4294967295 that is not 65535, not '0day'" },
	{ "User=65535", "3: User= wants a name or a number below 4294967295 that is not 65535, not '65535'" },
	{ "User=4294967295", "3: User= wants a name or a number below 4294967295 that is not 65535, not '4294967295'" },
	{ "User=4294967296", "3: User= wants a name or a number below 4294967295 that is not 65535, not '4294967296'" },
	{ "User=-1", "3: User= wants a name or a number below 4294967295 that is not 65535, not '-1'" },
	{ "User=+0", "3: User= wants a name or a number below 4294967295 that is not 65535, not '+0'" },
	{ "User=00", "3: User= wants a name or a number below 4294967295 that is not 65535, not '00'" },
	{ "User=012", "3: User= wants a name or a number below 4294967295 that is not 65535, not '012'" },
	{ "User=0x0", "3: User= wants a name or a number below 4294967295 that is not 65535, not '0x0'" },
	{ "User=a/b", "3: User= wants a name or a number below 4294967295 that is not 65535, not 'a/b'" },
	{ "User=a:b", "3: User= wants a name or a number below 4294967295 that is not 65535, not 'a:b'" },
	{ "User=..", "3: User= wants a name or a number below 4294967295 that is not 65535, not '..'" },
	{ "Group=65535", "3: Group= wants a name or a number below 4294967295 that is not 65535, not '65535'" },
	{ "SupplementaryGroups=adm -1",
	  "3: SupplementaryGroups= wants names or numbers below 4294967295 that are not 65535, not '-1'" },
	{ "UMask=9", "3: UMask= wants an octal mode such as 0022, not '9'" },
	{ "UMask=10000", "3: UMask= wants an octal mode such as 0022, not '10000'" },
	{ "Nice=20", "3: Nice= wants a number from -20 to 19, not '20'" },
	{ "Nice=1.5", "3: Nice= wants a number from -20 to 19, not '1.5'" },
	{ "KillMode=all", "3: KillMode= wants control-group, mixed, process or none, not 'all'" },
	{ "NotifyAccess=any", "3: NotifyAccess= wants all, exec, main or none, not 'any'" },
	{ "KillSignal=FOO", "3: KillSignal= wants a signal such as SIGTERM, not 'FOO'" },
	{ "RemainAfterExit=maybe", "3: RemainAfterExit= wants yes or no, not 'maybe'" },
	{ "TimeoutStartSec=soon", NULL },
	{ "TimeoutSec=-1", NULL },
	{ "WorkingDirectory=srv", "3: WorkingDirectory= wants an absolute path or ~, not 'srv'" },
	{ "WorkingDirectory=~/x", "3: WorkingDirectory= wants an absolute path or ~, not '~/x'" },
	{ "WorkingDirectory=-", "3: WorkingDirectory= wants an absolute path or ~, not ''" },
	{ "Environment=FOO", "3: Environment= wants NAME=value, quoted as a whole where it has blanks, not 'FOO'" },
	{ "Environment=1A=b", "3: Environment= wants NAME=value, quoted as a whole where it has blanks, not '1A=b'" },
	{ "Environment=A-B=c", "3: Environment= wants NAME=value, quoted as a whole where it has blanks, not 'A-B=c'" },
	{ "Environment='A=b", "3: Environment= wants words with balanced quotes and known escapes, not ''A=b'" },
	{ "Environment=A=\\q", "3: Environment= wants words with balanced quotes and known escapes, not 'A=\\\\q'" },
	{ "EnvironmentFile=etc/x", "3: EnvironmentFile= wants an absolute path, not 'etc/x'" },
	{ "PassEnvironment=A=b", "3: PassEnvironment= wants names of variables, not 'A=b'" },
	{ "UnsetEnvironment=1A", "3: UnsetEnvironment= wants names of variables or assignments, not '1A'" },
	{ "SuccessExitStatus=256", "3: SuccessExitStatus= wants exit codes from 0 to 255, their names, and signals, not '256'" },
	{ "SuccessExitStatus=1 NOPE", "3: SuccessExitStatus= wants exit codes from 0 to 255, their names, and signals, not 'NOPE'" },
	{ "Restart=sometimes",
	  "3: Restart= wants no, on-failure, on-abnormal, on-abort or on-watchdog, not 'sometimes'" },
	{ "StartLimitBurst=many", "3: StartLimitBurst= wants a number, not 'many'" },
	{ "RuntimeMaxSec=long", NULL },
	{ "Type=oneshoot", "3: Type= wants oneshot (or another type that systemd knows), not 'oneshoot'" },
	{ "Type=oneshot\nRestart=always", "4: Restart=always is not for Type=oneshot" },
	{ "User=%F", "3: User= asks for %F, which is not known here: '%F' (a percent sign is written %%)" },
	{ "ExecStrat=b", "3: unknown key 'ExecStrat' in section [Service] (did you mean ExecStart=?)" },
	{ "OnCalendar=daily", NULL },
};

START_TEST(a_mistake_is_told_with_its_line)
{
	char text[128];

	(void) snprintf(text, sizeof(text), "ExecStart=a\n%s", mistakes[_i].text);
	spec_text_init(&t, text);
	ck_assert_uint_eq(t.diag.n_errors, 1);
	ck_assert(!mistakes[_i].message || spec_text_has(&t, DIAG_ERROR, mistakes[_i].message));
}
END_TEST

START_TEST(all_mistakes_are_told_at_once)
{
	spec_text_init(&t, "ExecStart=a/b\nUser=0x\nNice=99\nFoo=bar");
	ck_assert_uint_eq(t.diag.n_errors, 4);
}
END_TEST

static const char *const names[] = { "root", "0", "65534", "65536", "4294967294", "_apt", "www-data", "a.b", "Ann@EXAMPLE",
				     "ann b", "é" };

START_TEST(a_user_may_be_named_as_sites_name_them)
{
	char text[128];

	(void) snprintf(text, sizeof(text), "ExecStart=a\nUser=%s", names[_i]);
	spec_text_init_good(&t, text);
	ck_assert_str_eq(t.spec.exec->user, names[_i]);
}
END_TEST

/* ---- what there must be ---- */

static const struct {
	const char *text, *message; /* NULL: fine */
} needs[] = {
	{ "ExecStart=a", NULL },
	{ "", "0: the service has no ExecStart=" },
	{ "[Unit]\nDescription=x", "0: the service has no ExecStart=" },
	{ "ExecStart=a\nExecStart=", "0: the service has no ExecStart=" },
	{ "RemainAfterExit=yes", "0: the service has no ExecStart=" },
	{ "RemainAfterExit=yes\nExecStartPre=a", "0: the service has no ExecStart=" },
	{ "RemainAfterExit=yes\nExecStop=a", NULL },
	{ "ExecStart=a\xff", "2: byte 0xff in column 12 is not valid UTF-8" },
	{ "ExecStop=a", "0: the service has neither ExecStart= nor RemainAfterExit=yes" },
};

START_TEST(a_service_does_something)
{
	spec_text_init(&t, needs[_i].text);
	if (needs[_i].message)
		ck_assert(spec_text_has(&t, DIAG_ERROR, needs[_i].message));
	ck_assert_uint_eq(t.diag.n_errors, needs[_i].message ? 1 : 0);
	for (size_t i = 0; i < t.diag.n; i++)
		ck_assert_str_eq(t.diag.entry[i].file, "x.service");
}
END_TEST

/* ---- other types ---- */

static const struct {
	const char *text, *type;
} foreign[] = {
	{ "Type=simple", "simple" },
	{ "Type=exec", "exec" },
	{ "Type=forking", "forking" },
	{ "Type=dbus", "dbus" },
	{ "Type=notify", "notify" },
	{ "Type=notify-reload", "notify-reload" },
	{ "Type=idle", "idle" },
	{ "Type=oneshot\nType=simple", "simple" },
	{ "Type=simple\nExecStart=not/absolute\nUser=0day\nNoSuchKey=1\n[NoSuchSection]\nA=b", "simple" },
	{ "ExecStart=a\nBusName=org.example", "dbus" },
	{ "ExecStart=a\nRestart=always", "simple" },
	{ "ExecStart=a\nRestart=on-success", "simple" },
	{ "[Unit]\nSuccessAction=poweroff-force", "oneshot" },
	{ "Type=oneshot\nRemainAfterExit=yes\n[Unit]\nSuccessAction=exit", "oneshot" },
};

START_TEST(a_service_of_another_type_is_set_aside_quietly)
{
	char text[256];

	(void) snprintf(text, sizeof(text), "[Unit]\nDescription=a daemon\n[Service]\n%s", foreign[_i].text);
	spec_text_init_good(&t, text);
	ck_assert_int_eq(t.spec.type, SERVICE_UNSUPPORTED);
	ck_assert_str_eq(t.spec.type_name, foreign[_i].type);
	ck_assert_str_eq(t.spec.description, "a daemon");
}
END_TEST

START_TEST(a_drop_in_may_make_a_oneshot_of_it)
{
	spec_text_init_good(&t, "Type=simple\nExecStart=a\n[Service]\nType=oneshot");
	ck_assert_int_eq(t.spec.type, SERVICE_ONESHOT);
	ck_assert(t.spec.has_type);
}
END_TEST

START_TEST(the_last_restart_counts)
{
	spec_text_init_good(&t, "Type=oneshot\nExecStart=a\nRestart=always\n[Service]\nRestart=no");
}
END_TEST

/* ---- keys of systemd's ---- */

static const struct {
	const char *text, *key;
} set_aside[] = {
	{ "[Service]\nExecStart=a\nProtectSystem=full", "ProtectSystem" },
	{ "[Service]\nExecStart=a\nDynamicUser=yes", "DynamicUser" },
};

START_TEST(what_is_asked_for_and_not_done_is_told)
{
	spec_text_init(&t, set_aside[_i].text);
	ck_assert_uint_eq(t.diag.n_errors, 0);
	ck_assert_uint_eq(t.diag.n, 1);
	ck_assert_int_eq(t.diag.entry[0].severity, DIAG_NOT_APPLIED);
	ck_assert_str_eq(t.diag.entry[0].key, set_aside[_i].key);
}
END_TEST

static const char *const harmless[] = {
	"[Unit]\nDocumentation=man:x(8)\nAfter=network.target other.service\nBefore=x.service\nDefaultDependencies=no",
	"[Unit]\nWants=network-online.target\nRequires=sysinit.target x.mount\nConflicts=shutdown.target",
	"[Service]\nStandardOutput=journal\nStandardError=inherit\nStandardInput=null\nIgnoreSIGPIPE=false",
	"[Service]\nExecReload=/bin/kill -HUP $MAINPID\nTimeoutAbortSec=5\nCPUAccounting=yes\nRestart=no\nRestartSec=5",
	"[Service]\nX-Mine=1\nX-Type=oneshot\n[X-Other]\nFoo=bar\n[Install]\nWantedBy=multi-user.target\nAlias=b.service",
};

START_TEST(what_does_no_harm_is_taken_in_silence)
{
	char text[512];

	(void) snprintf(text, sizeof(text), "%s\n[Service]\nExecStart=a", harmless[_i]);
	spec_text_init_good(&t, text);
}
END_TEST

START_TEST(our_keys_may_be_spelt_so_that_systemd_passes_over_them)
{
	spec_text_init_good(&t, "ExecStart=a\nX-Enabled=no");
	ck_assert(!t.spec.is_enabled);
}
END_TEST

START_TEST(kill_mode_none_is_warned_of)
{
	spec_text_init(&t, "ExecStart=a\nKillMode=none");
	ck_assert_uint_eq(t.diag.n_errors, 0);
	ck_assert(spec_text_has(&t, DIAG_WARNING, "3: KillMode=none leaves behind whatever still runs at a stop"));
}
END_TEST

START_TEST(a_percent_sign_astray_in_a_description_does_no_harm)
{
	spec_text_init_good(&t, "[Unit]\nDescription=50%Foo\n[Service]\nExecStart=a");
	ck_assert_str_eq(t.spec.description, "50%Foo");
}
END_TEST

static const char *next_key(const struct key_table *table, const char *section, size_t *i)
{
	for (; *i < table->n; (*i)++)
		if (str_equal(table->row[*i].section, section))
			return table->row[(*i)++].key;
	return NULL;
}

/* One or two of each chapter of systemd's manuals; test_directives.sh asks a real systemd for all of them. */
static const char *const directives[] = {
	"Unit:PartOf", "Unit:StartLimitBurst", "Unit:CollectMode", "Unit:ConditionPathIsReadWrite",
	"Unit:AssertIOPressure", "Unit:JoinsNamespaceOf", "Service:ExitType", "Service:OOMPolicy", "Service:RootImage",
	"Service:CapabilityBoundingSet", "Service:LimitRTTIME", "Service:CPUSchedulingResetOnFork",
	"Service:StateDirectory", "Service:SystemCallFilter", "Service:LoadCredential", "Service:UtmpMode",
	"Service:FinalKillSignal", "Service:MemoryMax", "Service:IPAddressDeny", "Service:ManagedOOMPreference",
	"Service:BlockIOWeight", "Service:Slice", "Service:RestartMode", "Service:PrivatePIDs",
};

START_TEST(systemds_directives_are_all_known)
{
	char section[16], wanted[64];
	const char *key;
	size_t i = 0;

	ck_assert_int_eq(sscanf(directives[_i], "%15[^:]:%63s", section, wanted), 2);
	do
		key = next_key(service_keys(), section, &i);
	while (key && !str_equal(key, wanted));
	ck_assert_msg(key != NULL, "%s", directives[_i]);
}
END_TEST

START_TEST(no_key_stands_in_the_table_twice)
{
	const struct key_table *table = service_keys();

	for (size_t i = 0; i < table->n; i++) {
		ck_assert((table->row[i].parse != NULL) == (table->row[i].kind == KEY_KNOWN));
		for (size_t j = 0; j < i; j++)
			ck_assert_msg(!str_equal(table->row[i].section, table->row[j].section) ||
					      !str_equal(table->row[i].key, table->row[j].key),
				      "%s", table->row[i].key);
	}
}
END_TEST

/* ---- success ---- */

static const struct {
	const char *set;
	int wstatus;
	bool is_success;
} statuses[] = {
	{ "", W_EXITCODE(0, 0), true },
	{ "", W_EXITCODE(1, 0), false },
	{ "", W_EXITCODE(0, SIGTERM), false },
	{ "1 2 255", W_EXITCODE(0, 0), true },
	{ "1 2 255", W_EXITCODE(2, 0), true },
	{ "1 2 255", W_EXITCODE(255, 0), true },
	{ "1 2 255", W_EXITCODE(3, 0), false },
	{ "15", W_EXITCODE(0, 15), false },
	{ "15", W_EXITCODE(15, 0), true },
	{ "SIGTERM", W_EXITCODE(0, SIGTERM), true },
	{ "TERM", W_EXITCODE(0, SIGTERM), true },
	{ "TERM", W_EXITCODE(15, 0), false },
	{ "SIGSEGV", W_EXITCODE(0, SIGSEGV) | WCOREFLAG, false },
	{ "SIGRTMAX", W_EXITCODE(0, 64), true },
	{ "TEMPFAIL DATAERR", W_EXITCODE(75, 0), true },
	{ "TEMPFAIL DATAERR", W_EXITCODE(65, 0), true },
	{ "EXEC", W_EXITCODE(203, 0), true },
	{ "EXCEPTION", W_EXITCODE(255, 0), true },
};

START_TEST(success_is_zero_and_what_was_added)
{
	char text[128];

	(void) snprintf(text, sizeof(text), "ExecStart=a\n%s%s", *statuses[_i].set ? "SuccessExitStatus=" : "",
			statuses[_i].set);
	spec_text_init_good(&t, text);
	ck_assert_int_eq(service_spec_is_success(&t.spec, statuses[_i].wstatus), statuses[_i].is_success);
}
END_TEST

START_TEST(success_adds_up_over_lines)
{
	spec_text_init_good(&t, "ExecStart=a\nSuccessExitStatus=1\nSuccessExitStatus=2 SIGINT");
	ck_assert(service_spec_is_success(&t.spec, W_EXITCODE(1, 0)));
	ck_assert(service_spec_is_success(&t.spec, W_EXITCODE(2, 0)));
	ck_assert(service_spec_is_success(&t.spec, W_EXITCODE(0, SIGINT)));
}
END_TEST

/* ---- size ---- */

START_TEST(a_hundred_thousand_small_services_fit)
{
	spec_text_init_good(&t, "[Unit]\nDescription=Clean the cache of one customer\n"
				"[Service]\nType=oneshot\nUser=customer\nExecStart=/usr/bin/clean --customer 4711\n");
	ck_assert_uint_le(sizeof(t.spec) + arena_size(&t.arena), 768);
}
END_TEST

static Suite *spec_suite(void)
{
	Suite *s = suite_create("spec");
	TCase *tc = tcase_create("parse");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_service_that_says_little_has_systemds_defaults);
	tcase_add_test(tc, each_key_reaches_its_field);
	tcase_add_test(tc, permissions_may_be_for_the_start_only);
	tcase_add_test(tc, an_empty_value_resets);
	tcase_add_loop_test(tc, a_timeout_of_zero_is_none, 0, ELEMENTS(timeouts));
	tcase_add_loop_test(tc, a_mistake_is_told_with_its_line, 0, ELEMENTS(mistakes));
	tcase_add_test(tc, all_mistakes_are_told_at_once);
	tcase_add_loop_test(tc, a_user_may_be_named_as_sites_name_them, 0, ELEMENTS(names));
	tcase_add_loop_test(tc, a_service_does_something, 0, ELEMENTS(needs));
	tcase_add_loop_test(tc, a_service_of_another_type_is_set_aside_quietly, 0, ELEMENTS(foreign));
	tcase_add_test(tc, a_drop_in_may_make_a_oneshot_of_it);
	tcase_add_test(tc, the_last_restart_counts);
	tcase_add_loop_test(tc, what_is_asked_for_and_not_done_is_told, 0, ELEMENTS(set_aside));
	tcase_add_loop_test(tc, what_does_no_harm_is_taken_in_silence, 0, ELEMENTS(harmless));
	tcase_add_test(tc, our_keys_may_be_spelt_so_that_systemd_passes_over_them);
	tcase_add_test(tc, kill_mode_none_is_warned_of);
	tcase_add_test(tc, a_percent_sign_astray_in_a_description_does_no_harm);
	tcase_add_loop_test(tc, systemds_directives_are_all_known, 0, ELEMENTS(directives));
	tcase_add_test(tc, no_key_stands_in_the_table_twice);
	tcase_add_loop_test(tc, success_is_zero_and_what_was_added, 0, ELEMENTS(statuses));
	tcase_add_test(tc, success_adds_up_over_lines);
	tcase_add_test(tc, a_hundred_thousand_small_services_fit);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(spec_suite)
