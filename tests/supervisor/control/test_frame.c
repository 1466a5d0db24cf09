/* SPDX-License-Identifier: MIT */
#include "control/frame.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

#define MAX 1024
#define HANDSHAKE "\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n"

static int follow(struct frame *f, const void *bytes, size_t n)
{
	return frame_follow(f, bytes, n, MAX);
}

static struct frame opened(void)
{
	struct frame f = { 0 };

	ck_assert_int_eq(follow(&f, HANDSHAKE, sizeof(HANDSHAKE) - 1), 0);
	ck_assert(frame_is_idle(&f));
	return f;
}

static void put(uint8_t *p, uint32_t value, bool is_big)
{
	for (unsigned i = 0; i < 4; i++)
		p[is_big ? 3 - i : i] = (uint8_t) (value >> 8 * i);
}

static void header(uint8_t ret[FRAME_HEADER], char order, uint32_t body, uint32_t fields)
{
	memset(ret, 0, FRAME_HEADER);
	ret[0] = (uint8_t) order;
	ret[1] = ret[3] = 1;
	put(ret + 4, body, order == 'B');
	put(ret + 8, 1, order == 'B');
	put(ret + 12, fields, order == 'B');
}

START_TEST(the_handshake_ends_with_begin)
{
	struct frame f = { 0 };

	for (size_t i = 0; i < sizeof(HANDSHAKE) - 1; i++) {
		ck_assert(!f.is_open && !frame_is_idle(&f));
		ck_assert_int_eq(follow(&f, &HANDSHAKE[i], 1), 0);
	}
	ck_assert(frame_is_idle(&f));
}
END_TEST

START_TEST(begin_is_a_line_of_its_own)
{
	static const char text[] = "\0AUTH BEGIN\r\nXBEGIN\r\nBEGIN \r\nBEGIN\n";
	struct frame f = { 0 };

	ck_assert_int_eq(follow(&f, text, sizeof(text) - 1), 0);
	ck_assert(!f.is_open);
}
END_TEST

START_TEST(an_endless_handshake_is_refused)
{
	struct frame f = { 0 };
	char line[FRAME_HANDSHAKE_MAX];

	memset(line, 'A', sizeof(line));
	ck_assert_int_eq(follow(&f, line, sizeof(line)), 0);
	ck_assert_int_eq(follow(&f, line, 1), -EMSGSIZE);
}
END_TEST

static const struct {
	char order;
	uint32_t body, fields;
	int expected;
} headers[] = {
	{ 'l', 0, 0, 0 },
	{ 'B', 100, 50, 0 },
	{ 'l', MAX - FRAME_HEADER - 56, 50, 0 },
	{ 'l', MAX - FRAME_HEADER - 55, 50, -EMSGSIZE },
	{ 'B', 0, MAX, -EMSGSIZE },
	{ 'l', 0x7ffffff, 0, -EMSGSIZE },
	{ 'l', UINT32_MAX, 0, -EMSGSIZE },
	{ 'l', 0, UINT32_MAX, -EMSGSIZE }, /* padded in 32 bits this would be 0 */
	{ 'l', UINT32_MAX, UINT32_MAX, -EMSGSIZE },
	{ 'x', 0, 0, -EBADMSG },
	{ '\0', 0, 0, -EBADMSG },
};

START_TEST(a_message_is_judged_by_its_header)
{
	struct frame f = opened();
	uint8_t h[FRAME_HEADER];

	header(h, headers[_i].order, headers[_i].body, headers[_i].fields);
	ck_assert_int_eq(follow(&f, h, sizeof(h)), headers[_i].expected);
}
END_TEST

START_TEST(only_version_1_is_spoken)
{
	struct frame f = opened();
	uint8_t h[FRAME_HEADER];

	header(h, 'l', 0, 0);
	h[3] = 2;
	ck_assert_int_eq(follow(&f, h, sizeof(h)), -EBADMSG);
}
END_TEST

/* Three messages, cut anywhere, twice: the stream stands where it stood before. */
START_TEST(borders_are_found_however_the_bytes_are_cut)
{
	uint8_t stream[3 * (FRAME_HEADER + 8 + 5)];
	const size_t one = FRAME_HEADER + 8 + 5;

	memset(stream, 0xff, sizeof(stream));
	for (size_t i = 0; i < 3; i++)
		header(stream + i * one, i == 1 ? 'B' : 'l', 5, 3);
	for (size_t a = 0; a <= sizeof(stream); a++)
		for (size_t b = a; b <= sizeof(stream); b++) {
			struct frame f = opened();

			ck_assert_int_eq(follow(&f, stream, a), 0);
			ck_assert_int_eq(frame_is_idle(&f), a % one == 0);
			ck_assert_int_eq(follow(&f, stream + a, b - a), 0);
			ck_assert_int_eq(follow(&f, stream + b, sizeof(stream) - b), 0);
			ck_assert(frame_is_idle(&f));
			ck_assert_uint_eq(f.n_messages, 3);
		}
}
END_TEST

static Suite *frame_suite(void)
{
	Suite *s = suite_create("control/frame");
	TCase *tc = tcase_create("frame");

	tcase_add_test(tc, the_handshake_ends_with_begin);
	tcase_add_test(tc, begin_is_a_line_of_its_own);
	tcase_add_test(tc, an_endless_handshake_is_refused);
	tcase_add_loop_test(tc, a_message_is_judged_by_its_header, 0, ELEMENTS(headers));
	tcase_add_test(tc, only_version_1_is_spoken);
	tcase_add_test(tc, borders_are_found_however_the_bytes_are_cut);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(frame_suite)
