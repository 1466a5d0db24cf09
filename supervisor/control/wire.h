/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_WIRE_H
#define SUPD_CONTROL_WIRE_H

/* Rows as D-Bus carries them. A row is a(syv): each field its key, its type (enum supd_type) and
 * its value; a null is the variant false. */

#include <stddef.h>

#include "supd-plugin.h"

#define WIRE_ROW "a(syv)"
#define WIRE_ROWS "aa(syv)"
#define WIRE_DEPTH_MAX 6 /* rows within rows */

/* Unanswered calls of one connection: of an owner, of others. A call waits as long as its run
 * takes. */
#define WIRE_CALLS_MAX 4096
#define WIRE_CALLS_MAX_OTHERS 16

struct arena;
struct sd_bus_message;

/* Appends one WIRE_ROW to an open array of them. Text that is not UTF-8 is escaped, a key with it.
 * Adds to *bytes about what the row takes. A negative errno leaves @m unusable. */
int wire_append(struct sd_bus_message *m, const struct supd_row *row, size_t *bytes);

/* Reads WIRE_ROWS. The rows live in @arena, their text in @m. A value of a type not known here is a
 * null. -EBADMSG: no such thing. */
int wire_read(struct sd_bus_message *m, struct arena *arena, struct supd_row **ret, size_t *ret_n);

#endif
