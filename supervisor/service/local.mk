# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libservice.a
SERVICE_LIBS = libservice.a $(UNIT_LIBS)

libservice_a_SOURCES = \
	%D%/cgroup_limits.c %D%/cgroup_limits.h \
	%D%/command.c %D%/command.h \
	%D%/condition.c %D%/condition.h \
	%D%/condition_judge.c %D%/condition_private.h \
	%D%/condition_values.c \
	%D%/dependencies.c %D%/dependencies.h \
	%D%/environment.c %D%/environment.h \
	%D%/environment_file.c \
	%D%/exec_directories.c %D%/exec_directories.h \
	%D%/exec_limits.h \
	%D%/exec_streams.c %D%/exec_streams.h \
	%D%/expand.c \
	%D%/not_applied.c %D%/not_applied.h \
	%D%/history_record.c %D%/history_record.h \
	%D%/restart.c %D%/restart.h \
	%D%/notify.c %D%/notify.h \
	%D%/run_record.c %D%/run_record.h \
	%D%/run_said.c %D%/run_said.h \
	%D%/service_fsm.c %D%/service_fsm.h \
	%D%/spec.c %D%/spec.h \
	%D%/spec_conditions.c \
	%D%/spec_keys.c \
	%D%/spec_limits.c %D%/spec_limits.h \
	%D%/spec_values.c %D%/spec_values.h \
	%D%/specifier.c %D%/specifier.h \
	%D%/tally.c %D%/tally.h \
	%D%/tally_bytes.c \
	%D%/version.c %D%/version.h
