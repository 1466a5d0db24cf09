/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_CHILD_CODE_H
#define SUPD_RUN_CHILD_CODE_H

/* Code of a child that shares our memory runs on a stack that sanitizers know nothing of, in memory
 * that another process uses. */
#define CHILD_CODE __attribute__((no_sanitize_address, no_sanitize_thread, noinline))

#endif
