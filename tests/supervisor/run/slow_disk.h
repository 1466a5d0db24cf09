/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_RUN_SLOW_DISK_H
#define SUPD_TEST_RUN_SLOW_DISK_H

/* A disk that takes as long as a test wants: while it hangs, no fsync(2) or fdatasync(2) of this process returns. */

void slow_disk_hang(void);
/* Returns when somebody waits for it. */
void slow_disk_wait(void);
void slow_disk_go(void);

#endif
