#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Conditions and asserts on the real system: each kind met and not met, '!' and '|', what is told of them; and, where
# systemd-analyze is there, the same answers as systemd's.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

# guarded NAME LINES…: a service with these lines in [Unit], which leaves a mark when it runs.
guarded() {
	local name=$1
	shift
	{
		echo "[Unit]"
		printf '%s\n' "$@"
		printf '[Service]\nExecStart=/usr/bin/touch %s/ran-%%N\n' "$dir"
	} >"$units/$name.service"
}

there=$dir/there
mkdir "$there" "$there/empty" "$there/full"
echo x >"$there/full/file"
: >"$there/nothing"
printf '#!/bin/sh\n' >"$there/program"
chmod +x "$there/program"
ln -s nowhere "$there/link"
mkdir "$dir/credentials"
echo secret >"$dir/credentials/token"
export CREDENTIALS_DIRECTORY=$dir/credentials SUPD_TEST_VARIABLE=some-value
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$there/socket" 2>/dev/null
kernel=$(uname -r)
host=$(uname -n)
cpus=$(nproc)
user=$(id -u)
group=$(id -g)
case $(uname -m) in
x86_64) architecture=x86-64 ;;
aarch64) architecture=arm64 ;;
*) architecture=native ;;
esac
# shellcheck disable=SC1091
release=$(. /etc/os-release 2>/dev/null && echo "$ID")

# Met and not met, of each kind.
met="
PathExists=$there/nothing
PathExists=!$there/missing
PathExists=!$there/link
PathExistsGlob=$there/no*ing
PathExistsGlob=$there/{a,empty}
PathIsDirectory=$there
PathIsSymbolicLink=$there/link
PathIsMountPoint=/proc
PathIsMountPoint=/
PathIsReadWrite=$there
PathIsEncrypted=!/proc
DirectoryNotEmpty=$there/full
FileNotEmpty=$there/full/file
FileIsExecutable=$there/program
User=$user
Group=$group
Host=$host
Host=*
KernelVersion=$kernel
KernelVersion=>=2.6
KernelVersion=>= 2.6 <100
KernelVersion=\"> 2.6\" !=2.6
KernelCommandLine=!no-such-option-anywhere
Capability=!62
Environment=SUPD_TEST_VARIABLE
Environment=SUPD_TEST_VARIABLE=some-value
Memory=>1M
Memory=1.5M
Memory=<1000T
CPUs=$cpus
CPUs==$cpus
CPUs=> 0
CPUFeature=!no-such-feature
Architecture=native
Architecture=$architecture
Virtualization=!private-users-of-nobody
MemoryPressure=100%
CPUPressure=100%/10s
IOPressure=100%/1min
IOPressure=a.slice:0%
Security=!no-such-security
Firmware=!no-such-firmware
ControlGroupController=no-such-controller
NeedsUpdate=$there
Credential=token
KernelModuleLoaded=!no-such-module
Version=>=2.6
Version=kernel >=2.6 <100
Version=glibc >=2.1
Version=!systemd >=1
OSRelease=ID=$release
OSRelease=ID=$release NO_SUCH_FIELD!=x
"
unmet="
PathExists=$there/missing
PathExists=!$there/nothing
PathExists=$there/link
PathExistsGlob=$there/none*
PathIsDirectory=$there/nothing
PathIsSymbolicLink=$there/nothing
PathIsMountPoint=$there
PathIsReadWrite=$there/missing
PathIsEncrypted=/proc
PathIsSocket=$there/nothing
DirectoryNotEmpty=$there/empty
DirectoryNotEmpty=$there/nothing
DirectoryNotEmpty=$there/missing
FileNotEmpty=$there/nothing
FileNotEmpty=$there/full
FileIsExecutable=$there/full/file
FileIsExecutable=$there
User=no-such-user
User=4294967295
Group=no-such-group
Host=another.$host
Host=00000000000000000000000000000001
KernelVersion=<2.6
KernelVersion=>=2.6 <3 >100
KernelVersion=!>=2.6
KernelCommandLine=no-such-option-anywhere
Capability=62
Environment=SUPD_TEST_NONE
Environment=SUPD_TEST_VARIABLE=some
Memory=<1M
Memory=>=1000T
CPUs=>$cpus
CPUs=!=$cpus
CPUFeature=no-such-feature
Architecture=sh64
Architecture=!native
Virtualization=no-such-hypervisor
MemoryPressure=!100%
Security=no-such-security
Firmware=no-such-firmware
Firmware=smbios-field(no_such_field = x)
ControlGroupController=!no-such-controller
Credential=no-such-credential
KernelModuleLoaded=no-such-module
Version=<2.6
Version=systemd >=1
OSRelease=ID=no-such-system
OSRelease=NO_SUCH_FIELD=x
"
[ ! -S "$there/socket" ] || met+="PathIsSocket=$there/socket
"

