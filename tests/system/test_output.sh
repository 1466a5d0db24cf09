#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What services print is kept, whatever it is and whatever becomes of supd, and supctl shows it.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

go=$dir/go
late=$dir/late
mkfifo "$go" "$late"

# script NAME: a program for a service, on stdin.
script() {
	{ echo '#!/bin/sh'; cat; } >"$dir/$1"
	chmod 755 "$dir/$1"
}

script fails <<'EOF'
for i in 1 2 3 4 5 6 7 8 9 10 11; do echo "line $i"; done
echo "what went wrong" >&2
exit 3
EOF
script binary <<'EOF'
printf 'tab\there\n'
printf '\033[31mred\033[0m\007\n'
printf 'nul\000in it\n'
printf 'latin \344\n'
printf 'caf\303\251\n'
printf 'no newline'
EOF
script long <<'EOF'
head -c 40000 /dev/zero | tr '\0' x
echo
EOF
script random <<'EOF'
head -c 300000 /dev/urandom
EOF
script grandchild <<EOF
(echo "from the grandchild"; read x <$late; echo "and its last words") &
echo "from the main process"
EOF
script waits <<EOF
echo "before the kill"
read x <$go
EOF
for name in fails binary long random grandchild waits; do
	service $name.service "ExecStart=$dir/$name"
done
echo KillMode=process >>"$units/grandchild.service"
service named.service 'ExecStart=/bin/echo hello' SyslogIdentifier=me
service quiet.service 'ExecStart=/bin/true'
service yes.service 'ExecStart=/usr/bin/yes' KillSignal=SIGKILL
service levels.service "ExecStart=/bin/printf '<3>bad\\\\n<7>chatter\\\\nplain\\\\n'" LogLevelMax=info
service steps.service 'ExecStartPre=/bin/echo first' 'ExecStart=/bin/echo second' 'ExecStopPost=/bin/echo third'
timers=
if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	timers=--experimental=timers
	printf '[Timer]\nOnCalendar=2038-01-01\nUnit=fails.service\n' >"$units/lone.timer"
fi

logs() {
	supctl logs "$@"
}

# text UNIT [OPTION…]: only what was printed.
text() {
	logs "$@" | sed -E 's/^[A-Z][a-z]{2} [0-9]{2} [0-9:]{8} [^ ]+ (out|err): /\1 /'
}

supd_start $timers

exits 1 "a run fails" supctl start fails
says 'failed exit 3' "and why is told"
says '\] err: what went wrong$' "with its own last words"
says '\] out: line 3$' "ten lines of them"
ok "and no more" bash -c '! grep -q "out: line 1$" <<<"$1"' - "$output"
if [ "$timers" ]; then
	exits 1 "a trigger of such a run fails" supctl trigger lone
	says '\] err: what went wrong$' "with its last words, too"
else
	supctl start fails >/dev/null 2>&1
	skip "a trigger of such a run fails" "built without timers"
fi
exits 1 "unless nothing is to be said" supctl start -q fails
ok "when only the reason is" bash -c '! grep -q "went wrong" <<<"$1"' - "$output"
exits 3 "status of the unit" supctl status fails
says '\] err: what went wrong$' "has the last words, too"

supctl start quiet >/dev/null
is "a service that says nothing has no lines" "$(logs quiet)" "-- no lines --"
is "which goes unsaid on request" "$(logs quiet --no-legend)" ""
exits 4 "no lines of a unit that is not there" supctl logs nothing
exits 1 "nor of a timer" supctl logs lone.timer
says 'is a timer' "which is said"

