# SPDX-License-Identifier: MIT
EXTRA_DIST += %D%/quickstart %D%/alpine/APKBUILD %D%/container/Containerfile %D%/init/supd.openrc \
	%D%/init/supd.runit %D%/init/supd.service %D%/rpm/supd.spec %D%/debian/changelog \
	%D%/debian/control %D%/debian/copyright %D%/debian/rules %D%/debian/source/format \
	%D%/debian/supd.install %D%/debian/supd-dev.install