n=0
names=
declare -A text
while read -r line; do
	[ -n "$line" ] || continue
	guarded "met-$n" "Condition$line"
	text[met-$n]=$line
	names="$names met-$n"
	n=$((n + 1))
done <<<"$met"
while read -r line; do
	[ -n "$line" ] || continue
	guarded "unmet-$n" "Condition$line"
	text[unmet-$n]=$line
	names="$names unmet-$n"
	n=$((n + 1))
done <<<"$unmet"

# Of which only one can be true at a time, whatever the machine is.
for pair in ACPower:yes:no FirstBoot:yes:no Virtualization:yes:no ControlGroupController:v1:v2 \
	'Host:%m:!%m' 'Capability:CAP_SYS_ADMIN:!CAP_SYS_ADMIN' 'Security:audit:!audit' 'Virtualization:container:!container' \
	'ControlGroupController:memory:!memory' 'KernelModuleLoaded:loop:!loop' 'CPUFeature:sse2:!sse2' \
	'User:@system:!@system' 'Firmware:uefi:!uefi'; do
	IFS=: read -r key one other <<<"$pair"
	guarded "pair-$n" "Condition$key=$one"
	guarded "riap-$n" "Condition$key=$other"
	text[pair-$n]=$pair
	names="$names pair-$n riap-$n"
	n=$((n + 1))
done

# The logic of lists.
guarded all 'ConditionPathExists=/' "ConditionPathExists=$there/missing" 'ConditionPathIsDirectory=/'
guarded any "ConditionPathExists=|$there/missing" 'ConditionPathExists=|/' "ConditionPathExists=|$there/none"
guarded any-and "ConditionPathExists=|/" "ConditionPathExists=|$there/missing" "ConditionPathExists=$there/missing"
guarded none "ConditionPathExists=|$there/missing" "ConditionHost=|!*"
guarded reset "ConditionPathExists=$there/missing" 'ConditionHost=' 'ConditionPathExists=/'
guarded asserted "AssertPathExists=$there/missing"
guarded asserted-well "AssertPathExists=$there" 'AssertKernelVersion=>=2.6'
guarded both "ConditionPathExists=$there/missing" "AssertPathExists=$there/missing"
guarded instance@ "ConditionPathExists=$there/%i"
guarded late "ConditionPathExists=$dir/late"
printf '[Unit]\nConditionPathExists=%s\n[Service]\nExecCondition=/bin/false\nExecStart=/bin/true\n' "$there" >"$units/command.service"

supd_start
# shellcheck disable=SC2086
supctl start --json $names >"$dir/answers" 2>&1

# result NAME: of its last run.
result() { field "$1" result; }

