# SPDX-License-Identifier: MIT
dist_man_MANS += %D%/supd-plugin.3 %D%/supd.timer.5
