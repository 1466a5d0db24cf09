# SPDX-License-Identifier: MIT
# The real daemon in a scratch folder.
system_tests = \
	%D%/test_services.sh
dist_check_SCRIPTS += $(system_tests)
TESTS += $(system_tests)
EXTRA_DIST += %D%/supd.sh
