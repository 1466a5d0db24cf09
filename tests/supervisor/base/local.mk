# SPDX-License-Identifier: MIT

check_PROGRAMS += %D%/test_arena
TESTS += %D%/test_arena

check_PROGRAMS += %D%/test_base64
TESTS += %D%/test_base64

check_PROGRAMS += %D%/test_diag
TESTS += %D%/test_diag

check_PROGRAMS += %D%/test_keys
TESTS += %D%/test_keys

check_PROGRAMS += %D%/test_log
TESTS += %D%/test_log

check_PROGRAMS += %D%/test_merge
TESTS += %D%/test_merge

check_PROGRAMS += %D%/test_names
TESTS += %D%/test_names

check_PROGRAMS += %D%/test_text
TESTS += %D%/test_text

check_PROGRAMS += %D%/test_values
TESTS += %D%/test_values

check_PROGRAMS += %D%/test_timespan
TESTS += %D%/test_timespan

check_PROGRAMS += %D%/test_histogram
TESTS += %D%/test_histogram
