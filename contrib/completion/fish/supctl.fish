# SPDX-License-Identifier: MIT
# fish completion for supctl. Verbs and options are asked of supctl itself, units of the daemon.

# Options that say which daemon is meant.
function __supctl_target
	string match --regex -- '^--(?:user|system|runtime-dir=.*)$' (commandline -opc)
end

function __supctl_units
	for suffix in $argv
		supctl (__supctl_target) --no-legend list 2>/dev/null | string match --regex '^\S+' | string match -- "*$suffix"
	end
end

function __supctl_verbs
	supctl --help 2>/dev/null | string replace --filter --regex '^  ([a-z][a-z-]+)( .*)?$' '$1'
end

# The first word that is no option, and no value of one.
function __supctl_verb
	set -l before ''
	for word in (commandline -opc)[2..]
		switch $before
			case --runtime-dir -n --lines -p --property
				set before ''
				continue
		end
		set before $word
		string match -q -- '-*' $word; and continue
		echo $word
		return 0
	end
	return 1
end

function __supctl_verb_is
	contains -- (__supctl_verb; or echo none) $argv
end

function __supctl_options
	supctl (__supctl_verb) --help 2>/dev/null | string match --all --regex -- '--[a-z][a-z-]+=?' | sort -u
end

complete -c supctl -f
complete -c supctl -n 'not __supctl_verb >/dev/null; or __supctl_verb_is help' -a '(__supctl_verbs)'
complete -c supctl -n 'string match -q -- "-*" (commandline -ct)' -a '(__supctl_options)'
complete -c supctl -n '__supctl_verb_is verify' -F
complete -c supctl -n '__supctl_verb_is run' -a '(__fish_complete_command)'
complete -c supctl -n '__supctl_verb_is experimental' -a 'enable disable timers'
complete -c supctl -n '__supctl_verb_is timers trigger why skip unskip' -a '(__supctl_units .timer)'
complete -c supctl -n '__supctl_verb_is start restart' -a '(__supctl_units .service .target)'
complete -c supctl -n '__supctl_verb_is env logs' -a '(__supctl_units .service)'
complete -c supctl -n '__supctl_verb_is list status plan history events stats show cat stop reset enable disable mask unmask' -a '(__supctl_units "")'
complete -c supctl -n '__supctl_verb_is simulate is-active is-failed is-enabled is-healthy' -a '(__supctl_units "")'
