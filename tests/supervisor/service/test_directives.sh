#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every directive that the systemd of this machine takes in a service is taken here, too.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"

systemd=
for path in /usr/lib/systemd/systemd /lib/systemd/systemd; do
	[ -x "$path" ] && systemd=$path && break
done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

items() { # SECTION: its directives, each without a value
	"$systemd" --dump-configuration-items 2>/dev/null |
		awk -F= -v section="[$1]" '/^\[/ { here = $0 == section } here && NF > 1 { print $1 "=" }'
}

if [ -z "$systemd" ]; then
	skip "every directive of systemd is known" "systemd is not installed"
	done_testing
	exit
fi
{
	echo '[Unit]' && items Unit
	echo '[Service]' && items Service
	echo 'ExecStart=/bin/true'
	echo '[Install]' && items Install
} >"$dir/all.service"
ok "systemd names hundreds of directives" test "$(wc -l <"$dir/all.service")" -gt 300
output=$("$TOP_BUILDDIR/supctl" verify "$dir/all.service" 2>&1)
is "a service with all of them is valid" $? 0
empty "nothing is said of any of them" "$(grep -F all.service <<<"$output")"
done_testing
