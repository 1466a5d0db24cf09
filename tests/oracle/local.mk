# SPDX-License-Identifier: MIT
oracle_programs =
EXTRA_PROGRAMS += $(oracle_programs)

.PHONY: oracle
oracle: $(oracle_programs)
	$(AM_V_at)set -e; for p in $(oracle_programs); do ./$$p; done
