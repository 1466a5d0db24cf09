/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_DIR_H
#define SUPD_TEST_DIR_H

/* Scratch folders and files for tests. Every call ends the test case if the system refuses. */

#include <stddef.h>

/* Makes an empty folder, mode 0700, below $TMPDIR or /tmp.
 * Gives its absolute path; free it with test_dir_free(). */
char *test_dir_new(void);

/* Removes the folder with all that is in it (mount points and links are not followed). Takes
 * @dir; NULL is fine. Returns NULL. */
char *test_dir_free(char *dir);

/* "@dir/@name"; the caller frees it. */
char *test_dir_path(const char *dir, const char *name);

/* Writes @size bytes as @dir/@name, mode 0644, and makes the folders in between. */
void test_dir_write(const char *dir, const char *name, const void *data, size_t size);

/* The same for a text. */
void test_dir_write_text(const char *dir, const char *name, const char *text);

/* Gives the content of @dir/@name with a NUL byte after its end; the caller frees it. @ret_size
 * may be NULL. */
char *test_dir_read(const char *dir, const char *name, size_t *ret_size);

/* Path of a file of the source tree ("units/heartbeat.timer") or of the build tree ("supd"),
 * wherever the test was started. The caller frees it. */
char *test_source_path(const char *name);
char *test_build_path(const char *name);

#endif
