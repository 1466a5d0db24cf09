# SPDX-License-Identifier: MIT
# A test program is in check_PROGRAMS and in TESTS, a test script in dist_check_SCRIPTS and in
# TESTS; both speak TAP. HACKING.md says how to add one.
dist_check_SCRIPTS =
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
# A test that hangs is a failure of its own, not of all.
LOG_COMPILER = timeout --kill-after=10 300
SH_LOG_COMPILER = $(LOG_COMPILER) bash

AM_TESTS_ENVIRONMENT = \
	TOP_SRCDIR='$(abs_top_srcdir)'; export TOP_SRCDIR; \
	TOP_BUILDDIR='$(abs_top_builddir)'; export TOP_BUILDDIR; \
	NM='$(NM_TOOL)'; export NM; \
	TEST_CC='$(CC) $(CFLAGS)'; export TEST_CC; \
	ENABLE_TIMER='$(enable_timer)'; export ENABLE_TIMER; \
	CK_TAP_LOG_FILE_NAME=-; export CK_TAP_LOG_FILE_NAME; \
	CK_VERBOSITY=silent; export CK_VERBOSITY; \
	CK_TIMEOUT_MULTIPLIER=5; export CK_TIMEOUT_MULTIPLIER; \
	unset NOTIFY_SOCKET TZ SUPD_RUNTIME_DIR;

# What a test program links unless its own _LDADD says more.
TEST_LIBS = libtest.a $(CHECK_LIBS)
LDADD = $(TEST_LIBS) $(BASE_LIBS)

include %D%/lib/local.mk
include %D%/arch/local.mk
include %D%/supervisor/base/local.mk
include %D%/supervisor/unit/local.mk
include %D%/supervisor/service/local.mk
include %D%/supervisor/core/local.mk
include %D%/supervisor/store/local.mk
include %D%/supervisor/run/local.mk
include %D%/supervisor/control/local.mk
include %D%/supervisor/daemon/local.mk
include %D%/supervisor/cli/local.mk
if TIMER
include %D%/timer/local.mk
endif
include %D%/contract/local.mk
include %D%/plugins/local.mk
include %D%/sim/local.mk
include %D%/system/local.mk
include %D%/fuzz/local.mk
include %D%/bench/local.mk
include %D%/oracle/local.mk
