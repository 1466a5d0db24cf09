#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# supctl run: a command as a service, with its exit status; a command on a schedule; and nothing left of either.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

transient=$dir/run/supd/transient
service taken.service 'ExecStart=/bin/true'
# One that is broken on the disk later is nothing to transient ones.
service changing.service 'ExecStart=/bin/true'

left() { ls -A "$transient"; }
# gone UNIT: is it no unit any more? supd removes it before it answers anybody again.
gone() {
	supctl show "$1" >/dev/null 2>&1
	[ $? = 4 ]
}

supd_start

exits 0 "a command is run" supctl run --unit=first -E A="it's \"50%\" \$HOME" -- /bin/sh -c 'printf "%s\n" "$A" "$0" >'"$dir/out" 'a b;\'
says '^first.service: success' "and its result told"
is "it gets what was typed" "$(cat "$dir/out")" "it's \"50%\" \$HOME
a b;\\"
ok "it is gone when it is over" gone first.service
exits 3 "what it prints" supctl run --unit=talks -- /bin/sh -c 'echo to out; echo to err >&2; exit 3'
says '^to out$' "is shown"
says '^to err$' "all of it"
supctl run --unit=apart -- /bin/sh -c 'printf "o\0\033[1m\n"; echo e >&2; printf no-newline' >"$dir/out" 2>"$dir/err"
is "byte for byte, each stream where it belongs" "$(od -An -tx1 "$dir/out" | tr -d ' \n')" "6f001b5b316d0a6e6f2d6e65776c696e65"
is "with the result apart from it" "$(sed 's/took .*/took/' "$dir/err")" "e
apart.service: success, took"
is "or without" "$(supctl run -q -- /bin/sh -c 'echo out; echo err >&2' 2>&1 | sort)" "err
out"
# The command goes on only when its first line has been read here.
mkfifo "$dir/go"
supctl run -- /bin/sh -c 'echo first; read -r go <"'"$dir/go"'"; echo "$go"' 2>/dev/null | {
	read -r line
	timeout "$PATIENCE" sh -c 'echo "$1" >"$2"' sh "$line" "$dir/go"
	cat >"$dir/rest"
}
is "it is shown as it comes" "$(cat "$dir/rest")" first
exits 0 "one that is restarted" supctl run -p Restart=on-failure -p RestartSec=10ms -- /bin/sh -c 'echo try; ! mkdir '"$dir/tried"' 2>/dev/null'
is "is shown whole" "$(grep -c '^try$' <<<"$output")" 2

# interrupted UNIT COMMAND…: a SIGINT as of a terminal, to supctl alone, once the command has said that it is ready.
interrupted() {
	name=$1
	shift
	mkfifo "$dir/ready"
	set -m # else what is in the background ignores it
	"$SUPCTL" run --unit="$name" -- "$@" >"$dir/out" 2>"$dir/err" &
	set +m
	timeout "$PATIENCE" head -n 1 "$dir/ready" >/dev/null
	kill -INT $!
	wait $!
}
interrupted interrupted /bin/sh -c 'trap "echo stopped; exit 0" TERM; echo >"'"$dir/ready"'"; while :; do sleep 0.1; done'
is "an interrupt ends it by its signal" $? 130
is "when it has been stopped" "$(cat "$dir/out")" stopped
is "as it says" "$(grep -c '^stopping interrupted.service' "$dir/err")" 1
ok "and is gone then" gone interrupted.service
supctl run --unit=unread -- yes 2>/dev/null | head -1 >"$dir/out"
is "nobody reads it any more" "${PIPESTATUS[0]} $(cat "$dir/out")" "141 y"
ok "that stops it as well" gone unread.service
exits 0 "and kept" supctl logs talks
says 'talks\.service\[[0-9a-f]+\] err: to err$' "when the service is gone"
empty "no file is left of it" "$(left)"
exits 7 "the exit status is the command's" supctl run -- /bin/sh -c 'exit 7'
says 'failed exit 7' "with the result in words"
exits 137 "one that dies of a signal" supctl run -- /bin/sh -c 'kill -KILL $$'
exits 0 "options end with the command" supctl run /bin/sh -c 'test "$1" = --json' sh --json
exits 0 "properties are those of unit files" supctl run -p 'ExecStartPre=/bin/sh -c "echo pre >'"$dir/pre"'"' -p SuccessExitStatus=3 -- /bin/sh -c 'exit 3'
is "each of them" "$(cat "$dir/pre")" pre
exits 1 "a limit" supctl run -p TimeoutStartSec=100ms -- /bin/sleep 1000
says 'timeout' "holds"
exits 0 "the directory" supctl run --working-directory="$dir/units" -- /bin/sh -c 'pwd >'"$dir/out"
is "is the one that was said" "$(cat "$dir/out")" "$dir/units"
if [ "$(id -u)" = 0 ]; then
	exits 0 "the user" supctl run --uid=nobody -- /bin/sh -c 'test $(id -un) = nobody'
	ok "others may run nothing" bash -c '! setpriv --reuid=65534 --regid=65534 --clear-groups "$0" run -- /bin/true' "$SUPCTL"
