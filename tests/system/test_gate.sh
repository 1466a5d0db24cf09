#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The gate: while timers are off, there is no timer code in the process, no .timer file is opened, no state file read
# or written; and at run time they are turned on and off.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

[ "${ENABLE_TIMER:-yes}" = yes ] || skip_all "built without timers"

service job.service 'ExecStart=/bin/true'
unit job.timer <<'END'
[Timer]
OnCalendar=*-*-* *:*:*
END
unit bad.timer <<'END'
[Timer]
OnCalendar=nonsense
END
mkdir -p "$dir/state"
chmod 700 "$dir/state"

maps_timer() {
	grep -q 'timer\.so' "/proc/$supd_pid/maps"
}

# ---- off ----

if command -v strace >/dev/null && strace -f -o "$dir/trace" /bin/true 2>/dev/null; then
	real_supd=$SUPD
	cat >"$dir/traced" <<END
#!/bin/sh
export ASAN_OPTIONS=detect_leaks=0
exec strace -f -y -o "$dir/trace" -e trace=%file,read,pread64,write,openat2 "$real_supd" "\$@"
END
	chmod +x "$dir/traced"
	: >"$dir/state/timer.state"
	chmod 600 "$dir/state/timer.state"
	SUPD=$dir/traced
	supd_start
	SUPD=$real_supd
	exits 0 "timers are listed as off" supctl timers
	says 'timers are disabled' "in words"
	exits 0 "units are listed" supctl list
	exits 0 "a reload goes well" supctl reload
	exits 0 "a service runs" supctl start job
	kill -TERM "$(cat "$dir/run/supd/lock")"
	supd_end
	is "the traced supd ends well" "$?" 0
	ok "the trace shows what is opened" grep -q 'job\.service' "$dir/trace"
	empty "no .timer file was looked at" "$(grep -E '\.timer"' "$dir/trace")"
	empty "nor the plugin" "$(grep -E 'timer\.so' "$dir/trace")"
	empty "nor the state file" "$(grep -E 'timers?\.state' "$dir/trace")"
	rm -f "$dir/state/timer.state"
else
	skip "no .timer file, plugin or state file is opened while timers are off" "strace does not work here"
fi

supd_start
ok "timer.so is not mapped" bash -c "! grep -q timer\\.so /proc/$supd_pid/maps"
exits 0 "there is an answer in JSON" supctl timers --json
says '^\{"subsystem":\{.*"state":"disabled".*\},"timers":\[\],"invalid":\[\]\}$' "with empty lists"
exits 0 "list shows no timer" supctl list
is "none at all" "$(grep -c '\.timer' <<<"$output")" 0
exits 3 "status of a timer says that timers are off" supctl status job.timer
says 'supctl experimental enable timers' "and how to turn them on"
exits 3 "trigger is refused" supctl trigger job.timer
exits 3 "enable is refused" supctl enable job.timer
exits 3 "cat is refused" supctl cat job.timer

# ---- on at run time ----

exits 0 "they are turned on" supctl experimental enable timers
ok "timer.so is mapped now" maps_timer
exits 0 "the timer is listed" supctl timers
says 'job\.timer +job\.service' "with its service"
says "bad\.timer:2: .*nonsense|bad\.timer:2: OnCalendar=" "the invalid one with its mistake"
exits 4 "which status tells, too" supctl status bad.timer
exits 0 "it is active" supctl status job.timer
ok "it starts its service" log_has 'job\.service\[[0-9a-f]+\]: started by job\.timer \(calendar\)'
exits 0 "trigger runs it at once" supctl trigger job.timer
says 'job\.service: success' "and tells how it went"

# ---- paused ----

exits 0 "pause" supctl pause
exits 0 "timers are paused" supctl timers
says 'timers are paused' "it says"
exits 0 "services can be run all the same" supctl start job
exits 0 "resume" supctl resume
exits 0 "timers are back" supctl timers
says 'job\.timer +job\.service' "in the list"

# ---- off again, and kept ----

exits 0 "they are turned off" supctl experimental disable timers
exits 0 "they are off" supctl timers
says 'timers are disabled' "it says"
supd_stop
supd_start
exits 0 "that is kept over a restart" supctl timers
says 'turned off by an admin' "with the reason"
exits 0 "on for this run alone" supctl experimental enable --runtime timers
exits 0 "they are on" supctl status job.timer
supd_stop
supd_start
exits 3 "and off again after it" supctl status job.timer
supd_stop
supd_start --experimental=timers
exits 0 "the command line outweighs what was kept" supctl status job.timer
ok "timer.so is mapped from the start" maps_timer
supd_stop
echo maybe >"$dir/state/experimental-timers"
supd_start
ok "a word that was kept and is spoilt is told" grep -q " warning experimental-timers in the state directory is neither 'yes' nor 'no'" "$log"
exits 0 "and counts as no" supctl timers
says 'timers are disabled: experimental, and whether an admin turned them on cannot be read' "with that reason"
exits 3 "is-enabled of a timer cannot be told" supctl is-enabled job.timer
says '^supctl: timers are disabled' "and says why"
exits 0 "what an admin says anew is kept" supctl experimental enable timers
supd_stop
supd_start
exits 0 "from then on" supctl is-enabled job.timer
supd_stop
done_testing
