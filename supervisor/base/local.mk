# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libbase.a
BASE_LIBS = libbase.a

libbase_a_SOURCES = \
	%D%/arena.c %D%/arena.h \
	%D%/base64.c %D%/base64.h \
	%D%/cleanup.h \
	%D%/diag.c %D%/diag.h \
	%D%/hash.h \
	%D%/heap.c %D%/heap.h \
	%D%/histogram.c %D%/histogram.h \
	%D%/keys.c %D%/keys.h \
	%D%/log.c %D%/log.h \
	%D%/merge.c %D%/merge.h \
	%D%/names.c %D%/names.h \
	%D%/parse_error.c %D%/parse_error.h \
	%D%/text.c %D%/text.h \
	%D%/timespan.c %D%/timespan.h \
	%D%/usec.h \
	%D%/value_word.c \
	%D%/values.c %D%/values.h
