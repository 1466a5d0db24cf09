#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every unit file we ship loads, without a warning.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
cd "$TOP_SRCDIR" || exit 1
supctl=$TOP_BUILDDIR/supctl

verifies() {
	local output
	output=$("$supctl" verify --unit-path="$TOP_SRCDIR/units" "$1" 2>&1) &&
		[[ $output = *' 0 warnings' ]] || { echo "$output"; return 1; }
}

for unit in units/*.service units/*.timer; do
	case $unit in
	*.timer) [ "${ENABLE_TIMER:-yes}" = yes ] || continue ;;
	esac
	ok "$unit loads" verifies "$unit"
done
done_testing
