# SPDX-License-Identifier: MIT

check_PROGRAMS += %D%/test_command
TESTS += %D%/test_command
%C%_test_command_SOURCES = %D%/test_command.c %D%/spec_text.c %D%/spec_text.h
%C%_test_command_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_environment
TESTS += %D%/test_environment
%C%_test_environment_SOURCES = %D%/test_environment.c %D%/spec_text.c %D%/spec_text.h
%C%_test_environment_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_environment_file
TESTS += %D%/test_environment_file
%C%_test_environment_file_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_expand
TESTS += %D%/test_expand
%C%_test_expand_SOURCES = %D%/test_expand.c %D%/spec_text.c %D%/spec_text.h
%C%_test_expand_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_not_applied
TESTS += %D%/test_not_applied
%C%_test_not_applied_SOURCES = %D%/test_not_applied.c %D%/spec_text.c %D%/spec_text.h
%C%_test_not_applied_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_restart
TESTS += %D%/test_restart
%C%_test_restart_SOURCES = %D%/test_restart.c %D%/spec_text.c %D%/spec_text.h
%C%_test_restart_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)
check_PROGRAMS += %D%/test_notify
TESTS += %D%/test_notify
%C%_test_notify_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_run_record
TESTS += %D%/test_run_record
%C%_test_run_record_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_exec_streams
TESTS += %D%/test_exec_streams
%C%_test_exec_streams_SOURCES = %D%/test_exec_streams.c %D%/spec_text.c %D%/spec_text.h
%C%_test_exec_streams_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_service_fsm
TESTS += %D%/test_service_fsm
%C%_test_service_fsm_SOURCES = %D%/test_service_fsm.c %D%/spec_text.c %D%/spec_text.h
%C%_test_service_fsm_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_service_walk
TESTS += %D%/test_service_walk
%C%_test_service_walk_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_spec
TESTS += %D%/test_spec
%C%_test_spec_SOURCES = %D%/test_spec.c %D%/spec_text.c %D%/spec_text.h
%C%_test_spec_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_specifier
TESTS += %D%/test_specifier
%C%_test_specifier_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

dist_check_SCRIPTS += %D%/test_directives.sh
EXTRA_DIST += %D%/directives-252
TESTS += %D%/test_directives.sh

check_PROGRAMS += %D%/test_spec_limits
TESTS += %D%/test_spec_limits
%C%_test_spec_limits_SOURCES = %D%/test_spec_limits.c %D%/spec_text.c %D%/spec_text.h
%C%_test_spec_limits_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_tally
TESTS += %D%/test_tally
%C%_test_tally_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)
check_PROGRAMS += %D%/test_condition
TESTS += %D%/test_condition
%C%_test_condition_SOURCES = %D%/test_condition.c %D%/spec_text.c %D%/spec_text.h
%C%_test_condition_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_version
TESTS += %D%/test_version
%C%_test_version_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_exec_directories
TESTS += %D%/test_exec_directories
%C%_test_exec_directories_SOURCES = %D%/test_exec_directories.c %D%/spec_text.c %D%/spec_text.h
%C%_test_exec_directories_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)

check_PROGRAMS += %D%/test_cgroup_limits
TESTS += %D%/test_cgroup_limits
%C%_test_cgroup_limits_SOURCES = %D%/test_cgroup_limits.c %D%/spec_text.c %D%/spec_text.h
%C%_test_cgroup_limits_LDADD = $(TEST_LIBS) $(SERVICE_LIBS)
