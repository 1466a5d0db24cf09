#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where standard input, output and error of services lead.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

files=$dir/files
mkdir "$files"
echo from-a-file >"$files/in"
printf 'longer than that\nold\n' >"$files/file"
echo old >"$files/append"
echo old >"$files/truncate"

say='ExecStart=/bin/sh -c "echo out; echo err >&2"'
service file.service "$say" "StandardOutput=file:$files/file"
service append.service "$say" "StandardOutput=append:$files/append" StandardError=null
service truncate.service "$say" "StandardOutput=truncate:$files/truncate" "StandardError=file:$files/truncate.err"
service new.service "$say" "StandardOutput=append:$files/%N" UMask=0027
service apart.service "$say" "StandardOutput=null" "StandardError=journal"
service none.service "$say" "StandardOutput=null"
service input.service 'ExecStart=/bin/cat' "StandardInput=file:$files/in" "StandardOutput=file:$files/copied"
service both.service 'ExecStart=/bin/sh -c "read x; echo $$x"' "StandardInput=file:$files/rw" \
	"StandardOutput=file:$files/rw"
service text.service 'ExecStart=/bin/cat' 'StandardInputText=one\ttab %N' 'StandardInputData=AAEC' \
	'StandardInputText=two' "StandardOutput=truncate:$files/text"
service missing.service "$say" "StandardInput=file:$files/missing"
service folder.service "$say" "StandardOutput=append:$files"
service folder-err.service "$say" "StandardError=append:$files"
service notty.service "$say" StandardInput=tty TTYPath=/dev/null
service fifo.service 'ExecStart=/bin/cat' "StandardInput=file:$files/fifo"
service fds.service 'ExecStart=/bin/sh -c "ls /proc/self/fd | tr '"'\\\\n' ' '"' >'"$files"'/fds"' \
	"StandardInput=file:$files/in" "StandardOutput=append:$files/fds.out" "StandardError=truncate:$files/fds.err"
printf 'ping\n' >"$files/rw"
mkfifo "$files/fifo"

supd_start
exits 0 "output goes to a file" supctl start file
is "from its beginning, over what stands there, error with it" "$(cat "$files/file")" $'out\nerr\nhan that\nold'
exits 0 "output is appended to a file" supctl start append
is "behind what stood there" "$(cat "$files/append")" $'old\nout'
exits 0 "output goes to a file that is emptied before" supctl start truncate
is "and holds nothing else then" "$(cat "$files/truncate")" out
is "error can have a file of its own" "$(cat "$files/truncate.err")" err
exits 0 "a file that is not there is made" supctl start new
is "with what the service's umask leaves" "$(stat -c %a "$files/new")" 640
exits 0 "error alone is captured" supctl start apart
ok "and in the log" log_has ' apart\.service\[[0-9a-f]+\]: err$'
exits 0 "nothing is captured" supctl start none
exits 0 "input comes from a file" supctl start input
is "all of it" "$(cat "$files/copied")" from-a-file
exits 0 "one file is read and written" supctl start both
is "through one descriptor" "$(cat "$files/rw")" $'ping\nping'
exits 0 "input stands in the unit" supctl start text
is "as text and as bytes" "$(od -An -c "$files/text" | tr -s ' \n' ' ')" " o n e \\t t a b t e x t \\n \\0 001 002 t w o \\n "
exits 0 "a FIFO that nobody writes to is at its end at once" supctl start fifo

exits 1 "input that is missing fails the run" supctl start missing
says 'failed stdin: No such file' "at that step"
is "with systemd's number for it" "$(field missing result)" 'failed stdin: No such file or directory'
exits 1 "output that cannot be opened fails the run" supctl start folder
says 'failed stdout: Is a directory' "at that step"
exits 1 "so does error" supctl start folder-err
says 'failed stderr: Is a directory' "at that step"
exits 1 "what is no terminal cannot be one" supctl start notty
says 'failed stdin: Inappropriate ioctl' "and that is said"

exits 0 "a service has three descriptors" supctl start fds
is "and the one that lists them" "$(cat "$files/fds")" '0 1 2 3 '

if [ "$(id -u)" = 0 ] && command -v script >/dev/null; then
	mkfifo "$files/hold"
	script -qec "tty >$files/tty; cat $files/hold" "$files/seen" >/dev/null 2>&1 </dev/null &
	held=$!
	# Opens when the other end does, which is after the line before it.
	exec 9>"$files/hold"
	service tty.service 'ExecStart=/bin/echo to-the-terminal' StandardOutput=tty "TTYPath=$(cat "$files/tty")"
	service claim.service 'ExecStart=/bin/sh -c "tty >'"$files"'/claimed; : >/dev/tty"' "TTYPath=$(cat "$files/tty")" \
		StandardInput=tty StandardOutput=inherit
	service force.service 'ExecStart=/bin/sh -c "tty >'"$files"'/claimed; : >/dev/tty"' "TTYPath=$(cat "$files/tty")" \
		StandardInput=tty-force StandardOutput=inherit
	supctl reload >/dev/null
	exits 0 "output goes to a terminal" supctl start tty
	exits 1 "a terminal that is another session's is not taken" supctl start claim
	says 'failed stdin: Operation not permitted' "and that is said"
	exits 0 "unless by force" supctl start force
	is "then it is the service's" "$(cat "$files/claimed")" "$(cat "$files/tty")"
	exec 9>&-
	wait "$held"
	ok "what went to the terminal was seen there" grep -q to-the-terminal "$files/seen"
else
	skip "terminals" "this takes root and script(1)"
fi

supd_stop
done_testing
