# SPDX-License-Identifier: MIT

check_PROGRAMS += %D%/test_plugin_verdict
TESTS += %D%/test_plugin_verdict
%C%_test_plugin_verdict_LDADD = $(TEST_LIBS) $(CORE_LIBS)

check_PROGRAMS += %D%/test_manager
TESTS += %D%/test_manager
%C%_test_manager_SOURCES = %D%/test_manager.c %D%/fake_world.c %D%/fake_world.h
%C%_test_manager_LDADD = $(TEST_LIBS) $(CORE_LIBS)

check_PROGRAMS += %D%/test_config
TESTS += %D%/test_config
%C%_test_config_LDADD = $(TEST_LIBS) $(CORE_LIBS)

check_PROGRAMS += %D%/test_directories
TESTS += %D%/test_directories
%C%_test_directories_LDADD = $(TEST_LIBS) $(CORE_LIBS)

check_PROGRAMS += %D%/test_events
TESTS += %D%/test_events
%C%_test_events_LDADD = $(TEST_LIBS) $(CORE_LIBS)

check_PROGRAMS += %D%/test_report
TESTS += %D%/test_report
%C%_test_report_LDADD = $(TEST_LIBS) $(CORE_LIBS)

check_PROGRAMS += %D%/test_transaction
TESTS += %D%/test_transaction
%C%_test_transaction_LDADD = $(TEST_LIBS) $(CORE_LIBS)

check_PROGRAMS += %D%/test_turns
TESTS += %D%/test_turns
%C%_test_turns_SOURCES = %D%/test_turns.c %D%/fake_world.c %D%/fake_world.h
%C%_test_turns_LDADD = $(TEST_LIBS) $(CORE_LIBS)