for name in $names; do
	case $name in
	met-*) is "met: ${text[$name]}" "$(result "$name")" success ;;
	unmet-*) is "not met: ${text[$name]}" "$(result "$name")" skipped ;;
	pair-*)
		case "$(result "$name"),$(result "riap${name#pair}")" in
		success,skipped | skipped,success) pass "one of two: ${text[$name]}" ;;
		*) fail "one of two: ${text[$name]}" "$(result "$name"),$(result "riap${name#pair}")" ;;
		esac
		;;
	esac
done
ok "what was met has run" test -e "$dir/ran-met-0"
is "nothing that was not met has run" "$(ls "$dir" | grep -c ran-unmet)" 0

exits 0 "a skipped run is no failure" supctl start all
says "all.service: skipped: ConditionPathExists=$there/missing was not met" "the answer says which condition"
exits 0 "one trigger that is met is enough" supctl start any
says 'any.service: success' "it runs"
exits 0 "a condition beside them must be met all the same" supctl start any-and
says "skipped: ConditionPathExists=$there/missing was not met" "and is told"
supctl start none >/dev/null
is "triggers of which none is met are told" "$(field none unmet)" \
	"none of ConditionPathExists=|$there/missing, ConditionHost=|!* was met"
exits 0 "an empty value forgets all conditions" supctl start reset
says 'success' "those that come after it count"
exits 1 "an assert that is not met fails the start" supctl start asserted
says "failed assert: AssertPathExists=$there/missing was not met" "and is told"
exits 0 "asserts that are met" supctl start asserted-well
says 'success' "let it run"
exits 0 "conditions come before asserts" supctl start both
says 'skipped: Condition' "which are not looked at then"
exits 0 "ExecCondition= comes after conditions" supctl start command
says 'command.service: skipped, took' "and names none of them"
is "a condition of its own is told apart" "$(field command condition_result)" yes

supctl status asserted >"$dir/status"
ok "status tells which assert failed" grep -q "└─ AssertPathExists=$there/missing was not met\|-- AssertPathExists" "$dir/status"
is "the unit has failed" "$(field asserted active_state)" failed
is "an assert's result" "$(field asserted condition_result),$(field asserted assert_result)" yes,no
is "a condition's result" "$(field all condition_result)" no
is "no process was made" "$(field all started),$(field all main_pid)" ,
exits 3 "status of a skipped unit" supctl status all
says 'Condition: start condition failed at ' "tells that it was a condition"
says "ConditionPathExists=$there/missing was not met" "and which"
ok "it is in the log" log_has 'all.service.*: skipped: ConditionPathExists='
exits 0 "a specifier is expanded" supctl start instance@full
says 'success' "in an instance"

supctl start late >/dev/null
is "looked at when it starts" "$(field late result)" skipped
: >"$dir/late"
supctl start late >/dev/null
is "and anew at each start" "$(field late result),$(field late unmet)" success,

# Mistakes are told with their lines.
mistake() { # VALUE PATTERN
	printf '[Unit]\nCondition%s\n[Service]\nExecStart=/bin/true\n' "$1" >"$dir/bad.service"
	exits 4 "refused: Condition$1" supctl verify "$dir/bad.service"
	says "bad.service:2: $2" "with what is wanted"
}
mistake 'CPUs=>x' 'ConditionCPUs= wants a number of CPUs'
mistake 'PathExists=relative' 'ConditionPathExists= wants an absolute path'
mistake 'PathExists=/a/../b' 'ConditionPathExists= wants an absolute path'
mistake 'PathExists=!' 'ConditionPathExists= wants an absolute path'
mistake 'Memory=lots' 'ConditionMemory= wants an amount of memory'
mistake 'Capability=CAP_NONE' 'ConditionCapability= wants a capability'
mistake 'ACPower=perhaps' 'ConditionACPower= wants yes or no'
mistake 'KernelVersion=>=' 'ConditionKernelVersion= wants comparisons'
mistake 'OSRelease=ID' 'ConditionOSRelease= wants comparisons'
mistake 'MemoryPressure=10%/2min' 'ConditionMemoryPressure= wants a limit'
mistake 'Firmware=smbios-field(x)' 'ConditionFirmware= wants uefi'
printf '[Unit]\nConditionVirtualization=no-such\n[Service]\nExecStart=/bin/true\n' >"$dir/odd.service"
exits 0 "an unknown hypervisor is no mistake, as in systemd" supctl verify "$dir/odd.service"
says 'odd.service:2: .*is never met' "but warned of"

# The oracle. PathIsSocket=, KernelModuleLoaded= and Version= are younger than the systemd that may be here.
if command -v systemd-analyze >/dev/null && systemd-analyze condition 'ConditionPathExists=/' >/dev/null 2>&1; then
	for name in $names; do
		line=$(sed -n 2p "$units/$name.service")
		case $line in
		# What is delegated to a person is systemd's own bookkeeping.
		*ControlGroupController=*memory) [ "$user" = 0 ] || continue ;;
		*PathIsSocket* | *KernelModuleLoaded* | *ConditionVersion* | *Credential* | *FirstBoot* | *Pressure*/10s) continue ;;
		esac
		if systemd-analyze condition "$line" >/dev/null 2>&1; then
			wanted=success
		else
			wanted=skipped
		fi
		is "as systemd judges: $line" "$(result "$name")" "$wanted"
	done
else
	skip "systemd's judgement" "systemd-analyze condition is not to be had here"
fi

supd_stop
done_testing
