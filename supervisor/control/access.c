/* SPDX-License-Identifier: MIT */
#include "control/access.h"

static bool is_nobody(unsigned id)
{
	return id == OVERFLOW_ID || id == (unsigned) -1;
}

static bool is_member(const struct peer *peer, gid_t group)
{
	if (is_nobody(group))
		return false;
	if (peer->gid == group)
		return true;
	for (size_t i = 0; i < peer->n_groups; i++)
		if (peer->group[i] == group)
			return true;
	return false;
}

static bool may_look(const struct access_policy *policy, const struct peer *peer)
{
	switch (policy->read) {
	case CONTROL_READ_ALL:
		return true;
	case CONTROL_READ_GROUP:
		return !is_nobody(peer->uid) && is_member(peer, policy->read_group);
	case CONTROL_READ_NONE:
		return false;
	}
	return false;
}

enum right access_judge(const struct access_policy *policy, const struct peer *peer)
{
	if (!is_nobody(peer->uid) && (peer->uid == 0 || peer->uid == policy->own_uid))
		return RIGHT_OWN;
	return may_look(policy, peer) ? RIGHT_LOOK : RIGHT_NONE;
}
