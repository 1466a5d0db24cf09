/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_GATE_H
#define SUPD_CORE_GATE_H

/* Is an experimental subsystem on? What supd.conf, the command line, and an admin at run time said,
 * in one place. It fails closed: nobody said anything means off. */

#include <stdbool.h>

enum gate_word {
	GATE_SILENT,
	GATE_OFF,
	GATE_ON,
	GATE_UNREADABLE, /* something was said, nobody knows what: off */
};

struct gate {
	enum gate_word configured; /* [Experimental] in supd.conf */
	enum gate_word kept;       /* supctl experimental, of this or an earlier life */
	enum gate_word forced;     /* --experimental= */
	enum gate_word runtime;    /* supctl experimental in this life, with or without --runtime */
};

/* The latest and nearest word counts: runtime, then forced, then kept, then configured. */
bool gate_is_open(const struct gate *g);

#endif
