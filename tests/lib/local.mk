# SPDX-License-Identifier: MIT
check_LIBRARIES += libtest.a
EXTRA_DIST += %D%/tap.sh
libtest_a_CPPFLAGS = $(AM_CPPFLAGS) -DABS_TOP_SRCDIR=\"$(abs_top_srcdir)\" \
	-DABS_TOP_BUILDDIR=\"$(abs_top_builddir)\"
libtest_a_SOURCES = %D%/test_main.h %D%/test_dir.h %D%/test_dir.c
