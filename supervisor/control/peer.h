/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_PEER_H
#define SUPD_CONTROL_PEER_H

/* Who is at the other end of a socket, as the kernel noted when it connected. */

struct peer;

/* 0 or a negative errno; a peer whose groups cannot be told has none. */
int peer_read(int fd, struct peer *ret);
void peer_done(struct peer *p);

#endif
