#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each header compiles alone, and twice; the installed one also outside of this tree.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
TEST_CC=${TEST_CC:-cc}
flags="-std=gnu11 -D_GNU_SOURCE -I$TOP_BUILDDIR -I$TOP_SRCDIR -I$TOP_SRCDIR/supervisor
	-include $TOP_BUILDDIR/config.h -Wall -Wextra -Werror -fsyntax-only -x c"

compiles_twice() {
	printf '#include "%s"\n#include "%s"\n' "$1" "$1" | $TEST_CC $flags -
}

compiles_as() { # LANGUAGE FLAGS
	$TEST_CC -fsyntax-only -Wall -Wextra -Wno-unused-command-line-argument -pedantic -Werror \
		-x "$1" "$2" "$TOP_SRCDIR/supervisor/supd-plugin.h"
}

timer=timer
[ "${ENABLE_TIMER:-yes}" = yes ] || timer=
cd "$TOP_SRCDIR" || exit 1
for header in $(find supervisor $timer tests/lib -name '*.h' | sort); do
	ok "$header compiles alone and twice" compiles_twice "$header"
done
ok "supd-plugin.h is plain C11 and needs no other header of ours" compiles_as c -std=c11
done_testing
