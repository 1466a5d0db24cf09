/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_FILES_H
#define SUPD_SUPD_FILES_H

/* What stands in unit files, for those who may read it: what only root can read from the disk, only
 * root is shown. */

#include <stdbool.h>

struct control_request;
struct supd_control;
struct unit;

/* An owner, or could anybody read these files? */
bool files_may_see(const struct control_request *q, const struct unit *u);

void units_cat(struct supd_control *c, const struct control_request *q);

#endif
