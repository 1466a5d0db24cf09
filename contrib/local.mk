# SPDX-License-Identifier: MIT
EXTRA_DIST += %D%/quickstart %D%/alpine/APKBUILD %D%/container/Containerfile %D%/init/supd.openrc \
	%D%/init/supd.runit %D%/init/supd.service %D%/rpm/supd.spec %D%/debian/changelog \
	%D%/debian/control %D%/debian/copyright %D%/debian/rules %D%/debian/source/format \
	%D%/debian/supd.docs %D%/debian/supd.install %D%/debian/supd.lintian-overrides %D%/debian/supd.postrm \
	%D%/debian/supd-dev.install %D%/debian/supd-dev.lintian-overrides

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA = %D%/completion/bash/supctl
dist_zshcompletion_DATA = %D%/completion/zsh/_supctl
dist_fishcompletion_DATA = %D%/completion/fish/supctl.fish
