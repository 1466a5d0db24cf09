# SPDX-License-Identifier: MIT
check_PROGRAMS += %D%/test_supd_events
TESTS += %D%/test_supd_events
%C%_test_supd_events_SOURCES = %D%/test_supd_events.c supervisor/daemon/supd_events.c
%C%_test_supd_events_LDADD = $(TEST_LIBS) $(CORE_LIBS) $(SYSTEMD_LIBS)
