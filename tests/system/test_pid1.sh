#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# supd as PID 1 of a pid namespace, as in a container: orphans are reaped, SIGTERM shuts down in order, the exit
# status is told.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

export ASAN_OPTIONS=detect_leaks=0
unshare -pf --mount-proc true 2>/dev/null || skip_all "unshare -pf --mount-proc is not permitted"

# Fifty orphans that end at once.
cat >"$dir/orphans" <<'END'
#!/bin/sh
for i in 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9; do
	(setsid true &)
done
END
cat >"$dir/stubborn" <<'END'
#!/bin/sh
trap '' TERM
echo deaf
while :; do sleep 1000; done
END
chmod +x "$dir/orphans" "$dir/stubborn"
service orphans.service "ExecStart=$dir/orphans"
service stubborn.service "ExecStart=$dir/stubborn" 'TimeoutStopSec=200ms'
# As copied from the machine that the container was made of.
export LIBMOUNT_FSTAB=$dir/fstab container=lxc
printf '%s\n' "UUID=5ee7 $dir/device ext4 defaults 0 2" "server:/export $dir/export nfs defaults 0 0" >"$LIBMOUNT_FSTAB"
printf '%s\n' '[Unit]' "RequiresMountsFor=$dir/device/a" '[Service]' ExecStart=/bin/true >"$units/device.service"
printf '%s\n' '[Unit]' "RequiresMountsFor=$dir/export/a" '[Service]' ExecStart=/bin/true >"$units/export.service"

real_supd=$SUPD
cat >"$dir/contained" <<END
#!/bin/sh
exec unshare -pf --mount-proc --kill-child "$real_supd" "\$@"
END
chmod +x "$dir/contained"
SUPD=$dir/contained
supd_start
outer=$(cat "/proc/$supd_pid/task/$supd_pid/children")
outer=${outer%% *}
is "supd is PID 1" "$(sed -nE 's/^NSpid:.*\t([0-9]+)$/\1/p' "/proc/$outer/status")" 1

exits 0 "a service that leaves orphans runs" supctl start orphans
zombies() {
	for stat in /proc/[0-9]*/stat; do
		read -r line <"$stat" || continue
		line=${line##*) }
		set -- $line
		[ "$1" = Z ] && [ "$2" = "$outer" ] && echo "${stat//[^0-9]/}"
	done 2>/dev/null
}
supctl list >/dev/null # one turn of the loop later
empty "and no zombie is left" "$(zombies)"

exits 0 "what fstab says of devices is not asked for in a container" supctl start device
exits 1 "what it says of servers is" supctl start export
says "dependency failed: $dir/export is not mounted" "and told"

timeout "$PATIENCE" supctl start stubborn >"$dir/out" 2>&1 &
waiter=$!
ok "a service that ignores SIGTERM runs" log_has ': deaf$'
kill -TERM "$outer"
supd_end
is "SIGTERM to PID 1 ends it in order, with status 0" "$?" 0
ok "the log says so" grep -q ' notice ended$' "$log"
wait "$waiter"
is "who waited was told" "$?" 1
done_testing