fi
exits 0 "as JSON" supctl run --json --unit=json -- /bin/true
says '"unit":"json.service".*"result":"success".*"exit_status":0' "it is the run"

exits 4 "a property with a mistake" supctl run --unit=wrong -p Nice=99 -- /bin/true
says "wrong\.service:[0-9]+: Nice= wants a number" "is told with its line"
empty "and nothing is left" "$(left)"
exits 2 "a property that is none" supctl run -p Nise=1 -- /bin/true
says 'did you mean Nice=' "is told here"
exits 2 "a value of two lines" supctl run -p $'Nice=1\nUser=root' -- /bin/true
exits 4 "a service that is no job" supctl run -p Type=simple -- /bin/true
exits 1 "a name that is taken" supctl run --unit=taken -- /bin/true
says 'there is a unit of this name already' "is refused"
exits 2 "a name that is none" supctl run --unit=a/b -- /bin/true
exits 1 "a program that is none" supctl run no-such-program-here
exits 2 "no command" supctl run
if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	exits 3 "a schedule without timers" supctl run --on-active=1h -- /bin/true
	says 'timers are disabled' "is refused"
fi

exits 0 "without waiting" supctl run --no-block --unit=long -- /bin/sleep 1000
is "it runs" "$(field long active_state)" activating
printf '[Service]\nExecStrat=/bin/true\n' >"$units/changing.service"
exits 0 "others run meanwhile, whatever else has changed on the disk" supctl run -- /bin/true
is "which stays for a reload" "$(field changing load_state)" loaded
exits 0 "it can be stopped" supctl stop long
ok "and is gone then" gone long.service
service changing.service 'ExecStart=/bin/true'
empty "the files are gone" "$(left)"
supd_stop

if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	supd_start --experimental=timers
	exits 0 "after a while" supctl run --unit=once --on-active=100ms -- /bin/sh -c 'echo once >>'"$dir/once"
	says '^once.timer: waits' "is a timer"
	ok "it runs" log_has ' once\.service.*: success'
	ok "and is gone, since it will not run again" gone once.timer
	is "it ran once" "$(cat "$dir/once")" once
	ok "with its service" gone once.service
	exits 0 "by the calendar" supctl run --unit=yearly --on-calendar=yearly --timer-property=RandomizedDelaySec=1h -- /bin/true
	exits 0 "it is a timer like others" supctl trigger yearly.timer
	is "which stays" "$(supctl timers --json | grep -o '"unit":"yearly.timer"')" '"unit":"yearly.timer"'
	exits 4 "a schedule with a mistake" supctl run --unit=never --on-calendar=25:00 -- /bin/true
	says 'never\.timer:[0-9]+: OnCalendar=' "is told with its line"
	is "and leaves nothing" "$(left)" "yearly.service
yearly.timer"
	supd_stop
	supd_start --experimental=timers
	is "it goes on with the next supd" "$(supctl timers --json | grep -o '"unit":"yearly.timer"')" '"unit":"yearly.timer"'
	exits 0 "until it is stopped" supctl stop yearly.timer
	empty "then nothing is left" "$(left)"
	exits 4 "of the timer" supctl status yearly.timer
	exits 4 "or the service" supctl status yearly.service
	exits 0 "a service that ran when supd was killed" supctl run --no-block --unit=killed -- /bin/sleep 1000
	supd_kill
	supd_start
	empty "is gone with it" "$(left)"
	supd_stop
fi

# What it prints is what it would be: as files they mean the same.
exits 0 "what it would be can be printed without a daemon" supctl run --print --unit=printed -p Nice=5 -- /bin/echo 'a "b" $c %d'
sed 1d <<<"$output" >"$units/printed.service"
exits 0 "and is a good unit file" supctl verify --unit-path="$units"
done_testing
