#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a process finds when it begins, as it reports it itself, compared with a golden report: at the first start, as a
# retry, after a reload, under a supd that is PID 1; as root, as a user of root's supd, as a person's own.
# Every line of the report has to stand in probe.golden, where @words@ stand for what differs from case to case:
# "inherited" is what this shell gives to its own children.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh" || exit 1
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

export ASAN_OPTIONS=detect_leaks=0
unset LANG XDG_RUNTIME_DIR
builtin_probe=$TOP_BUILDDIR/tests/supervisor/run/probe
[ -x "$builtin_probe" ] || skip_all "the probe is not built"
# Where anybody may execute it.
mkdir "$dir/bin" && chmod 755 "$dir/bin"
cp "$builtin_probe" "$TOP_BUILDDIR/supd" "$TOP_BUILDDIR/supctl" "$dir/bin/"
probe=$dir/bin/probe
system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# report N: what the N-th run of the probe in the log said; waits for its last line.
report() {
	local id
	log_has_times "$1" ' env SUPD_CAUSE='
	id=$(grep -oE ' (probe|retried|other|mine)\.service\[[0-9a-f]+\]: cwd ' "$log" | sed -n "$1p" |
		grep -oE '\[[0-9a-f]+\]')
	grep -F "$id: " "$log" | sed -E 's/^.*\.service\[[0-9a-f]+\]: //' |
		grep -vE '^(started|success|failed) ' | LC_ALL=C sort
}

# log_has_times N PATTERN: waits until that many lines match.
log_has_times() {
	timeout "$PATIENCE" grep -m"$1" -E -- "$2" <(tail -n +1 -f --pid="$supd_pid" "$log" 2>/dev/null) >/dev/null
}

# golden [NAME=VALUE…]: the report that is expected, with these words for @NAME@; "+LINE" adds one.
golden() {
	local script='' word key value lines=()
	for word; do
		[ "${word#+}" = "$word" ] || { lines+=("${word#+}"); continue; }
		# The last one of a name counts.
		script="s|@${word%%=*}@|${word#*=}|g;$script"
	done
	while IFS= read -r line; do
		key=${line%% *}
		value=$(sed -n "s/^$key \?//p" "$dir/inherited" | head -n 1)
		# A kernel without NUMA tells nothing of it.
		[ "$line" = "$key @inherited@" ] && ! grep -q "^$key" "$dir/inherited" && continue
		printf '%s\n' "${line//@inherited@/$value}"
	done <"$TOP_SRCDIR/tests/system/probe.golden" | sed "$script" | cat - <(printf '%s\n' "${lines[@]}") |
		sed '/^$/d' | LC_ALL=C sort
}

# masked: a report with what is of one run alone taken out of it
masked() {
	sed -E 's/^(env (INVOCATION_ID)=)[0-9a-f]{32}$/\1@run@/
		s/^(env (SUPD_SCHEDULED_USEC|TRIGGER_TIMER_[A-Z]*_USEC)=)[0-9]+$/\1N/
		s/^(env MANAGERPID=)[0-9]+$/\1N/
		s/^(cgroup run-)[0-9]+(-.*)/\1N\2/'
}

# compare NAME N WORDS…: the N-th run in the log against the golden report
compare() {
	local name=$1 n=$2 got wanted
	shift 2
	got=$(report "$n" | masked | grep -vE "$left_out")
	wanted=$(golden "$@" | grep -vE "$left_out")
	if [ "$got" = "$wanted" ]; then
		pass "$name"
	else
		fail "$name" "$(diff <(printf '%s\n' "$wanted") <(printf '%s\n' "$got"))"
	fi
}

# Of the one who runs the test, if that is a person, the user database knows more than this.
left_out='^$'

# What a process inherits; limits that the daemon raises for itself are not passed on.
"$probe" </dev/null >"$dir/inherited"
in_cgroup() { # UNIT: what stands in /proc/self/cgroup of its processes
	if grep -q 'no cgroups of our own' "$log"; then sed -n 's/^cgroup //p' "$dir/inherited"; else echo "run-N-$1"; fi
}
groups=$(sed -n 's/^groups//p' "$dir/inherited")
me=(socket="$dir/run/supd/notify" uid="$(id -u)" gid="$(id -g)" groups="$groups" probe="$probe" run=@run@)
if [ "$(id -u)" = 0 ]; then system=(cwd=/ path="$system_path"); else system=(cwd="$HOME" path="$PATH"); fi

service probe.service "ExecStart=$probe report 0"
service retried.service "ExecStart=$probe report 7"
printf '[Timer]\nOnCalendar=2000-01-01\nRetrySec=1ms\n' >"$units/retried.timer"

