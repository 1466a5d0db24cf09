/* SPDX-License-Identifier: MIT */
#include "control/frame.h"

#include <errno.h>
#include <string.h>

static int handshake_byte(struct frame *f, uint8_t byte)
{
	static const uint8_t end[sizeof(f->tail)] = { '\r', '\n', 'B',  'E', 'G',
						      'I',  'N',  '\r', '\n' };

	if (++f->handshake > FRAME_HANDSHAKE_MAX)
		return -EMSGSIZE;
	memmove(f->tail, f->tail + 1, sizeof(f->tail) - 1);
	f->tail[sizeof(f->tail) - 1] = byte;
	f->is_open = memcmp(f->tail, end, sizeof(end)) == 0;
	return 0;
}

static uint64_t number_at(const uint8_t *p, bool is_big)
{
	uint8_t b[4] = { p[0], p[1], p[2], p[3] };

	if (is_big)
		return (uint64_t) b[0] << 24 | (uint64_t) b[1] << 16 | (uint64_t) b[2] << 8 | b[3];
	return (uint64_t) b[3] << 24 | (uint64_t) b[2] << 16 | (uint64_t) b[1] << 8 | b[0];
}

/* D-Bus specification, "Message format": byte order, type, flags, version, length of the body,
 * serial, length of the header's fields, which are padded to 8. */
static int judge_header(struct frame *f, uint64_t max)
{
	bool is_big = f->header[0] == 'B';

	f->n_messages++;
	if ((!is_big && f->header[0] != 'l') || f->header[3] != 1)
		return -EBADMSG;
	f->rest = number_at(f->header + 4, is_big) +
		  ((number_at(f->header + 12, is_big) + 7) & ~UINT64_C(7));
	return f->rest + FRAME_HEADER > max ? -EMSGSIZE : 0;
}

static size_t smaller(uint64_t a, size_t b)
{
	return a < b ? (size_t) a : b;
}

int frame_follow(struct frame *f, const uint8_t *bytes, size_t n, uint64_t max)
{
	int r;

	while (n > 0) {
		size_t step = 1;

		if (!f->is_open) {
			r = handshake_byte(f, *bytes);
			if (r < 0)
				return r;
		} else if (f->rest > 0) {
			step = smaller(f->rest, n);
			f->rest -= step;
		} else {
			step = smaller(FRAME_HEADER - f->n_header, n);
			memcpy(f->header + f->n_header, bytes, step);
			f->n_header += (uint32_t) step;
			r = f->n_header == FRAME_HEADER ? judge_header(f, max) : 0;
			if (r < 0)
				return r;
			f->n_header %= FRAME_HEADER;
		}
		bytes += step;
		n -= step;
	}
	return 0;
}

bool frame_is_idle(const struct frame *f)
{
	return f->is_open && f->n_header == 0 && f->rest == 0;
}
