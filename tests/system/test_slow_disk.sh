#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Timers on a disk that hangs: nothing is executed before it is on record, and everybody else goes on.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

[ "${ENABLE_TIMER:-yes}" = yes ] || skip_all "built without timers"

# A sanitizer would rather be the first library.
cat >"$dir/supd-slow" <<EOF
#!/bin/sh
export LD_PRELOAD="$TOP_BUILDDIR/tests/system/.libs/slow-disk.so" SLOW_DISK="$dir"
export ASAN_OPTIONS="\$ASAN_OPTIONS:verify_asan_link_order=0"
exec "$SUPD" "\$@"
EOF
chmod 755 "$dir/supd-slow"
SUPD=$dir/supd-slow
mkfifo "$dir/gate"

disk_hangs() {
	touch "$dir/hang"
}

# Whoever waits for it goes on, and nobody waits any more.
disk_goes() {
	rm "$dir/hang"
	timeout "$PATIENCE" sh -c ': >"$1"' sh "$dir/gate"
}

# job NAME: a service, with its timer, that leaves a file when it is executed.
job() {
	service "$1.service" "ExecStart=/bin/sh -c 'echo executed >$dir/$1.done'"
	printf '%s\n' '[Timer]' OnCalendar=2199-01-01 >"$units/$1.timer"
}

is_executed() {
	[ -e "$dir/$1.done" ]
}

# Processes of supd that are no zombies: its guard, and what it starts.
children() {
	cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\([0-9]*\) (.*) [^Z] $supd_pid .*/\1/p"
}

# has_children N: waits until there are so many.
has_children() {
	for ((end = SECONDS + PATIENCE; SECONDS < end;)); do
		[ "$(children | wc -l)" != "$1" ] || return 0
	done
	return 1
}

many=$(seq -f job-%g 12)
for name in $many first stopped last killed; do
	job "$name"
done
service other.service "ExecStart=/bin/true"
echo "ExecStopPost=/bin/sh -c 'echo executed >$dir/post.done'" >>"$units/stopped.service"
job impatient
echo "TimeoutStartSec=100ms" >>"$units/impatient.service"
supd_start --experimental=timers

exits 0 "a job runs while the disk does" supctl trigger first
rm -f "$dir/first.done"
n=$(children | wc -l)

disk_hangs
exits 0 "trigger is answered although the disk hangs" supctl trigger --no-block first
ok "which it does" log_has '^disk hangs$'
ok "all but the write is done for it" has_children $((n + 1))
exits 0 "another service runs" supctl start other
ok "the one that has to be on record first does not" test ! -e "$dir/first.done"
exits 0 "one more is triggered" supctl trigger --no-block stopped
exits 0 "and stopped" supctl stop stopped
exits 0 "one more that has not so much time" supctl trigger --no-block impatient
ok "is given up in time" log_has ' impatient\.service\[.*: timeout'
exits 0 "and others" supctl trigger --no-block $many
exits 0 "another service runs still" supctl start other
for name in first stopped $many; do
	! is_executed "$name" || fail "$name was executed before it was on record"
done
disk_goes
ok "the first is executed when it is on record" log_has ' first\.service\[.*: success'
for name in $many; do
	ok "$name too" log_has " $name\\.service\\[.*: success"
done
ok "the stopped one is not" test ! -e "$dir/stopped.done"
ok "and has nothing to clean up behind it" test ! -e "$dir/post.done"
ok "nor is the impatient one" test ! -e "$dir/impatient.done"

: >"$log"
disk_hangs
exits 0 "one is triggered before the end" supctl trigger --no-block last
ok "and the disk hangs" log_has '^disk hangs$'
ok "it has its process" has_children $((n + 1))
kill -TERM "$supd_pid"
ok "which does not outlive SIGTERM, nor wait for the disk" has_children "$n"
disk_goes
supd_end
is "supd ends when the disk goes on" "$?" 0
ok "and nothing was executed" test ! -e "$dir/last.done"

supd_start --experimental=timers
ok "one is made up for that was interrupted" log_has ' last\.service\[.*: success'
exits 0 "all is on record" supctl trigger first
: >"$log"
disk_hangs
exits 0 "one is triggered, and supd killed" supctl trigger --no-block killed
ok "while the disk hangs" log_has '^disk hangs$'
ok "it has its process" has_children $((n + 1))
held=$(children)
supd_kill
# shellcheck disable=SC2086
ok "which goes with it" all_gone $held
rm "$dir/hang"
ok "and executed nothing" test ! -e "$dir/killed.done"
supd_start --experimental=timers
exits 0 "what was on its way is on record, or free to be triggered" supctl reset killed
exits 0 "again" supctl trigger killed
supd_stop
done_testing
