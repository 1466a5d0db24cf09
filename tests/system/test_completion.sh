#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Completion: every verb that takes units offers them, in bash as it runs, and stands in those of zsh and fish.
. "${TOP_SRCDIR:-.}/tests/lib/tap.sh"
. "$TOP_SRCDIR/tests/system/supd.sh" || exit 1

completions=$TOP_SRCDIR/contrib/completion
service alpha.service 'ExecStart=/bin/true'
if [ "${ENABLE_TIMER:-yes}" = yes ]; then
	printf '[Timer]\nOnCalendar=daily\nUnit=alpha.service\n' | unit beta.timer
	supd_start --experimental=timers
else
	supd_start
fi

. "$completions/bash/supctl"
# offered WORD…: what completion of this line offers, its last word being at the cursor.
offered() {
	COMP_WORDS=(supctl "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_supctl
	echo "${COMPREPLY[*]}"
}

while read -r verb argument _; do
	case $argument in
	UNIT…|PATTERN…|\[UNIT…\]|\[PATTERN…\]|UNIT|TIMER|TIMER…)
		wanted=alpha.service
		case $verb in
		timers|why|trigger|skip|unskip)	wanted=beta.timer ;;
		esac
		if [ "$wanted" = beta.timer ] && [ "${ENABLE_TIMER:-yes}" != yes ]; then
			empty "$verb offers no timers, there are none" "$(offered "$verb" '')"
		else
			ok "$verb offers units" grep -qwF -- "$wanted" <<<"$(offered "$verb" '')"
		fi
		for file in zsh/_supctl fish/supctl.fish; do
			ok "$verb stands in $file" grep -qE "(^|[ 	|])$verb([ 	|)']|$)" "$completions/$file"
		done ;;
	esac
done < <("$SUPCTL" --help | sed -nE 's/^  ([a-z][a-z-]+) (.*)$/\1 \2/p')

is "verbs" "$(offered star)" start
is "verbs, for help" "$(offered help star)" start
is "options of a verb" "$(offered logs --foll)" --follow
is "values of --json" "$(offered list --json = s)" short
mkdir "$dir/elsewhere"
is "the units of the daemon that is meant, which is not there" \
	"$(offered --runtime-dir = "$dir/elsewhere" start '')" ""
unset SUPD_RUNTIME_DIR
is "the units of the one that is" "$(offered --runtime-dir = "$dir/run" start '')" alpha.service
is "also where the directory is a word of its own" "$(offered --runtime-dir "$dir/run" start '')" alpha.service
for shell in zsh fish; do
	case $shell in
	zsh)	file=$completions/zsh/_supctl ;;
	fish)	file=$completions/fish/supctl.fish ;;
	esac
	if command -v "$shell" >/dev/null; then
		ok "$shell can read its completion" "$shell" -n "$file"
	else
		skip "$shell can read its completion" "there is no $shell"
	fi
done
supd_stop
done_testing
