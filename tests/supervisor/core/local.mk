# SPDX-License-Identifier: MIT

check_PROGRAMS += %D%/test_plugin_verdict
TESTS += %D%/test_plugin_verdict
%C%_test_plugin_verdict_LDADD = $(TEST_LIBS) $(CORE_LIBS)
