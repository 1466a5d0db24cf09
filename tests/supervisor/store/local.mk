# SPDX-License-Identifier: MIT

check_PROGRAMS += %D%/test_atomic_file
TESTS += %D%/test_atomic_file
%C%_test_atomic_file_LDADD = $(TEST_LIBS) $(STORE_LIBS)

check_PROGRAMS += %D%/test_lock
TESTS += %D%/test_lock
%C%_test_lock_LDADD = $(TEST_LIBS) $(STORE_LIBS)

check_PROGRAMS += %D%/test_unit_files
TESTS += %D%/test_unit_files
%C%_test_unit_files_LDADD = $(TEST_LIBS) $(STORE_LIBS)

check_PROGRAMS += %D%/test_unit_links
TESTS += %D%/test_unit_links
%C%_test_unit_links_LDADD = $(TEST_LIBS) $(STORE_LIBS)

check_PROGRAMS += %D%/test_memory
TESTS += %D%/test_memory
%C%_test_memory_LDADD = $(TEST_LIBS) $(STORE_LIBS)
%C%_test_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc \
	-Wl,--wrap=reallocarray -Wl,--wrap=strdup -Wl,--wrap=strndup -Wl,--wrap=vasprintf -Wl,--wrap=asprintf

check_PROGRAMS += %D%/test_file
TESTS += %D%/test_file
%C%_test_file_LDADD = $(TEST_LIBS) $(STORE_LIBS)

check_PROGRAMS += %D%/test_history
TESTS += %D%/test_history
%C%_test_history_LDADD = $(TEST_LIBS) $(STORE_LIBS)
check_PROGRAMS += %D%/test_run_log
TESTS += %D%/test_run_log
%C%_test_run_log_LDADD = $(TEST_LIBS) $(STORE_LIBS)

check_PROGRAMS += %D%/test_parallel
TESTS += %D%/test_parallel
%C%_test_parallel_LDADD = $(TEST_LIBS) $(STORE_LIBS)
check_PROGRAMS += %D%/test_history_schema
TESTS += %D%/test_history_schema
%C%_test_history_schema_LDADD = $(TEST_LIBS) $(STORE_LIBS)
