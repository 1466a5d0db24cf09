# SPDX-License-Identifier: MIT
control_tests = %D%/test_access %D%/test_frame %D%/test_server
check_PROGRAMS += $(control_tests)
TESTS += $(control_tests)

%C%_test_access_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)
%C%_test_frame_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)
%C%_test_server_LDADD = $(TEST_LIBS) $(CONTROL_LIBS) -lpthread
