# SPDX-License-Identifier: MIT
# Sourced by shell tests: prints TAP. Needs nothing but a POSIX shell.
#
#	. "$TOP_SRCDIR/tests/lib/tap.sh"
#	ok "the file is there" test -e file
#	is "version is told" "$(supctl version)" "supd 0.1.0"
#	done_testing

TOP_SRCDIR=${TOP_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
TOP_BUILDDIR=${TOP_BUILDDIR:-$PWD}
tap_count=0
tap_failed=0

pass() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

# fail NAME [DETAILS]
fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	[ -z "${2-}" ] || printf '%s\n' "$2" | sed 's/^/#   /'
}

# skip NAME REASON
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# ok NAME COMMAND...: passes if the command succeeds; what it says is shown if not.
ok() {
	tap_name=$1
	shift
	if tap_output=$("$@" 2>&1); then
		pass "$tap_name"
	else
		fail "$tap_name" "exit status $? of: $*
$tap_output"
	fi
}

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got:    $2
wanted: $3"
	fi
}

# empty NAME TEXT: passes if the text, a list of faults, is empty.
empty() {
	if [ -z "$2" ]; then
		pass "$1"
	else
		fail "$1" "$2"
	fi
}

# skip_all REASON
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit $?
}
