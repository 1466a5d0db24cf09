# SPDX-License-Identifier: MIT
fuzz_programs =
EXTRA_PROGRAMS += $(fuzz_programs)

.PHONY: fuzz
fuzz: $(fuzz_programs)
	$(AM_V_at)set -e; for p in $(fuzz_programs); do ./$$p; done
