#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each option on how a process is run, set for real; the probe looks from inside whether it is so.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh" || exit 1
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

export ASAN_OPTIONS=detect_leaks=0
[ -x "$TOP_BUILDDIR/tests/supervisor/run/probe" ] || skip_all "the probe is not built"
mkdir "$dir/bin" && chmod 755 "$dir/bin"
cp "$TOP_BUILDDIR/tests/supervisor/run/probe" "$dir/bin/"
probe=$dir/bin/probe

supd_start

# look LINES…: runs the probe as a service with these lines.
look() {
	service looked.service "ExecStart=$probe" "StandardOutput=truncate:$dir/report" "$@"
	supctl reload >"$dir/said" 2>&1 && supctl start looked >>"$dir/said" 2>&1
}

# sees NAME LINE: did the probe report that line, exactly?
sees() {
	if grep -qxF -- "$2" "$dir/report"; then
		pass "$1"
	else
		fail "$1" "no line '$2':
$(grep -F -- "${2%% *}" "$dir/report")"
	fi
}

# taken LINE… -- REPORTED…: with these lines, is this what the probe reports?
taken() {
	local name=$1 lines=()
	while [ "$1" != -- ]; do
		lines+=("$1")
		shift
	done
	shift
	if ! look "${lines[@]}"; then
		fail "$name" "$(cat "$dir/said")"
		return
	fi
	for reported; do
		sees "$(grep -oE "(^| )[A-Za-z]*" <<<"${lines[*]}" | tr -d '\n'): $reported" "$reported"
	done
}

# fails_at STEP LINE…: a run that does not begin
fails_at() {
	local step=$1
	shift
	look "$@"
	output=$(cat "$dir/said")
	says "failed $step: " "$* fails at the step $step"
}

taken LimitNOFILE=77:99 LimitCORE=0 LimitFSIZE=1M:2M LimitCPU=1min:1h LimitSTACK=1M:4M LimitDATA=512M \
	LimitAS=2G LimitRTTIME=1s LimitLOCKS=5 LimitMSGQUEUE=4K LimitSIGPENDING=10 LimitRTPRIO=0 LimitNICE=+19:+19 -- \
	'limit-nofile 77 99' 'limit-core 0 0' 'limit-fsize 1048576 2097152' 'limit-cpu 60 3600' \
	'limit-stack 1048576 4194304' 'limit-data 536870912 536870912' 'limit-as 2147483648 2147483648' \
	'limit-rttime 1000000 1000000' 'limit-locks 5 5' 'limit-msgqueue 4096 4096' 'limit-sigpending 10 10' \
	'limit-rtprio 0 0'
taken LimitMEMLOCK=16K LimitRSS=1G LimitNPROC=500 -- 'limit-memlock 16384 16384' 'limit-rss 1073741824 1073741824' \
	'limit-nproc 500 500'
taken Nice=7 -- 'nice 7'
taken CPUSchedulingPolicy=batch CPUSchedulingResetOnFork=yes -- 'scheduler batch 0 reset'
taken CPUSchedulingPolicy=idle -- 'scheduler idle 0'
cpu=$(sed -n 's/^cpus //p' <("$probe") | cut -d' ' -f1)
taken CPUAffinity="$cpu" -- "cpus $cpu"
if [ -d /sys/devices/system/node/node0 ] && [ ! -d /sys/devices/system/node/node1 ]; then
	taken CPUAffinity="$cpu" CPUAffinity=numa NUMAMask=0 -- "$("$probe" | grep '^cpus ')"
	fails_at cpu-affinity CPUAffinity=numa NUMAMask=7
fi
taken IOSchedulingClass=best-effort IOSchedulingPriority=7 -- 'io best-effort 7'
taken IOSchedulingClass=idle -- 'io idle 0'
taken TimerSlackNSec=1ms -- 'timer-slack 1000000'
taken OOMScoreAdjust=500 -- 'oom-score-adjust 500'
taken IgnoreSIGPIPE=no -- 'SigIgn 0000000000000000'
taken IgnoreSIGPIPE=yes -- 'SigIgn 0000000000001000'
taken UMask=0077 WorkingDirectory="$dir/bin" -- 'umask 0077' "cwd $dir/bin"
[ "$(uname -m)" != x86_64 ] || taken Personality=x86 -- 'personality 8'
! "$probe" | grep -q '^numa ' || taken NUMAPolicy=bind NUMAMask=all -- 'numa 2'
fails_at cpu-affinity CPUAffinity=8191

service dumped.service "ExecStart=$probe stubborn" 'CoredumpFilter=private-anonymous private-huge'
supctl reload >/dev/null
exits 0 "a service with CoredumpFilter= runs" supctl start --no-block dumped
ok "it is ready" log_has ' dumped\.service\[.*: ready$'
is "its filter is set" "$(cat "/proc/$(field dumped main_pid)/coredump_filter")" 00000021
kill -KILL "$(field dumped main_pid)"

