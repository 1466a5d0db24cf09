# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libstore.a
STORE_LIBS = libstore.a $(SERVICE_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS)

libstore_a_SOURCES = \
	%D%/atomic_file.c %D%/atomic_file.h \
	%D%/config_file.c %D%/config_file.h \
	%D%/file.c %D%/file.h \
	%D%/history.c %D%/history.h %D%/history_private.h \
	%D%/history_count.c \
	%D%/history_ids.c \
	%D%/history_query.c \
	%D%/history_sums.c \
	%D%/history_write.c \
	%D%/lock.c %D%/lock.h \
	%D%/parallel.c %D%/parallel.h \
	%D%/run_log.c %D%/run_log.h \
	%D%/run_log_reader.c %D%/run_log_reader.h \
	%D%/run_log_record.c %D%/run_log_record.h \
	%D%/unit_files.c %D%/unit_files.h \
	%D%/unit_index.c %D%/unit_index.h %D%/unit_index_private.h \
	%D%/unit_index_aliases.c \
	%D%/unit_index_dropins.c \
	%D%/unit_index_instances.c \
	%D%/unit_index_refresh.c \
	%D%/unit_index_scan.c \
	%D%/unit_index_wants.c \
	%D%/unit_links.c %D%/unit_links.h