if [ "$(id -u)" = 0 ]; then
	supd_start --log-level=debug
	exits 0 "the probe runs" supctl start probe
	first=("${me[@]}" "${system[@]}" status=0 cgroup="$(in_cgroup probe.service)" attempt=1 cause=manual)
	compare "the first start is as the golden report" 1 "${first[@]}"
	service new.service "ExecStart=/bin/true"
	printf '# changed\n' >>"$units/probe.service"
	exits 0 "units are read again" supctl reload
	exits 0 "it runs again" supctl start probe
	compare "so is the start after a reload" 2 "${first[@]}"

	service other.service "ExecStart=$probe report 0" "User=nobody"
	exits 0 "units are read again" supctl reload
	exits 0 "it runs as another user" supctl start other
	nobody=$(id -u nobody)
	group=$(id -g nobody)
	home_of_nobody=$(getent passwd nobody | cut -d: -f6)
	compare "and as a user who is nobody" 3 "${me[@]}" uid="$nobody" gid="$group" groups=" $(id -G nobody)" \
		"${system[@]}" status=0 cgroup="$(in_cgroup other.service)" attempt=1 cause=manual \
		"+env LOGNAME=nobody" "+env USER=nobody" "+$([ "$home_of_nobody" = / ] || echo "env HOME=$home_of_nobody")"
	supd_stop
else
	skip "as root: the first start, after a reload, as another user" "this test does not run as root"
fi

if [ "$(id -u)" = 0 ] && [ "${ENABLE_TIMER:-yes}" = yes ]; then
	supd_start --log-level=debug --experimental=timers
	exits 1 "a timer's run fails" supctl trigger retried.timer
	retried=("${me[@]}" "${system[@]}" status=7 cgroup="$(in_cgroup retried.service)" "+env TRIGGER_UNIT=retried.timer"
		"+env TRIGGER_TIMER_REALTIME_USEC=N" "+env TRIGGER_TIMER_MONOTONIC_USEC=N" "+env SUPD_SCHEDULED_USEC=N")
	compare "the first attempt is as the golden report" 1 "${retried[@]}" attempt=1 cause=manual
	compare "and so is the retry" 2 "${retried[@]}" attempt=2 cause=retry
	supd_stop
else
	skip "a retry is as the golden report" "not root, or built without timers"
fi

if [ "$(id -u)" = 0 ] && unshare -pf --mount-proc true 2>/dev/null; then
	printf '#!/bin/sh\nexec unshare -pf --mount-proc --kill-child "%s" "$@"\n' "$dir/bin/supd" >"$dir/contained"
	chmod +x "$dir/contained"
	SUPD=$dir/contained
	supd_start --log-level=debug
	outer=$(cat "/proc/$supd_pid/task/$supd_pid/children")
	outer=${outer%% *}
	exits 0 "the probe runs under a supd that is PID 1" supctl start probe
	compare "as the golden report" 1 "${me[@]}" "${system[@]}" status=0 cgroup="$(in_cgroup probe.service)" attempt=1 \
		cause=manual
	kill -TERM "$outer"
	supd_end
	is "it ends" "$?" 0
else
	skip "under a supd that is PID 1" "unshare -pf --mount-proc is not permitted"
fi

# A person's own supd.
person=()
[ "$(id -u)" != 0 ] || person=(setpriv --reuid=65533 --regid=65533 --clear-groups --)
home=$dir/home
mkdir -p "$home/.config/supd/units" "$dir/session"
cp "$units/probe.service" "$home/.config/supd/units/mine.service"
[ "${#person[@]}" = 0 ] || chown -R 65533:65533 "$home" "$dir/session"
cat >"$dir/as-me" <<END
#!/bin/sh
exec ${person[*]} env -i HOME="$home" PATH="$system_path" XDG_RUNTIME_DIR="$dir/session" \\
	ASAN_OPTIONS=detect_leaks=0 "$dir/bin/supd" --log-format=text "\$@"
END
chmod +x "$dir/as-me"
SUPD=$dir/as-me
supd_args() { :; }
env -i "${person[@]}" "$probe" </dev/null >"$dir/inherited"
supd_start --log-level=debug
exits 0 "the probe runs under a person's own supd" "${person[@]}" env XDG_RUNTIME_DIR="$dir/session" SUPD_RUNTIME_DIR= \
	"$dir/bin/supctl" --user start mine
id=$("${person[@]}" id -u)
[ "${#person[@]}" != 0 ] || left_out='^env (HOME|LOGNAME|SHELL|USER)='
compare "as the golden report" 1 socket="$dir/session/supd/notify" uid="$id" gid="$("${person[@]}" id -g)" \
	groups="$(sed -n 's/^groups//p' "$dir/inherited")" probe="$probe" run=@run@ cwd="$home" path="$system_path" status=0 \
	cgroup="$(in_cgroup mine.service)" attempt=1 cause=manual "+env HOME=$home" \
	"+env XDG_RUNTIME_DIR=$dir/session"
supd_stop
done_testing
