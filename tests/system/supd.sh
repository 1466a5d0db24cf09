# SPDX-License-Identifier: MIT
# Sourced by the tests in this folder, after tap.sh: a supd of their own in a scratch folder. Nothing here sleeps:
# what is waited for is a line of its log, or supctl's answer.

PATH=$TOP_BUILDDIR:$PATH
SUPD=$TOP_BUILDDIR/supd
SUPCTL=$TOP_BUILDDIR/supctl
PATIENCE=20 # seconds, for what never comes
umask 022
ulimit -c 0

# Without a supd, or without a folder of its own, a test would write below /.
if [ ! -d "$TOP_SRCDIR/tests/system" ] || [ ! -x "$SUPD" ] || [ ! -x "$SUPCTL" ]; then
	echo "Bail out! TOP_SRCDIR and TOP_BUILDDIR have to name the sources and where supd is built"
	exit 1
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/supd-test-XXXXXX") && [ -d "$dir" ] || exit 1
chmod 755 "$dir"
units=$dir/units
log=$dir/log
supd_pid=
export SUPD_RUNTIME_DIR=$dir/run
mkdir "$units"
trap 'supd_kill; rm -rf "$dir"' EXIT

# unit NAME: writes what is on stdin as that unit.
unit() {
	mkdir -p "$(dirname "$units/$1")"
	cat >"$units/$1"
}

# service NAME LINES…: a service with these lines in [Service].
service() {
	local name=$1
	shift
	{
		echo "[Service]"
		printf '%s\n' "$@"
	} >"$units/$name"
}

supd_args() {
	printf '%s\n' --unit-path="$units" --state-dir="$dir/state" --runtime-dir="$dir/run" --log-format=text
}

# log_has PATTERN: waits for a line that matches.
log_has() {
	timeout "$PATIENCE" grep -m1 -E -- "$1" <(tail -n +1 -f --pid="$supd_pid" "$log" 2>/dev/null) >/dev/null
}

# supd_start [OPTION…]: returns when it is running. Not to be called through ok(): that is a shell of its own.
supd_start() {
	: >"$log"
	# shellcheck disable=SC2046
	"$SUPD" $(supd_args) "$@" >>"$log" 2>&1 </dev/null &
	supd_pid=$!
	if log_has ' notice running$'; then
		pass "supd starts: ${*:-without options}"
	else
		fail "supd starts: ${*:-without options}" "$(cat "$log")"
	fi
}

# supd_end: waits for its end; returns its exit status.
supd_end() {
	wait "$supd_pid"
	supd_status=$?
	supd_pid=
	return "$supd_status"
}

supd_stop() {
	kill -TERM "$supd_pid"
	supd_end
	is "supd ends at SIGTERM with status 0" "$?" 0
}

supd_kill() {
	[ -n "$supd_pid" ] || return 0
	kill -KILL "$supd_pid" 2>/dev/null
	wait "$supd_pid" 2>/dev/null
	supd_pid=
}

# A function of the test, which timeout(1) cannot run, has to come to its end by itself.
run_for_a_while() {
	if [ "$(type -t "$1")" = function ]; then
		"$@"
	else
		timeout "$PATIENCE" "$@"
	fi
}

# exits STATUS NAME COMMAND…: passes if the command ends with that status. What it says is in $output.
exits() {
	wanted=$1
	name=$2
	shift 2
	output=$(run_for_a_while "$@" 2>&1)
	got=$?
	if [ "$got" = "$wanted" ]; then
		pass "$name"
	else
		fail "$name" "exit status $got, wanted $wanted, of: $*
$output
--- log
$(tail -n 20 "$log" 2>/dev/null)"
	fi
}

# says PATTERN NAME: does $output match?
says() {
	if grep -qE -- "$1" <<<"$output"; then
		pass "$2"
	else
		fail "$2" "no match for: $1
$output"
	fi
}

# gone PID…: passes when none of these processes is left (zombies of others do not count).
all_gone() {
	for pid in "$@"; do
		[ -d "/proc/$pid" ] || continue
		timeout "$PATIENCE" tail -f --pid="$pid" /dev/null || return 1
	done
}

field() { # UNIT KEY
	"$SUPCTL" show "$1" --property="$2" --value
}
