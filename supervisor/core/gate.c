/* SPDX-License-Identifier: MIT */
#include "core/gate.h"

bool gate_is_open(const struct gate *g)
{
	const enum gate_word said[] = { g->runtime, g->forced, g->kept, g->configured };

	for (unsigned i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (said[i] != GATE_SILENT)
			return said[i] == GATE_ON;
	return false;
}
