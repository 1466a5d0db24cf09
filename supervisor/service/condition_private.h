/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_CONDITION_PRIVATE_H
#define SUPD_SERVICE_CONDITION_PRIVATE_H

/* Inside service/: how the values of conditions are read, for who checks them and for who judges
 * them. Each returns false, or -EINVAL, where a value makes no sense. */

#include "base/usec.h"
#include "service/condition.h"
#include "service/version.h"

/* ">= 5 <7": one comparison a call, the version in @arena. 1, 0 at the end, -EINVAL, -ENOMEM.
 * @is_first: the version may stand apart from its operator. */
struct version_test {
	enum comparison comparison;
	const char *version;
};
int version_test_next(const char **p, bool is_first, struct arena *arena, struct version_test *ret);

/* "ID=debian VERSION_ID>=12": one field a call. As above. */
struct field_test {
	const char *field;
	enum comparison comparison;
	const char *value;
};
int field_test_next(const char **p, struct arena *arena, struct field_test *ret);

/* "smbios-field(FIELD OPERATOR VALUE)", into @arena. 0, -EINVAL, -ENOMEM. */
int smbios_test_read(const char *s, struct arena *arena, struct field_test *ret);

/* ">= 2", "1.5G". Without an operator: at least. */
struct number_test {
	enum comparison comparison;
	uint64_t number;
};
bool cpus_test_read(const char *s, struct number_test *ret);
bool memory_test_read(const char *s, struct number_test *ret);

/* "[SLICE:]10%/1min" */
struct pressure_test {
	bool has_slice;
	unsigned limit;   /* in 1/100 % */
	unsigned seconds; /* 10, 60, 300 */
};
bool pressure_test_read(const char *s, struct pressure_test *ret);

/* "[kernel|systemd|glibc] >= 5": *@p moves behind the name. */
enum version_of { VERSION_OF_KERNEL, VERSION_OF_SYSTEMD, VERSION_OF_GLIBC };
enum version_of version_of_read(const char **p);

/* CAP_SYS_ADMIN, or its number. */
bool capability_read(const char *s, unsigned *ret);
/* A name of a controller that systemd knows. */
bool controller_is_known(const char *word, size_t n);

#endif