# Whether cgroup v2 has the controllers is this machine's matter; what is not applied is told, once.
service limited.service MemoryMax=64M TasksMax=20 "ExecStart=$dir/limits"
cat >"$dir/limits" <<END
#!/bin/sh
mount=\$(awk '\$3 == "cgroup2" { print \$2; exit }' /proc/self/mounts)
own=\$mount\$(sed -n 's/^0:://p' /proc/self/cgroup)
cat "\$own/memory.max" "\$own/pids.max" >"$dir/limited" 2>/dev/null
exit 0
END
chmod +x "$dir/limits"
supctl reload >/dev/null
exits 0 "a service with limits on its cgroup runs" supctl start limited
exits 0 "and once more" supctl start limited
for key in MemoryMax:67108864 TasksMax:20; do
	told=$(grep -cE " warning limited\.service.*: ${key%:*}= is not applied: " "$log")
	found=$(grep -cx "${key#*:}" "$dir/limited")
	is "${key%:*}= is applied, or told of once" "$((told + found))" 1
	is "and with each run" "$(supctl status limited | grep -c "Warning: ${key%:*}= is not applied: ")" "$told"
done

if [ "$(id -u)" = 0 ]; then
	taken CPUSchedulingPolicy=rr CPUSchedulingPriority=7 -- 'scheduler rr 7'
	taken CPUSchedulingPolicy=fifo -- 'scheduler fifo 1'
	taken IOSchedulingClass=realtime -- 'io realtime 4'
	taken Nice=-5 -- 'nice -5'
	# In a container root may not.
	if (echo -500 >/proc/self/oom_score_adj) 2>/dev/null; then
		taken OOMScoreAdjust=-500 -- 'oom-score-adjust -500'
	else
		taken OOMScoreAdjust=-500 -- "oom-score-adjust $(cat /proc/self/oom_score_adj)"
	fi
	taken User=nobody Group=daemon -- "uid $(id -u nobody) $(id -u nobody) $(id -u nobody)"

	# Names that nobody else has.
	own=supd-test-$$
	mine="$(id -u nobody) $(id -g nobody)"
	owner() { stat -c '%u %g' "$1"; }
	cat >"$dir/tell" <<'END'
#!/bin/sh
printf '%s\n' "$RUNTIME_DIRECTORY" "$STATE_DIRECTORY" "$CACHE_DIRECTORY" "$LOGS_DIRECTORY"
touch "$STATE_DIRECTORY/here"
stat -c %a "$RUNTIME_DIRECTORY"
END
	chmod +x "$dir/tell"
	service made.service User=nobody "RuntimeDirectory=$own/run" RuntimeDirectoryMode=0700 "StateDirectory=$own" \
		"CacheDirectory=$own" "LogsDirectory=$own" "LogsDirectoryMode=0750" "StandardOutput=truncate:$dir/made" \
		"ExecStart=$dir/tell" \
		RemainAfterExit=yes
	supctl reload >/dev/null
	exits 0 "a service with directories of its own runs" supctl start made
	mapfile -t made <"$dir/made"
	state=${made[1]-} cache=${made[2]-} logs=${made[3]-}
	is "it is told its directories" "${state##*/} ${cache##*/} ${logs##*/}" "$own $own $own"
	is "its state directory is the user's" "$(owner "$state")" "$mine"
	ok "and it can write there" test -e "$state/here"
	is "its cache directory is the user's" "$(owner "$cache")" "$mine"
	is "its logs have the mode asked for" "$(stat -c %a "$logs")" 750
	is "so has its runtime directory" "${made[4]-}" 700
	ok "which is there while the service remains active" test -d "${made[0]}"
	exits 0 "it is stopped" supctl stop made
	ok "then it is gone" test ! -e "${made[0]}"
	ok "and the others are not" test -d "$state"
	case $state$cache$logs in *"$own"*"$own"*"$own") rm -rf "$state" "$cache" "$logs" ;; esac
	case ${made[0]} in */"$own"/run) rmdir "${made[0]%/run}" ;; esac

	service rights.service User=nobody LimitNOFILE=77 "ExecStartPre=+/bin/sh -c 'id -u >$dir/plus; ulimit -n >>$dir/plus'" \
		"ExecStartPre=!/bin/sh -c 'id -u >$dir/bang; ulimit -n >>$dir/bang'" "ExecStart=/bin/sh -c 'test \$\$(id -u) != 0'"
	supctl reload >/dev/null
	exits 0 "commands with rights of their own run" supctl start rights
	is "+ keeps all of them" "$(head -n 1 "$dir/plus")/$([ "$(tail -n 1 "$dir/plus")" = 77 ] || echo unlimited)" 0/unlimited
	is "! keeps the user, not what is denied" "$(tr '\n' ' ' <"$dir/bang")" "0 77 "
else
	fails_at scheduler CPUSchedulingPolicy=rr
fi

supd_stop
done_testing
