# SPDX-License-Identifier: MIT
# What ARCHITECTURE.md says, checked.
arch_tests = %D%/test_includes.sh %D%/test_headers.sh %D%/test_purity.sh %D%/test_plugin.sh \
	%D%/test_manpages.sh %D%/test_tree.sh %D%/test_units.sh
dist_check_SCRIPTS += $(arch_tests)
TESTS += $(arch_tests)
