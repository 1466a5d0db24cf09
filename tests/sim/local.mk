# SPDX-License-Identifier: MIT
sim_programs =
EXTRA_PROGRAMS += $(sim_programs)

.PHONY: sim
sim: $(sim_programs)
	$(AM_V_at)set -e; for p in $(sim_programs); do ./$$p; done
