/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TESTS_ZONE_FILES_H
#define SUPD_TESTS_ZONE_FILES_H

/* All zones of the system's database, for tests that go through them. */

#include <stddef.h>

#define ZONE_DIR "/usr/share/zoneinfo"

struct zone;

struct zone_file {
	char *name;        /* "Europe/Berlin" */
	struct zone *zone;
};

struct zone_files {
	size_t count;
	struct zone_file *file;
};

/* Without posix/ and right/; of zones with the same content only one. Ends the test when a file is
 * refused. */
void zone_files_load(struct zone_files *ret);
void zone_files_done(struct zone_files *files);

/* True if SUPD_TEST_FULL asks for the whole range instead of a sample. */
int test_is_full(void);

/* What TAP prints instead of a test where the database is missing; ends the program. */
void zone_files_or_skip(void);

#endif
