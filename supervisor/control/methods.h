/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_METHODS_H
#define SUPD_CONTROL_METHODS_H

/* The fixed table of what the socket offers: a method, its arguments, the verb it stands for, and
 * the right it takes. supd-control(7) is its manual. */

#include "control/access.h"
#include "control/api.h"

#define METHODS_PATH "/org/supd/Manager1"
#define METHODS_INTERFACE "org.supd.Manager1"
/* Every answer: rows, supctl's exit status, a message for people or "". */
#define METHODS_ANSWER "aa(syv)is"
#define METHODS_ANSWER_NAMES "rows\0status\0message\0"
/* Where an answer would be too large for one message, its first rows come ahead of it in signals,
 * which name the serial of the call. */
#define METHODS_ROWS "taa(syv)"
#define METHODS_ROWS_NAMES "call\0rows\0"

/* ROW(name, signature, names of the arguments, verb, right) */
#define METHODS(ROW)                                                                             \
	ROW("GetVersion", "", "", CONTROL_VERSION, RIGHT_LOOK)                                   \
	ROW("ListUnits", "as", "keys\0", CONTROL_LIST, RIGHT_LOOK)                               \
	ROW("GetUnit", "s", "unit_or_all\0", CONTROL_STATUS, RIGHT_LOOK)                         \
	ROW("ShowUnit", "s", "unit\0", CONTROL_SHOW, RIGHT_LOOK)                                 \
	ROW("CatUnit", "s", "unit\0", CONTROL_CAT, RIGHT_LOOK)                                   \
	ROW("GetEnvironment", "s", "unit\0", CONTROL_ENVIRONMENT, RIGHT_OWN)                     \
	ROW("StartUnit", "sb", "unit\0wait\0", CONTROL_START, RIGHT_OWN)                         \
	ROW("StopUnit", "sb", "unit\0wait\0", CONTROL_STOP, RIGHT_OWN)                           \
	ROW("RestartUnit", "sb", "unit\0wait\0", CONTROL_RESTART, RIGHT_OWN)                     \
	ROW("EnableUnit", "sb", "unit\0runtime\0", CONTROL_ENABLE, RIGHT_OWN)                    \
	ROW("DisableUnit", "sb", "unit\0runtime\0", CONTROL_DISABLE, RIGHT_OWN)                  \
	ROW("MaskUnit", "sb", "unit\0runtime\0", CONTROL_MASK, RIGHT_OWN)                        \
	ROW("UnmaskUnit", "sb", "unit\0runtime\0", CONTROL_UNMASK, RIGHT_OWN)                    \
	ROW("TriggerUnit", "sb", "unit\0wait\0", CONTROL_TRIGGER, RIGHT_OWN)                     \
	ROW("ResetUnit", "s", "unit\0", CONTROL_RESET, RIGHT_OWN)                                \
	ROW("SkipMoment", "st", "unit\0moment\0", CONTROL_SKIP, RIGHT_OWN)                       \
	ROW("UnskipMoment", "st", "unit\0moment\0", CONTROL_UNSKIP, RIGHT_OWN)                   \
	ROW("GetPlan", "sttas", "unit_or_all\0since\0until\0keys\0", CONTROL_PLAN, RIGHT_LOOK)   \
	ROW("ReadEvents", "stbas", "types\0lines\0follow\0units\0", CONTROL_EVENTS, RIGHT_LOOK)  \
	ROW("Reload", "", "", CONTROL_RELOAD, RIGHT_OWN)                                         \
	ROW("ListTable", "sssas", "subsystem\0table\0unit_or_all\0keys\0", CONTROL_TABLE,        \
		RIGHT_LOOK)                                                                      \
	ROW("ListExperimental", "", "", CONTROL_EXPERIMENTAL, RIGHT_LOOK)                        \
	ROW("SetExperimental", "sbb", "feature\0on\0runtime\0", CONTROL_EXPERIMENTAL, RIGHT_OWN) \
	ROW("RunTransient", "sssb", "unit\0service_text\0timer_text\0wait\0", CONTROL_RUN,       \
		RIGHT_OWN)                                                                       \
	ROW("Pause", "", "", CONTROL_PAUSE, RIGHT_OWN)                                           \
	ROW("Resume", "", "", CONTROL_RESUME, RIGHT_OWN)                                         \
	ROW("ReadOutput", "sstttb", "unit\0run\0since\0until\0lines\0follow\0", CONTROL_LOGS,    \
		RIGHT_OWN)                                                                       \
	ROW("ListHistory", "sssttttas",                                                          \
		"outcomes\0cause\0run\0since\0until\0lines\0offset\0units\0",                    \
		CONTROL_HISTORY, RIGHT_LOOK)                                                     \
	ROW("GetStatistics", "ttas", "since\0until\0units\0", CONTROL_STATISTICS, RIGHT_LOOK)

struct sd_bus_message;

struct method {
	const char *name;
	const char *signature;
	const char *arguments; /* each ended by NUL, in the order of the signature */
	enum control_verb verb;
	enum right right;
};

/* NULL past the end. */
const struct method *method_at(size_t i);
/* NULL: none of that name. */
const struct method *method_find(const char *name);

/* Does a caller of @right get through? What is not in the table never does. */
bool method_is_allowed(const struct method *m, enum right right);

/* The keys of rows that the caller wants, where it does not want all: a long list becomes shorter,
 * and is made in less time. None: all. */
#define METHOD_KEYS_MAX 32
struct method_keys {
	const char *key[METHOD_KEYS_MAX];
	size_t n;
	uint64_t beginnings; /* a bit for how each begins: what has none of them is none of them */
};

/* Reads the arguments; strings are lent by the message. 0, or -EINVAL with a sentence in
 * @reterr. */
int method_read(const struct method *m, struct sd_bus_message *message, struct control_request *ret,
		struct method_keys *ret_keys, const char **reterr);
/* Without keys, all are wanted. */
bool method_keys_want(const struct method_keys *keys, const char *key);

#endif
