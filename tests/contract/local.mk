# SPDX-License-Identifier: MIT

check_PROGRAMS += %D%/test_inih
TESTS += %D%/test_inih
%C%_test_inih_LDADD = $(TEST_LIBS) $(UNIT_LIBS)
