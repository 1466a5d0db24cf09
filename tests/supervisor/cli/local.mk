# SPDX-License-Identifier: MIT
check_PROGRAMS += %D%/test_supctl
TESTS += %D%/test_supctl

%C%_test_supctl_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)

dist_check_SCRIPTS += %D%/test_calendar.sh %D%/test_simulate.sh
TESTS += %D%/test_calendar.sh %D%/test_simulate.sh

dist_check_SCRIPTS += %D%/test_verify.sh
TESTS += %D%/test_verify.sh
