#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# RequiresMountsFor=: what fstab names on the way to a path has to be mounted; nobody backs up to an empty directory.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

# For mount(8) and supd alike. /proc stands for what is mounted.
export LIBMOUNT_FSTAB=$dir/fstab
mkdir -p "$dir/real disk/inner"
ln -s "real disk" "$dir/link"
cat >"$LIBMOUNT_FSTAB" <<END
# what where type options
/dev/sda1 / ext4 defaults 0 1
/dev/sda2 none swap sw 0 0
server:/export $dir/real\\040disk nfs noauto 0 2
proc /proc proc defaults 0 0
END

# needs NAME LINES…: a service with these lines in [Unit].
needs() {
	name=$1
	shift
	{
		echo "[Unit]"
		printf '%s\n' "$@"
		printf '[Service]\nExecStart=/usr/bin/touch %s/ran-%%N\n' "$dir"
	} >"$units/$name.service"
}
needs unmounted "RequiresMountsFor=/proc/self \"$dir/real disk/inner\""
needs linked "RequiresMountsFor=$dir/link/inner"
needs beside "RequiresMountsFor=\"$dir/real diskette\" /proc/self /usr"
needs conditional "RequiresMountsFor=\"$dir/real disk\"" ConditionPathExists=/nowhere
needs dependent Requires=unmounted.service After=unmounted.service
needs reporter
needs reported "RequiresMountsFor=\"$dir/real disk\"" OnFailure=reporter.service
needs relative RequiresMountsFor=var/lib
service inside "ExecStart=/bin/true"
mv "$units/inside" "$units/inside.service"
echo "WorkingDirectory=$dir/link" >>"$units/inside.service"

supd_start
exits 1 "a path on what is not mounted" supctl start unmounted
says "dependency failed: $dir/real disk is not mounted" "fails, and says what"
is "with systemd's word" "$(supctl history unmounted --json | grep -o '"result":"[a-z]*"')" '"result":"dependency"'
is "and nothing is run" "$(ls "$dir" | grep -c ran-unmounted)" 0
exits 1 "a path through a link" supctl start linked
exits 0 "what is mounted, or named by nobody, is there" supctl start beside
exits 1 "a mount comes before conditions" supctl start conditional
exits 1 "who requires such a service" supctl start dependent
says "dependency failed: unmounted.service" "fails with it"
exits 1 "who wants to hear of it" supctl start reported
ok "does" log_has ' reporter\.service.*: success'
exits 1 "a directory to work in" supctl start inside
says "dependency failed: $dir/real disk is not mounted" "is such a path"
exits 4 "a relative path" supctl start relative
exits 4 "is a mistake" supctl verify "$units/relative.service"
says 'relative\.service:2: RequiresMountsFor= wants absolute paths' "with its line"
sed -i '/export/d' "$LIBMOUNT_FSTAB"
exits 0 "fstab is read anew for each run" supctl start unmounted
rm "$LIBMOUNT_FSTAB"
exits 0 "without fstab all is there" supctl start linked
supd_stop
done_testing
