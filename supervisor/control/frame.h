/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_FRAME_H
#define SUPD_CONTROL_FRAME_H

/* Watches the bytes of a D-Bus stream go by, and knows where it stands: still in the handshake,
 * between two messages, inside one. sd-bus would take a message of 128 MiB from anyone; whoever
 * stands in front of it with this refuses it by its header. Pure. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER 16
#define FRAME_HANDSHAKE_MAX 4096

/* All zero is the beginning of a stream. */
struct frame {
	bool is_open;       /* the handshake is over */
	uint32_t handshake; /* its bytes so far */
	uint8_t tail[9];    /* its last bytes, for "\r\nBEGIN\r\n" */
	uint8_t header[FRAME_HEADER];
	uint32_t n_header; /* bytes of the header seen */
	uint64_t rest;     /* bytes of the message that follow the header and are still to come */
	uint64_t n_messages; /* of which the header has been seen */
};

/* Follows @n more bytes. 0; -EMSGSIZE: a message of more than @max bytes, or an endless handshake;
 * -EBADMSG: no D-Bus message. After an error the stream cannot be followed any further. */
int frame_follow(struct frame *f, const uint8_t *bytes, size_t n, uint64_t max);

/* Between two messages, the handshake being over: nothing more is owed. */
bool frame_is_idle(const struct frame *f);

#endif
