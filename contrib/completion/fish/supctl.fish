# SPDX-License-Identifier: MIT
# fish completion for supctl. Verbs and options are asked of supctl itself, units of the daemon.

function __supctl_units --argument-names suffix
	supctl --no-legend list 2>/dev/null | string match --regex '^\S+' | string match "*$suffix"
end

function __supctl_verbs
	supctl --help 2>/dev/null | string replace --filter --regex '^  ([a-z][a-z-]+)( .*)?$' '$1'
end

function __supctl_options
	supctl --help 2>/dev/null | string match --all --regex -- '--[a-z][a-z-]+=?' | sort -u
end

complete -c supctl -f
complete -c supctl -n __fish_is_first_token -a '(__supctl_verbs)'
complete -c supctl -n 'string match -q -- "-*" (commandline -ct)' -a '(__supctl_options)'
complete -c supctl -n '__fish_seen_subcommand_from verify' -F
complete -c supctl -n '__fish_seen_subcommand_from run' -a '(__fish_complete_command)'
complete -c supctl -n '__fish_seen_subcommand_from experimental' -a 'enable disable timers'
complete -c supctl -n '__fish_seen_subcommand_from trigger why skip unskip' -a '(__supctl_units .timer)'
complete -c supctl -n '__fish_seen_subcommand_from start stop restart env logs' -a '(__supctl_units .service)'
complete -c supctl -n '__fish_seen_subcommand_from status plan history events stats show cat reset enable disable mask unmask simulate is-healthy' -a '(__supctl_units "")'
