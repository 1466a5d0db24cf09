# SPDX-License-Identifier: MIT

check_PROGRAMS += %D%/test_inih
TESTS += %D%/test_inih
%C%_test_inih_LDADD = $(TEST_LIBS) $(UNIT_LIBS)

check_PROGRAMS += %D%/test_sd_event
TESTS += %D%/test_sd_event
%C%_test_sd_event_LDADD = $(TEST_LIBS) $(SYSTEMD_LIBS)
