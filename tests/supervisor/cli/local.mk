# SPDX-License-Identifier: MIT
check_PROGRAMS += %D%/test_supctl
TESTS += %D%/test_supctl

%C%_test_supctl_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)

check_PROGRAMS += %D%/test_run_unit
TESTS += %D%/test_run_unit
%C%_test_run_unit_SOURCES = %D%/test_run_unit.c tests/supervisor/service/spec_text.c tests/supervisor/service/spec_text.h
%C%_test_run_unit_LDADD = $(TEST_LIBS) libcli.a $(SERVICE_LIBS)

dist_check_SCRIPTS += %D%/test_calendar.sh %D%/test_simulate.sh
TESTS += %D%/test_calendar.sh %D%/test_simulate.sh

dist_check_SCRIPTS += %D%/test_verify.sh
TESTS += %D%/test_verify.sh
