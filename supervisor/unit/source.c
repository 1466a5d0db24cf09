/* SPDX-License-Identifier: MIT */
#include "unit/source.h"

#include <stdlib.h>

void unit_source_done(struct unit_source *s)
{
	for (size_t i = 0; i < s->n_pieces; i++) {
		free(s->piece[i].path);
		free(s->piece[i].bytes);
	}
	for (size_t i = 0; i < s->n_pulls; i++) {
		free(s->pull[i].unit);
		free(s->pull[i].file);
	}
	free(s->piece);
	free(s->pull);
	free(s->name);
	diag_done(&s->problems);
	*s = (struct unit_source) {0};
}
