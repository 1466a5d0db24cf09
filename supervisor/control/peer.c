/* SPDX-License-Identifier: MIT */
#include "control/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "control/access.h"

#define GROUPS_BYTES_MAX (65536 * sizeof(gid_t)) /* NGROUPS_MAX */

static void read_groups(int fd, struct peer *p)
{
	socklen_t size = 0;
	gid_t *group;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0 || errno != ERANGE ||
	    size > GROUPS_BYTES_MAX)
		return;
	group = malloc(size);
	if (!group)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, group, &size) < 0) {
		free(group);
		return;
	}
	p->group = group;
	p->n_groups = size / sizeof(gid_t);
}

int peer_read(int fd, struct peer *ret)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
		return -errno;
	if (size != sizeof(cred))
		return -EBADMSG;
	*ret = (struct peer){ .uid = cred.uid, .gid = cred.gid, .pid = cred.pid };
	read_groups(fd, ret);
	return 0;
}

void peer_done(struct peer *p)
{
	free(p->group);
	p->group = NULL;
	p->n_groups = 0;
}
