#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Services that depend on each other: order, failures that spread, targets, what OnFailure= starts, and shutdown.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

trace=$dir/trace
# step NAME UNIT-LINES -- SERVICE-LINES: a service that leaves its name in the trace
step() {
	local name=$1 lines=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do lines+=("$1"); shift; done
	shift
	{
		echo "[Unit]"
		[ ${#lines[@]} = 0 ] || printf '%s\n' "${lines[@]}"
		echo "[Service]"
		echo "ExecStart=/bin/sh -c 'echo $name >>$trace'"
		[ $# = 0 ] || printf '%s\n' "$@"
	} >"$units/$name.service"
}
traced() {
	touch "$trace"
	tr '\n' ' ' <"$trace"
	rm -f "$trace"
}

step fetch 'Wants=network-online.target' 'After=network-online.target' --
step unpack 'Requires=fetch.service' 'After=fetch.service' --
step build 'Requires=unpack.service' 'After=unpack.service' 'Wants=missing.service' --
step broken -- 'ExecStart=/bin/sh -c "exit 3"'
step needs 'Requires=broken.service' 'After=broken.service' 'OnFailure=report.service' --
step wants 'Wants=broken.service' 'After=broken.service' --
step lost 'Requires=nowhere.service' --
step report --
echo "ExecStart=/bin/sh -c 'env | grep ^MONITOR_ | sort >$dir/monitor.new; mv $dir/monitor.new $dir/monitor'" >>"$units/report.service"
step mount -- 'RemainAfterExit=yes' "ExecStop=/bin/sh -c 'echo umount >>$trace'"
step use 'BindsTo=mount.service' 'After=mount.service' -- 'RemainAfterExit=yes' "ExecStop=/bin/sh -c 'echo unuse >>$trace'"
step enemy 'Conflicts=mount.service' --
step x 'After=y.service' --
step y 'Before=x.service' 'After=x.service' --
unit night.target <<EOF
[Unit]
Description=All that runs at night
Requires=build.service
Wants=late.service
EOF
step late 'PartOf=night.target' 'After=build.service' -- RemainAfterExit=yes
step hand 'RefuseManualStart=yes' --
step first 'Before=second.service' --
step second --
mkdir "$units/default.target.wants"
ln -s ../first.service ../second.service "$units/default.target.wants/"

exits 4 "verify refuses a circle" supctl verify --unit-path="$units"
says 'x.service:2: the order goes in a circle: x.service → y.service → x.service' "and names it, with file and line"

supd_start
is "the start-up obeys the order" "$(traced)" "first second "

exits 0 "a service is started with all that it requires" supctl start build
is "in order" "$(traced)" "fetch unpack build "
is "what came along says by whom" "$(field fetch cause)/$(field fetch trigger)" dependency/unpack.service

exits 1 "what requires a failure fails" supctl start needs
says 'needs.service: dependency failed: broken.service \(failed exit 3\)' "and says which, and how"
is "without having begun" "$(grep -c needs <<<"$(traced)")" 0
is "as JSON, too" "$(supctl start needs --json | grep -o '"result":"dependency"')" '"result":"dependency"'
is "it has failed" "$(field needs active_state)" failed
ok "OnFailure= is started" log_has 'report.service.*success'
is "and told of whose end" "$(grep -E 'UNIT|RESULT' "$dir/monitor" | tr '\n' ' ')" \
	"MONITOR_SERVICE_RESULT=dependency MONITOR_UNIT=needs.service "
traced >/dev/null
exits 0 "what is merely wanted may fail" supctl start wants
is "and is waited for" "$(traced)" "broken wants "
exits 1 "what does not exist cannot be required" supctl start lost
says 'lost.service: dependency failed: nowhere.service does not exist' "and is named"
exits 4 "a circle is invalid" supctl start x
exits 1 "some services are not started by hand" supctl start hand
says 'RefuseManualStart=yes' "which is said"

exits 0 "what remains active" supctl start use
is "is started once" "$(traced)" "mount use "
supctl start use >/dev/null
is "and not again" "$(traced)" ""
exits 0 "a stop takes along what is bound to it" supctl stop mount
is "last things first" "$(traced)" "unuse umount "
supctl start use >/dev/null && traced >/dev/null
exits 0 "what conflicts is stopped first" supctl start enemy
is "before the other starts" "$(traced)" "unuse umount enemy "

exits 0 "a target starts its members" supctl start night.target
is "in their order" "$(traced)" "fetch unpack build late "
is "and is active" "$(field night.target active_state)/$(field night.target sub_state)" active/active
exits 0 "so says status" supctl status night.target
supctl list >"$dir/list"
ok "and the list has it" grep -q 'night.target' "$dir/list"
exits 0 "its stop" supctl stop night.target
ok "stops its parts" log_has 'late.service.*stopped'
is "which are inactive then" "$(field late active_state)" inactive

mkdir "$units/night.target.wants"
ln -s ../hand.service "$units/night.target.wants/"
exits 0 "a link in .wants/ makes a member" supctl reload
supctl start night.target >/dev/null
ok "which is started with it" grep -qx hand "$trace"
supctl stop night.target >/dev/null
traced >/dev/null
rm "$units/y.service"
exits 0 "a circle that is gone is forgotten by a reload" supctl reload
exits 0 "and its units run" supctl start x
traced >/dev/null
step y 'After=x.service' 'Before=x.service' --
exits 4 "a reload that would make one is refused" supctl reload
says 'goes in a circle' "with the reason"

# What a unit waits for, and until when.
rm "$units/y.service"
mkfifo "$dir/go"
step slow -- "ExecStart=/bin/sh -c 'read go <$dir/go'" 'TimeoutStartSec=1h'
step patient 'Requires=slow.service' 'After=slow.service' --
step further 'After=patient.service' 'Wants=patient.service' --
step again -- 'ExecStart=/bin/false' 'Restart=on-failure' 'RestartSec=1h'
supctl reload >/dev/null
exits 0 "a start of what has to wait" supctl start --no-block further
is "says for what" "$output" "further.service: waits to start, for patient.service"
exits 0 "whoever asks again" supctl start --no-block patient
is "hears the same" "$output" "patient.service: waits to start, for slow.service"
supctl status patient >"$dir/status"
ok "its status, too" grep -qE '^ +Active: activating \(waiting\)' "$dir/status"
ok "with the time that the other has at most" grep -qE '^ +Waiting: to start, for slow.service, until .* at most; [0-9]+min' "$dir/status"
ok "which nobody knows of one that waits" grep -qE '^ +Waiting: to start, for patient.service$' <(supctl status further)
is "programs are told" "$(supctl status patient --json | grep -o '"waits_for":\[[^]]*\]')" '"waits_for":["slow.service"]'
echo >"$dir/go"
ok "when that is over, it goes on" log_has "further.service.*: success"
is "and waits for nothing" "$(supctl status further | grep -c Waiting)" 0
exits 0 "one that fails and is to be restarted" supctl start --no-block again
ok "says so" log_has 'again.service.*restart'
exits 0 "when it is asked for once more" supctl start --no-block again
is "in words" "$output" "again.service: waits to be restarted"
ok "and in its status" grep -qE '^ +Waiting: to be restarted, until .*; [0-9]+min' <(supctl status again)
supctl stop again >/dev/null
traced >/dev/null

supctl start use >/dev/null && traced >/dev/null
supd_stop
is "a shutdown stops in reverse order" "$(traced)" "unuse umount "
done_testing
