#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A person's own supd, by the XDG rules, with no rights at all.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

me=()
if [ "$(id -u)" = 0 ]; then
	command -v setpriv >/dev/null || skip_all "root cannot become somebody else without setpriv"
	me=(setpriv --reuid=65533 --regid=65533 --clear-groups --)
	# The build tree may be closed to others.
	mkdir "$dir/bin"
	cp "$TOP_BUILDDIR/supd" "$TOP_BUILDDIR/supctl" "$dir/bin/"
	SUPD=$dir/bin/supd
	SUPCTL=$dir/bin/supctl
fi
home=$dir/home
mkdir -p "$home/.config/supd/units" "$dir/session"
export HOME=$home XDG_RUNTIME_DIR=$dir/session ASAN_OPTIONS=detect_leaks=0
unset SUPD_RUNTIME_DIR XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
printf '[Service]\nExecStart=/bin/sh -c "pwd; id -u"\n' >"$home/.config/supd/units/mine.service"
printf '[Service]\nUser=root\nExecStart=/bin/true\n' >"$home/.config/supd/units/root.service"
[ "${#me[@]}" = 0 ] || chown -R 65533:65533 "$home" "$dir/session"

supd_args() {
	printf '%s\n' --log-format=text
}
cat >"$dir/as-me" <<END
#!/bin/sh
exec ${me[*]} $SUPD "\$@"
END
chmod +x "$dir/as-me"
SUPD=$dir/as-me
supd_start

exits 0 "supctl finds it by itself" "${me[@]}" "$SUPCTL" start mine
ok "services begin at home" log_has " mine\.service\[.*: $home\$"
ok "the socket is in the session's directory" test -S "$dir/session/supd/private"
ok "the state is below home" test -d "$home/.local/state/supd"
is "for nobody else" "$(stat -c %a "$home/.local/state/supd")" 700
exits 0 "what they print is kept" "${me[@]}" "$SUPCTL" logs mine
says " mine\.service\[.*\] out: $home\$" "for oneself"
exits 1 "nobody becomes root" "${me[@]}" "$SUPCTL" start root
says 'failed (user|group)' "and the step that failed is told"
supd_stop
exits 0 "also when supd has ended" "${me[@]}" "$SUPCTL" logs mine
says " mine\.service\[.*\] out: $home\$" "from the disk"
done_testing
