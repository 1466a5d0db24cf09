#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Ten pairs of services and timers as Debian's packages ship them, unmodified: they load, both from a directory laid
# out for systemd and as units of supd's own; what is not applied is a warning; one is triggered. The files are
# taken from the packages themselves: DEBIAN_UNITS= names a folder with their systemd units, else they are
# fetched with apt-get download.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

[ "${ENABLE_TIMER:-yes}" = yes ] || skip_all "built without timers"

packages="apt certbot dpkg e2fsprogs logrotate man-db php-common plocate sysstat util-linux"
timers="apt-daily certbot dpkg-db-backup e2scrub_all fstrim logrotate man-db phpsessionclean plocate-updatedb sysstat-collect"

fetch() {
	local deb
	mkdir "$dir/packages" && chmod 777 "$dir/packages" && cd "$dir/packages" || return 1
	# shellcheck disable=SC2086 # a list
	apt-get -q download $packages || return 1
	for deb in *.deb; do
		dpkg-deb -x "$deb" "$dir/root" || return 1
	done
	cd "$TOP_BUILDDIR" || return 1
}

if [ -n "${DEBIAN_UNITS-}" ]; then
	mkdir "$dir/systemd" && cp "$DEBIAN_UNITS"/*.service "$DEBIAN_UNITS"/*.timer "$dir/systemd/"
elif command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
	ok "the packages are fetched" fetch
	mkdir "$dir/systemd"
	find "$dir/root" -path '*/systemd/system/*' \( -name '*.service' -o -name '*.timer' \) \
		-exec cp {} "$dir/systemd/" \;
else
	skip_all "no apt-get here to fetch the packages, and DEBIAN_UNITS= names no folder"
fi
mkdir "$dir/systemd/timers.target.wants" "$dir/none"
for timer in $timers; do
	ln -s "../$timer.timer" "$dir/systemd/timers.target.wants/"
done

# not_active: of the ten, those that the list does not show as loaded and active.
not_active() {
	for timer in $timers; do
		supctl list | grep -qE "^$timer\.timer +loaded +active +waiting" || echo "$timer.timer"
		supctl list | grep -qE "^$timer\.service +loaded " || echo "$timer.service"
	done
}

exits 0 "none of them is invalid" supctl verify --unit-path="$dir/none" --systemd-unit-path="$dir/systemd"
is "every remark is a warning" "$(grep -E '^/.*: ' <<<"$output" | grep -vc ': warning: ')" 0
says 'PrivateTmp= is not applied' "what is not applied is said"
exits 4 "--strict makes that a failure" supctl verify --strict --unit-path="$dir/none" --systemd-unit-path="$dir/systemd"
says '(sandbox: supd has no sandbox; the service runs without this protection)' "each explained"
empty "of their services, all that is not applied is a sandbox's" \
	"$(grep -E '\.service:[0-9]+: .* is not applied' <<<"$output" | grep -vF '(sandbox: ')"
exits 0 "none of them is invalid" supctl verify --unit-path="$dir/none" --systemd-unit-path="$dir/systemd"
says '0 invalid' "and counted"

supd_start --experimental=timers --unit-path="$dir/none" --systemd-unit-path="$dir/systemd"
empty "linked in timers.target.wants, all ten are active" "$(not_active)"
is "sysstat-summary.timer is inactive" "$(supctl is-active sysstat-summary.timer)" inactive
supd_stop

supd_start --experimental=timers --unit-path="$dir/systemd"
empty "all ten are active" "$(not_active)"
exits 0 "one is triggered" supctl trigger dpkg-db-backup.timer
says 'dpkg-db-backup.service: success' "and its service runs"
is "it is on record" "$(supctl timers --json | grep -oE '"unit":"dpkg-db-backup.timer"[^}]*"result":"success"' | wc -l)" 1
supd_stop
done_testing
