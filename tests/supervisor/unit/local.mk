# SPDX-License-Identifier: MIT

check_PROGRAMS += %D%/test_fragment
TESTS += %D%/test_fragment
%C%_test_fragment_LDADD = $(TEST_LIBS) $(UNIT_LIBS)

check_PROGRAMS += %D%/test_merge
TESTS += %D%/test_merge
%C%_test_merge_LDADD = $(TEST_LIBS) $(UNIT_LIBS)

check_PROGRAMS += %D%/test_name
TESTS += %D%/test_name
%C%_test_name_LDADD = $(TEST_LIBS) $(UNIT_LIBS)

check_PROGRAMS += %D%/test_reader
TESTS += %D%/test_reader
%C%_test_reader_LDADD = $(TEST_LIBS) $(UNIT_LIBS)