supctl start binary >/dev/null
is "what is not fit for a terminal is escaped" "$(text binary)" 'out tab	here
out \x1b[31mred\x1b[0m\x07
out nul\x00in it
out latin \xe4
out café
out no newline'
output=$(logs binary --json)
says '"message":"café"' "text is text in JSON"
says '"message":\[108,97,116,105,110,32,228\]' "what is none is an array of bytes"
says '"message":\[110,117,108,0,105,110,32,105,116\]' "and so is what has NULs"
says '"message":"no newline","unfinished":true' "a last line without newline is told"
is "every line is an object" "$(logs binary --json | grep -c '^{.*}$')" 6

supctl start long >/dev/null
is "a long line comes in parts" "$(logs long --json | grep -c '"continued":true')" 2
is "of which nothing is missing" "$(logs long --json | tr -cd x | wc -c)" 40000

supctl start random >/dev/null
ok "random bytes are kept" test "$(logs random --json -n all | wc -l)" -gt 300
logs random -n all >"$dir/shown"
ok "and harmless when shown" bash -c '! tr -d "\n\t" <"$1" | LC_ALL=C grep -q "[[:cntrl:]]"' - "$dir/shown"

supctl start named levels steps >/dev/null
says_name=$(logs named)
ok "lines have the name that the service gives itself" grep -qE ' me\[[0-9a-f]{8}\] out: hello$' <<<"$says_name"
is "lines beyond the level are dropped, others keep theirs" "$(logs levels --json | grep -o '"level":[0-9],"message":"[a-z]*"')" \
	'"level":3,"message":"bad"
"level":6,"message":"plain"'
is "all commands of a run are in one" "$(text steps)" 'out first
out second
out third'

# Queries
run=$(field fails run_id)
is "the lines of a run" "$(logs fails --run="$run" | wc -l)" 12
is "its first digits suffice" "$(logs fails --run="${run:0:12}" | wc -l)" 12
is "the last ones" "$(text fails -n 1)" "err what went wrong"
is "nothing was said long ago" "$(logs fails --until=@978307200 --no-legend)" ""
is "all was said in the last day" "$(logs fails --since=-24h | wc -l)" 36
is "several units in the order of time" "$(text binary steps -n 1)" "out third"
exits 2 "a time that is none" supctl logs fails --since=soonish
exits 2 "a run that is none" supctl logs fails --run=xyz
exits 2 "a number that is none" supctl logs fails -n some

# Following
: >"$dir/followed"
supctl logs -f -n 1 steps >"$dir/followed" &
follower=$!
exec 8< <(tail -f --pid="$follower" "$dir/followed" 2>/dev/null)
read -r line <&8
ok "following begins with what there is" grep -q 'out: third' <<<"$line"
supctl start steps >/dev/null
read -r line <&8
ok "and goes on with what comes" grep -q 'out: first' <<<"$line"
read -r line <&8 && read -r line <&8
ok "in its order" grep -q 'out: third' <<<"$line"
kill "$follower"
wait "$follower" 2>/dev/null
exec 8<&-
supctl start steps >/dev/null
ok "supd goes on when nobody follows any more" supctl version

# A pipe that outlives its run
supctl start grandchild >/dev/null
ok "a run ends without its grandchild" test "$(field grandchild active_state)" = inactive
echo >"$late"
until logs grandchild | grep -q 'last words'; do :; done
pass "which is heard a while longer"
is "and kept with the rest" "$(logs grandchild | wc -l)" 3

# Floods
rss() {
	awk '/^VmRSS/ { print $2 }' "/proc/$supd_pid/status"
}
supctl start --no-block yes >/dev/null
for i in 1 2 3 4 5; do
	supctl start named >/dev/null || fail "supctl is answered while a service floods"
done
pass "supctl is answered while a service floods"
before=$(rss)
kib=$(du -sk "$dir/state/logs/yes.service" | cut -f1)
for i in $(seq 20); do supctl start named >/dev/null; done
after=$(rss)
# Sanitizers keep a while what was freed.
limit=65536
! grep -q libasan "/proc/$supd_pid/maps" || limit=600000
ok "supd does not grow by it ($before to $after KiB)" test $((after - before)) -lt "$limit"
ok "nor does what is kept ($kib KiB)" test "$kib" -lt 2048
supctl stop yes >/dev/null
output=$(logs yes -n all)
says '^-- [0-9]+ lines of yes.service\[[0-9a-f]{8}\] are missing here --$' "what is not kept is told"
is "the last line is" "$(tail -n 1 <<<"$output" | sed 's/.*\] //')" "out: y"
is "nothing of others was lost" "$(logs named --json -n all | wc -l)" 26
ok "supd's log holds flooding services back" log_has 'yes.service: [0-9]+ lines that it printed too fast are not in this log'

# kill -9 in the middle of a run
supctl start --no-block waits >/dev/null
until logs waits | grep -q 'before the kill'; do :; done
supd_kill
is "after a kill what was printed is read without supd" "$(text waits --state-dir="$dir/state")" "out before the kill"
exits 4 "and what was not is told" supctl logs --state-dir="$dir/state" nothing
exits 69 "following needs a daemon" supctl logs -f waits
supd_start $timers
is "and with the next supd" "$(text waits)" "out before the kill"
supctl start named >/dev/null
is "which goes on where the other ended" "$(logs named --json -n all | wc -l)" 27
rm "$units/named.service"
supctl reload >/dev/null
is "what was printed outlives the unit" "$(logs named --json -n all | wc -l)" 27
supd_stop

# As supd.conf says
printf '[Manager]\nForwardOutput=no\nOutputMaxPerRun=64K\n' >"$dir/supd.conf"
service console.service 'ExecStart=/bin/echo to-the-console' StandardOutput=journal+console
service much.service 'ExecStart=/bin/seq 100000'
supd_start --config="$dir/supd.conf"
supctl start steps console much >/dev/null
ok "what is for the console is in the log" log_has 'console.service\[[0-9a-f]+\]: to-the-console'
ok "other output is not" bash -c '! grep -q "steps.service.*: first" "$1"' - "$log"
ok "but kept" grep -q 'out: first' <<<"$(logs steps)"
ok "a run is bounded" test "$(cat "$dir"/state/logs/much.service/* | wc -c)" -lt 100000
is "its beginning is kept" "$(text much -n all | head -n 1)" "out 1"
is "and its end" "$(text much -n 1)" "out 100000"
supd_stop

printf '[Manager]\nOutputMaxPerRun=0\n' >"$dir/supd.conf"
rm -rf "$dir/state/logs"
supd_start --config="$dir/supd.conf"
supctl start steps >/dev/null
exits 1 "nothing is kept on request" supctl logs steps
says 'OutputMaxPerRun=' "and it is said why"
ok "there are no files of it" test ! -e "$dir/state/logs"
supd_stop
done_testing
