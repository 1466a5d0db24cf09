#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every directive that systemd 252 takes in a service or a timer is known here: applied, without effect, or not applied
# and explained; never a typo of another. The same of the systemd of this machine, if there is one.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"

systemd=
for path in /usr/lib/systemd/systemd /lib/systemd/systemd; do
	[ -x "$path" ] && systemd=$path && break
done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

list=$TOP_SRCDIR/tests/supervisor/service/directives-252
# Each in a unit of its own, with a value that few of them take.
while read -r section key; do
	case $section in
	'#') continue ;;
	Timer) printf '[Timer]\nOnCalendar=daily\nUnit=service.service\n%s=x\n' "$key" >"$dir/timer-$key.timer" ;;
	*)
		printf '[Service]\nExecStart=/bin/true\n[%s]\n%s=x\n' "$section" "$key" >"$dir/$section-$key.service"
		[ "$section" = Service ] ||
			printf '[Timer]\nOnCalendar=daily\nUnit=service.service\n[%s]\n%s=x\n' "$section" "$key" >"$dir/$section-$key.timer"
		;;
	esac
done <"$list"
[ "${ENABLE_TIMER:-yes}" = yes ] || rm -f "$dir"/*.timer
shopt -s nullglob
printf '[Service]\nExecStart=/bin/true\n' >"$dir/service.service"
said=$("$TOP_BUILDDIR/supctl" verify --strict "$dir"/*.service "$dir"/*.timer 2>&1)
ok "all of them have been looked at" grep -qE '^[34][0-9][0-9] units: ' <<<"$said"
empty "none of them is unknown" "$(grep -E 'unknown|did you mean' <<<"$said")"
empty "what is not applied is explained" "$(grep 'not applied' <<<"$said" | grep -E 'supd cannot do this|makes sense only under' |
	grep -v '^[0-9]* units')"
ok "and there is such" grep -q 'PrivateTmp= is not applied, ignored (sandbox: ' <<<"$said"
rm -f "$dir"/*

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
