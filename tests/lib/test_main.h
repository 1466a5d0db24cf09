/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_MAIN_H
#define SUPD_TEST_MAIN_H

/* The whole main() of a test program:
 *
 *	static Suite *arena_suite(void) { … }
 *	TEST_MAIN(arena_suite)
 *
 * `make check` asks for TAP through CK_TAP_LOG_FILE_NAME; by hand libcheck prints its own summary,
 * and CK_FORK=no, CK_RUN_CASE=name and CK_VERBOSITY=verbose work as libcheck documents them. */

#include <check.h>
#include <stdlib.h>

#define TEST_MAIN(suite_fn)                                                                       \
	int main(void)                                                                            \
	{                                                                                         \
		SRunner *runner = srunner_create(suite_fn());                                     \
		int failed;                                                                       \
                                                                                                  \
		srunner_run_all(runner, CK_ENV);                                                  \
		failed = srunner_ntests_failed(runner);                                           \
		srunner_free(runner);                                                             \
		return failed ? EXIT_FAILURE : EXIT_SUCCESS;                                      \
	}

#endif
