# SPDX-License-Identifier: MIT
control_tests = %D%/test_access %D%/test_format %D%/test_frame %D%/test_rows_json %D%/test_server %D%/test_table
check_PROGRAMS += $(control_tests)
TESTS += %D%/test_access %D%/test_format %D%/test_frame %D%/test_rows_json %D%/test_server %D%/test_table

%C%_test_access_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)
%C%_test_format_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)
%C%_test_frame_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)
%C%_test_rows_json_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)
%C%_test_server_LDADD = $(TEST_LIBS) $(CONTROL_LIBS) -lpthread
%C%_test_table_LDADD = $(TEST_LIBS) $(CONTROL_LIBS)
