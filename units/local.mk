# SPDX-License-Identifier: MIT
# Installed as examples: what lies in a unit directory is live, and that is the admin's decision.
examplesdir = $(docdir)/examples/units
dist_examples_DATA = %D%/backup.service %D%/backup.timer %D%/disk-report.service \
	%D%/heartbeat.service %D%/heartbeat.timer %D%/report.timer %D%/sweep.service %D%/sweep.timer
