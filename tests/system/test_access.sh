#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who may do what: others than the owner look, as far as ReadAccess= lets them, and command nothing. The interface is
# there for busctl.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

address=unix:path=$dir/run/supd/private
service talks.service 'ExecStart=/bin/echo not for all'
service job.service 'ExecStart=/bin/true' 'Environment=PASSWORD=12345'
service secret.service 'ExecStart=/bin/true' 'Environment=PASSWORD=12345'
chmod 600 "$units/secret.service"

timers=
if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	timers=--experimental=timers
	printf '[Timer]\nOnCalendar=yearly\n' >"$units/job.timer"
fi

# shellcheck disable=SC2086 # no option, or one
supd_start $timers
if command -v busctl >/dev/null; then
	exits 0 "busctl introspects the interface" \
		busctl --address="$address" introspect org.supd.Manager1 /org/supd/Manager1 org.supd.Manager1
	says '^\.StartUnit +method +sb ' "with its methods"
else
	skip "busctl introspects the interface" "there is no busctl"
fi

[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || {
	skip "others look and command nothing" "needs root, and setpriv"
	supd_stop
	done_testing
}

# The build tree may be closed to others.
cp "$TOP_BUILDDIR/supctl" "$dir/supctl"
other() {
	setpriv --reuid=65533 --regid=65533 --clear-groups -- env ASAN_OPTIONS=detect_leaks=0 "$@"
}
member() {
	setpriv --reuid=65533 --regid=65533 --groups="$(id -g daemon)" -- env ASAN_OPTIONS=detect_leaks=0 "$@"
}

exits 0 "another user lists units" other "$dir/supctl" --system list
says 'job.service' "all of them"
exits 3 "and sees their states" other "$dir/supctl" --system status job
supctl start talks >/dev/null
exits 0 "the owner sees what a service printed" supctl logs talks
says 'out: not for all' "every line"
exits 1 "another user does not" other "$dir/supctl" --system logs talks
says 'is for root and the user that supd runs as' "and hears for whom it is"
exits 3 "nor in the status of a unit" other "$dir/supctl" --system status talks
ok "where it is left out" bash -c '! grep -q "not for all" <<<"$1"' - "$output"
exits 1 "nor from the disk" other "$dir/supctl" --system logs --state-dir="$dir/state" talks
says 'Permission denied' "which says so itself"
for verb in start stop restart enable disable; do
	exits 1 "but may not $verb them" other "$dir/supctl" --system "$verb" job
done
says 'supctl: .' "as it is told in a sentence"
exits 1 "nor reload" other "$dir/supctl" --system reload
exits 1 "nor turn timers on" other "$dir/supctl" --system experimental enable timers
exits 1 "nor pause them" other "$dir/supctl" --system pause
exits 0 "events are for all to see" other "$dir/supctl" --system events -n all
if [ -n "$timers" ]; then
	supctl skip job.timer next >/dev/null
	exits 1 "nor skip a moment" other "$dir/supctl" --system skip job.timer '+1y'
	says 'supctl: .* (root|user)' "as it is told in a sentence"
	exits 1 "nor take that back" other "$dir/supctl" --system unskip job.timer next
	is "what is skipped stays so" "$(supctl events --json -n all --type=skip,unskip | grep -c .)" 1
fi
exits 0 "nothing happened" supctl show job --property=run_id --value
is "no run has been made" "$output" ""
exits 0 "files that anybody can read are shown" other "$dir/supctl" --system cat job
exits 1 "those that nobody else can are not" other "$dir/supctl" --system cat secret
exits 0 "nor what is in them" other "$dir/supctl" --system show secret
is "by other means" "$(grep -c PASSWORD <<<"$output")" 0
supd_stop

mkdir "$dir/etc"
printf '[Manager]\nReadAccess=none\n' >"$dir/etc/supd.conf"
supd_start --config="$dir/etc/supd.conf"
exits 1 "ReadAccess=none: another user sees nothing" other "$dir/supctl" --system list
exits 0 "the owner does" supctl list
supd_stop

printf '[Manager]\nReadAccess=group:daemon\n' >"$dir/etc/supd.conf"
supd_start --config="$dir/etc/supd.conf"
exits 1 "ReadAccess=group: who is not in it sees nothing" other "$dir/supctl" --system list
exits 0 "who is in it does" member "$dir/supctl" --system list
exits 1 "and may not command" member "$dir/supctl" --system start job
supd_stop
done_testing
