#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# More starts than there are descriptors or processes for: they wait, in the order of asking, and supd goes on.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

N=40
descriptors() { find "/proc/$supd_pid/fd" -mindepth 1 | wc -l; }

# settled N: supd has at most so many descriptors, soon.
settled() {
	for _ in $(seq 200); do
		[ "$(descriptors)" -le "$1" ] && return 0
		supctl status >/dev/null 2>&1
	done
	ls -l "/proc/$supd_pid/fd"
	return 1
}

# Each waits for the gate: a fifo that is opened for writing once.
mkfifo "$dir/gate"
names=()
for i in $(seq -w "$N"); do
	service "held$i.service" "ExecStart=/bin/sh -c 'echo begun >>$dir/begun; cat $dir/gate; echo done'"
	names+=("held$i.service")
done
service quick.service 'ExecStart=/bin/true'
service late.service 'ExecStart=/bin/true' 'TimeoutStartSec=500ms'

ulimit -n 64
supd_start --log-level=info
before=$(descriptors)

supctl start "${names[@]}" >"$dir/out" 2>&1 &
waiter=$!
ok "that there are no more descriptors is told" log_has 'starts wait until others have ended'
exits 0 "meanwhile supd answers" supctl status
is "one that waits is starting" "$(field "held$N.service" active_state)" activating
is "without a process" "$(field "held$N.service" main_pid)" ""
exits 0 "it can be stopped" supctl stop "held$N.service"
is "as if it had never been" "$(field "held$N.service" active_state) $(field "held$N.service" result)" \
	"inactive stopped"
supctl start late >"$dir/late" 2>&1
is "the time that it waits is that of its start" "$(field late.service result)" timeout
ok "some have begun, not all" test "$(wc -l <"$dir/begun")" -lt "$N"
# Who waits at the gate goes on, and who comes finds it open.
: >"$dir/open"
exec 9<>"$dir/gate"
mv -f "$dir/open" "$dir/gate"
exec 9>&-
wait "$waiter"
is "the stopped one is told" "$?" 1
is "all others have run" "$(sort -u "$dir/begun" | wc -l) $(wc -l <"$dir/begun")" "1 $((N - 1))"
is "and none has failed" "$(supctl --json list-units 'held*' | grep -o '"result":"success"' | wc -l)" "$((N - 1))"
# Some files of what was printed stay open.
ok "all descriptors are back" settled $((before + 10))
exits 0 "a start that comes after" supctl start quick
supd_stop

# Shutting down with a line of those that wait.
rm "$dir/gate" && mkfifo "$dir/gate"
supd_start
supctl start --no-block "${names[@]}" >/dev/null 2>&1
ok "once more they wait" log_has 'starts wait until others have ended'
supd_stop

# No more processes than there are, for a moment and for longer.
pids=/sys/fs/cgroup/pids/supd-test-$$
if mkdir "$pids" 2>/dev/null; then
	supd_start
	supctl start quick >/dev/null 2>&1
	echo "$supd_pid" >"$pids/cgroup.procs"
	echo 1 >"$pids/pids.max"
	supctl start quick >"$dir/out" 2>&1 &
	waiter=$!
	ok "a process that cannot be had is waited for" log_has 'starts wait, and are tried again: Resource temporarily'
	echo max >"$pids/pids.max"
	wait "$waiter"
	is "until it can" "$?" 0
	echo 1 >"$pids/pids.max"
	exits 1 "but not for ever" supctl start quick
	says "failed fork: Resource temporarily unavailable" "then it has failed"
	echo max >"$pids/pids.max"
	exits 0 "and supd goes on" supctl start quick
	supd_stop
	rmdir "$pids"
else
	skip "no pids controller of cgroup v1 to be had"
fi

done_testing
