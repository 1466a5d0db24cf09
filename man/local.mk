# SPDX-License-Identifier: MIT
dist_man_MANS += %D%/supd-plugin.3 %D%/supd.timer.5
dist_man_MANS += %D%/supctl.1 %D%/supd-control.7 %D%/supd-events.7
dist_man_MANS += %D%/supd.service.5 %D%/supd.exec.5
dist_man_MANS += %D%/supd.time.7
dist_man_MANS += %D%/supd.8 %D%/supd.conf.5
