/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_VALUES_H
#define SUPD_BASE_VALUES_H

/* What people write behind Key=: one strict parser for each kind of value, used for units of every
 * kind and for supd.conf. Each returns 0 or -EINVAL (-ERANGE where a number is too large); @ret
 * only on success. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/usec.h"

int value_bool(const char *s, bool *ret); /* 1 yes y true t on · 0 no n false f off, any case */
int value_unsigned(const char *s, uint64_t max, uint64_t *ret); /* strict decimal */
int value_signed(const char *s, int64_t min, int64_t max, int64_t *ret);
int value_mode(const char *s, mode_t *ret); /* octal, at most 07777 */
/* "4096", "1.5M": one number; K M G T P E count by 1000 */
int value_size_1000(const char *s, uint64_t *ret);
int value_size(const char *s,
	       uint64_t *ret); /* bytes: "4096", "1.5G", "1G 512M"; K M G T P E count by 1024 */
int value_span(const char *s,
	       usec_t *ret); /* timespan; bare number: seconds; "infinity": USEC_NEVER */
int value_signal(const char *s, int *ret);  /* SIGTERM, TERM, 15, RTMIN+3 */
/* "TERM", "RTMIN+3", as systemd writes EXIT_STATUS=; lends @buf or a constant. */
const char *value_signal_name(int signal, char buf[16]);

/* One word of a list, quoted systemd's way ("…", '…', C escapes; systemd.syntax(7), "Quoting");
 * advances *@p. 1: a word, in the arena; 0: the end; -EINVAL: unbalanced quotes or a bad escape;
 * -ENOMEM. */
enum value_word_flags {
	VALUE_WORD_PLAIN = 0,
	VALUE_WORD_KEEP_BACKSLASH = 1 << 0, /* an unknown escape stays as it stands */
	VALUE_WORD_RAW = 1 << 1,            /* no escapes at all, quotes only */
};
int value_word(const char **p, enum value_word_flags flags, struct arena *arena, char **ret);
/* The whole of @s with its C escapes understood, blanks and quotes as they stand; in the arena. 0,
 * -ENOMEM, or -EINVAL: a bad escape. */
int value_unescape(const char *s, struct arena *arena, char **ret);

#endif
