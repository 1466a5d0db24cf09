/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_SPEC_TEXT_H
#define SUPD_TEST_SPEC_TEXT_H

/* A service written out in a test → its spec, through the real reader. */

#include "base/arena.h"
#include "base/diag.h"
#include "service/spec.h"

struct spec_text {
	struct arena arena;
	struct diag diag;
	struct service_spec spec;
};

/* @text is the file of backup@home.service; [Service] is put before it unless it begins with a
 * section. Ends the test case only if memory runs out; mistakes are in ->diag. */
void spec_text_init(struct spec_text *t, const char *text);
/* The same, and ends the test case on any mistake or warning. */
void spec_text_init_good(struct spec_text *t, const char *text);
void spec_text_done(struct spec_text *t);
/* Is there an entry of this kind of which file, line and message read so? */
bool spec_text_has(const struct spec_text *t, enum diag_severity severity, const char *line_and_message);

#endif
