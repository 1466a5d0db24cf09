#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What jobs say over $NOTIFY_SOCKET, with systemd-notify(1) to say it where there is one: it is taken from the processes of
# the run and from nobody else, kept with the run, and no flood of it holds anything up.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

# own says things as a process of its own, and waits until supd has taken them, so that it can be told whose it is;
# systemd-notify does the same, but as root in the name of its parent, and takes one value a name.
command -v systemd-notify >/dev/null || skip_all "systemd-notify is not here"
command -v python3 >/dev/null || skip_all "python3 is not here"
cat >"$dir/own" <<'END'
#!/usr/bin/env python3
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(os.environ["NOTIFY_SOCKET"])
for message in sys.argv[1:]:
    s.send(message.encode())
r, w = os.pipe()
socket.send_fds(s, [b"BARRIER=1"], [w])
os.close(w)
os.read(r, 1)
END
cat >"$dir/flood" <<'END'
#!/usr/bin/env python3
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(os.environ["NOTIFY_SOCKET"])
fds = [os.open("/dev/null", os.O_RDONLY) for i in range(100)]
n = 0
while True:
    n += 1
    try:
        socket.send_fds(s, [b"FDSTORE=1\nX_SUPD_METRIC=m%d=%d" % (n % 1000, n)], fds)
    except OSError:
        pass
    if n == 100:
        with open(sys.argv[1], "w") as told:
            told.write("x\n")
END
chmod 755 "$dir/own" "$dir/flood"

mkfifo -m 666 "$dir/go" "$dir/told"
# job NAME KEYS…: says what is in $says, then waits for a byte.
job() {
	local name=$1
	shift
	service "$name" "ExecStart=/bin/sh -c '$says; echo told >$dir/told; read x <$dir/go'" "$@"
}
# told NAME: starts it, and returns when it has said what it had to.
told() {
	supctl start --no-block "$1" >/dev/null && read -r _ <"$dir/told"
}

says="systemd-notify --status=half X_SUPD_METRIC=files=42; $dir/own X_SUPD_METRIC=share=0.5 X_SUPD_METRIC=files=43"
job speaks.service
says="$dir/own STATUS=mine"
job quiet.service 'NotifyAccess=none' 'Environment=NOTIFY_SOCKET='"$dir/run/supd/notify"
job mainly.service 'NotifyAccess=main'
service detached.service "ExecStart=/bin/sh -c 'setsid $dir/own STATUS=detached & wait; echo told >$dir/told; read x <$dir/go'"
service last.service "ExecStart=/bin/sh -c 'exec systemd-notify --no-block X_SUPD_METRIC=left=1'"
service pre.service 'NotifyAccess=exec' "ExecStartPre=$dir/own X_SUPD_METRIC=pre=1" \
	"ExecStart=/bin/sh -c '$dir/own X_SUPD_METRIC=child=1; exec $dir/own X_SUPD_METRIC=main=1'"
service wrong.service "ExecStart=$dir/own X_SUPD_METRIC=a=inf X_SUPD_METRIC=b=1"
service longer.service 'TimeoutStartSec=3s' \
	"ExecStart=/bin/sh -c 'systemd-notify EXTEND_TIMEOUT_USEC=60000000; sleep 3.1'"
service flood.service "ExecStart=$dir/flood $dir/told"
service other.service "ExecStart=$dir/own X_SUPD_METRIC=one=1"
service env.service ExecStart=/bin/true

# All of it holds with cgroups, which only root has, and without.
tests() {
	told speaks
	exits 0 "a job speaks" supctl status speaks
	says 'Status: "half"' "its status is shown"
	says 'Metrics: files=43 share=0\.5' "and its metrics, the last value of each"
	is "the status is in the list" "$(supctl list --json | grep -o '"status_text":"half"')" '"status_text":"half"'
	is "numbers are numbers" "$(supctl status speaks --json | grep -o '"metrics":{[^}]*}')" '"metrics":{"files":43,"share":0.5}'

	env NOTIFY_SOCKET="$dir/run/supd/notify" "$dir/own" STATUS=false >/dev/null 2>&1
	exits 0 "somebody else speaks for it" supctl status speaks
	says 'Status: "half"' "and is not heard"
	supctl stop speaks >/dev/null
	is "what was said is kept with the run" "$(supctl show speaks -p metrics --value)" '{"files":43,"share":0.5}'
	exits 3 "once it has ended" supctl status speaks
	ok "its status is not shown any more" bash -c '! grep -q "Status:" <<<"$0"' "$output"

	told quiet
	is "with NotifyAccess=none nothing is heard" "$(field quiet status_text)" ""
	supctl stop quiet >/dev/null
	told mainly
	is "with main, nothing of a child" "$(field mainly status_text)" ""
	supctl stop mainly >/dev/null
	told detached
	is "a process that leads a session of its own is one of the run" "$(field detached status_text)" detached
	supctl stop detached >/dev/null
	exits 0 "with exec" supctl start pre
	is "each process that supd has made is heard, and no other" "$(field pre metrics)" '{"pre":1,"main":1}'

	exits 0 "one that speaks and ends at once" supctl start last
	is "is heard" "$(field last metrics)" '{"left":1}'
	exits 0 "a mistake is no failure" supctl start wrong
	is "what is right is taken" "$(field wrong metrics)" '{"b":1}'
	ok "and the mistake told" log_has 'wrong\.service.*X_SUPD_METRIC= wants NAME=NUMBER, ignored$'
	exits 0 "one that asks for more time" supctl start longer
	says 'longer.service: success' "gets it"
	supctl env env >"$dir/env"
	ok "a job is told the socket" grep -qxF "NOTIFY_SOCKET=$dir/run/supd/notify" "$dir/env"

	exits 0 "a job that floods" told flood
	for _ in 1 2 3 4 5; do
		supctl start other >/dev/null || break
	done
	is "keeps no other from being heard" "$(field other metrics)" '{"one":1}'
	is "has no more metrics than it may" "$(supctl show flood -p metrics --value | grep -o : | wc -l)" 64
	exits 0 "it can be stopped" supctl stop flood
	fds() { find "/proc/$supd_pid/fd" -mindepth 1 | wc -l; }
	ok "none of its descriptors is left" test "$(fds)" -lt 60
}

supd_start
tests
supd_stop
ok "the socket goes with supd" test ! -e "$dir/run/supd/notify"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	# The build tree may be closed to others.
	mkdir "$dir/bin"
	cp "$TOP_BUILDDIR/supd" "$dir/bin/"
	printf '#!/bin/sh\nexec setpriv --reuid=65533 --regid=65533 --clear-groups %s "$@"\n' "$dir/bin/supd" >"$dir/bin/as-other"
	chmod +x "$dir/bin/as-other"
	SUPD=$dir/bin/as-other
	export HOME=$dir ASAN_OPTIONS=detect_leaks=0
	unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
	chown -R 65533:65533 "$dir/run" "$dir/state"
	supd_start
	tests
	supd_stop
fi
done_testing
