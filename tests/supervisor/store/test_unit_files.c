/* SPDX-License-Identifier: MIT */
#include "store/unit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define SERVICES (1u << UNIT_SERVICE)
#define TIMERS (1u << UNIT_TIMER)

/* Two directories of supd's, "etc" above "lib", and two laid out for systemd, "sd-etc" above "sd-lib". */
static char *top;
static struct unit_files *files;
static struct diag diag;
static struct unit_source source;

static void make_files(bool trusted_only)
{
	const char *const names[] = {"etc", "lib", "sd-etc", "sd-lib"};
	char *path[4];

	for (size_t i = 0; i < 4; i++)
		path[i] = test_dir_path(top, names[i]);
	files = unit_files_free(files);
	ck_assert_int_eq(unit_files_new(&(struct unit_files_config) {
				 .dirs = (const char *const[]) {path[0], path[1], NULL},
				 .systemd_dirs = (const char *const[]) {path[2], path[3], NULL},
				 .trusted_only = trusted_only,
			 }, &files), 0);
	for (size_t i = 0; i < 4; i++)
		free(path[i]); /* it has its own copies */
}

static void setup(void)
{
	umask(022);
	top = test_dir_new();
	make_files(false);
}

static void teardown(void)
{
	unit_source_done(&source);
	diag_done(&diag);
	files = unit_files_free(files);
	top = test_dir_free(top);
}

static void put(const char *name, const char *text)
{
	test_dir_write_text(top, name, text);
}

static void put_link(const char *name, const char *target)
{
	char *path = test_dir_path(top, name);

	put(name, ""); /* for the folders on the way */
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink(target, path), 0);
	free(path);
}

static void change_mode(const char *name, mode_t mode)
{
	char *path = test_dir_path(top, name);

	ck_assert_int_eq(chmod(path, mode), 0);
	free(path);
}

static void scan(void)
{
	ck_assert_int_eq(unit_files_scan(files, SERVICES | TIMERS, &diag), 0);
	ck_assert_uint_eq(diag.n, 0);
}

/* Names with a blank between them. */
static void assert_names(const char *expected)
{
	char all[2048] = "";
	const char *name;
	size_t i;

	for (i = 0; (name = unit_files_name(files, i)); i++) {
		ck_assert_uint_lt(strlen(all) + strlen(name) + 2, sizeof(all));
		strcat(strcat(all, i ? " " : ""), name);
	}
	ck_assert_uint_eq(unit_files_count(files), i);
	ck_assert_str_eq(all, expected);
}

static void read_unit(const char *name)
{
	unit_source_done(&source);
	ck_assert_int_eq(unit_files_read(files, name, &source), 0);
	ck_assert_str_eq(source.name, name);
	ck_assert_uint_eq(source.fingerprint, unit_files_fingerprint(files, name));
}

/* The pieces of a unit as "etc/a.service=text", with a blank between them. */
static void assert_pieces(const char *name, const char *expected)
{
	char all[4096] = "";

	read_unit(name);
	for (size_t i = 0; i < source.n_pieces; i++) {
		const struct unit_piece *p = &source.piece[i];

		ck_assert(str_starts(p->path, top));
		ck_assert_uint_eq(strlen(p->bytes), p->n);
		strcat(strcat(strcat(strcat(all, i ? " " : ""), p->path + strlen(top) + 1), "="), p->bytes);
	}
	ck_assert_str_eq(all, expected);
	ck_assert_uint_eq(source.problems.n, 0);
}

/* One error about that file, and nothing was read. */
static void assert_problem(const char *name, const char *file, const char *message)
{
	char *path = test_dir_path(top, file);

	read_unit(name);
	ck_assert_uint_eq(source.problems.n, 1);
	ck_assert_uint_eq(source.problems.n_errors, 1);
	ck_assert_str_eq(source.problems.entry[0].file, path);
	ck_assert_str_eq(source.problems.entry[0].message, message);
	free(path);
}

/* ---- names ---- */

START_TEST(missing_directories_are_no_problem)
{
	scan();
	assert_names("");
	ck_assert_uint_eq(unit_files_fingerprint(files, "a.service"), 0);
	ck_assert_ptr_null(unit_files_resolve(files, "a.service"));
	ck_assert_int_eq(unit_files_read(files, "a.service", &source), -ENOENT);
}
END_TEST

START_TEST(names_are_sorted_and_others_passed_over)
{
	put("lib/b.service", "x");
	put("etc/c.timer", "x");
	put("etc/a.service", "x");
	put("sd-lib/a-b@.service", "x");
	put("etc/README", "x");
	put("etc/a.service~", "x");
	put("etc/#a.service#", "x");
	put("etc/.a.service.swp", "x");
	put("etc/a.service.dpkg-new", "x");
	put("etc/d.socket", "x"); /* not asked for */
	put("etc/.#a.service", "x");
	scan();
	assert_names("a-b@.service a.service b.service c.timer");
}
END_TEST

static const char *const no_names[] = { "-e.service", "my backup.service", "\xc3\xbc.timer", "a%b.timer" };

START_TEST(a_file_whose_name_cannot_be_a_units_is_told)
{
	char path[64], said[128];

	(void) snprintf(path, sizeof(path), "etc/%s", no_names[_i]);
	(void) snprintf(said, sizeof(said), "'%s' cannot be the name of a unit, ignored", no_names[_i]);
	put(path, "x");
	ck_assert_int_eq(unit_files_scan(files, SERVICES | TIMERS, &diag), 0);
	assert_names("");
	ck_assert_uint_eq(diag.n, 1);
	ck_assert_uint_eq(diag.n_errors, 0);
	ck_assert_str_eq(diag.entry[0].message, said);
}
END_TEST

START_TEST(the_higher_directory_wins)
{
	put("etc/a.service", "1");
	put("lib/a.service", "2");
	put("sd-etc/a.service", "3");
	put("sd-lib/a.service", "4");
	put("lib/b.service", "2");
	put("sd-etc/b.service", "3");
	put("sd-lib/c.service", "4");
	scan();
	assert_names("a.service b.service c.service");
	assert_pieces("a.service", "etc/a.service=1");
	ck_assert(!source.is_systemd);
	assert_pieces("b.service", "lib/b.service=2");
	assert_pieces("c.service", "sd-lib/c.service=4");
	ck_assert(source.is_systemd);
}
END_TEST

START_TEST(a_new_scan_sees_what_changed)
{
	put("etc/a.service", "1");
	scan();
	assert_names("a.service");
	put("etc/b.service", "2");
	put("etc/a.service", "11");
	scan();
	assert_names("a.service b.service");
	assert_pieces("a.service", "etc/a.service=11");
}
END_TEST

START_TEST(a_name_longer_than_any_unit_is_passed_over)
{
	char name[256] = "etc/";

	memset(name + 4, 'a', 200);
	strcpy(name + 204, ".service.d/x.conf");
	put(name, "x");
	memset(name + 4, 'b', 245);
	strcpy(name + 249, ".d/x");
	put(name, "x");
	scan();
	assert_names("");
}
END_TEST

/* ---- masks and aliases ---- */

START_TEST(an_empty_file_or_a_link_to_dev_null_masks)
{
	put("etc/a.service", "");
	put_link("etc/b.service", "/dev/null");
	put("lib/a.service", "x");
	put("lib/b.service", "x");
	put("lib/b.service.d/x.conf", "x");
	scan();
	for (size_t i = 0; i < 2; i++) {
		read_unit(i ? "b.service" : "a.service");
		ck_assert(source.is_masked);
		ck_assert_uint_eq(source.n_pieces, 0);
		ck_assert_uint_eq(source.problems.n, 0);
		ck_assert_str_eq(unit_files_resolve(files, source.name), source.name);
	}
}
END_TEST

START_TEST(a_link_of_another_name_is_an_alias)
{
	put("lib/real.service", "x");
	put_link("etc/near.service", "../lib/real.service");
	put_link("etc/far.service", "near.service");
	put_link("etc/same.service", "/nowhere/same.service");
	put_link("etc/outside.service", "../other/elsewhere.service");
	put("other/elsewhere.service", "y");
	scan();
	ck_assert_str_eq(unit_files_resolve(files, "real.service"), "real.service");
	ck_assert_str_eq(unit_files_resolve(files, "near.service"), "real.service");
	ck_assert_str_eq(unit_files_resolve(files, "far.service"), "real.service");
	ck_assert_str_eq(unit_files_resolve(files, "same.service"), "same.service");
	/* what it leads to is in no directory of units: it is one itself */
	ck_assert_str_eq(unit_files_resolve(files, "outside.service"), "outside.service");
	assert_pieces("outside.service", "etc/outside.service=y");
}
END_TEST

START_TEST(a_link_out_of_the_unit_path_is_a_unit_of_its_own)
{
	put("lib/real.service", "real");
	put("other/real.service", "other");
	put_link("etc/b.service", "../other/real.service");
	put_link("etc/c.service", "/nonexistent/real.service");
	scan();
	ck_assert_str_eq(unit_files_resolve(files, "b.service"), "b.service");
	assert_pieces("b.service", "etc/b.service=other");
	ck_assert(source.is_outside);
	/* what is not there at all is known by its name */
	ck_assert_str_eq(unit_files_resolve(files, "c.service"), "real.service");
	assert_pieces("real.service", "lib/real.service=real");
	ck_assert(!source.is_outside);
}
END_TEST

START_TEST(the_unit_path_is_known_under_each_of_its_names)
{
	char *path = test_dir_path(top, "also-lib"), *target = test_dir_path(top, "also-lib/real.service");

	put("lib/real.service", "real");
	ck_assert_int_eq(symlink("lib", path), 0);
	put_link("etc/b.service", target);
	scan();
	ck_assert_str_eq(unit_files_resolve(files, "b.service"), "real.service");
	free(path);
	free(target);
}
END_TEST

START_TEST(aliases_across_directories_in_a_circle_are_cut)
{
	put("lib/a.service", "A");
	put("lib/b.service", "B");
	put_link("etc/a.service", "../lib/b.service");
	put_link("etc/b.service", "../lib/a.service");
	scan();
	ck_assert_ptr_nonnull(unit_files_resolve(files, "a.service"));
	ck_assert_str_eq(unit_files_resolve(files, "a.service"), unit_files_resolve(files, "b.service"));
}
END_TEST

START_TEST(an_instance_is_no_alias_of_its_template)
{
	put("lib/a@.service", "x");
	put_link("etc/a@b.service", "../lib/a@.service");
	scan();
	ck_assert_str_eq(unit_files_resolve(files, "a@b.service"), "a@b.service");
	assert_pieces("a@b.service", "etc/a@b.service=x");
}
END_TEST

/* ---- instances ---- */

START_TEST(an_instance_is_made_of_its_template)
{
	put("lib/a@.service", "0");
	put("etc/a@.service.d/1.conf", "1");
	put("lib/a@x.service.d/2.conf", "2");
	scan();
	assert_names("a@.service");
	ck_assert_str_eq(unit_files_resolve(files, "a@x.service"), "a@x.service");
	assert_pieces("a@x.service", "lib/a@.service=0 etc/a@.service.d/1.conf=1 lib/a@x.service.d/2.conf=2");
	assert_pieces("a@y.service", "lib/a@.service=0 etc/a@.service.d/1.conf=1");
	ck_assert_uint_ne(unit_files_fingerprint(files, "a@x.service"), unit_files_fingerprint(files, "a@y.service"));
	ck_assert_ptr_null(unit_files_resolve(files, "b@x.service"));
	ck_assert_int_eq(unit_files_read(files, "b@x.service", &source), -ENOENT);
}
END_TEST

START_TEST(a_file_of_its_own_outweighs_the_template)
{
	put("etc/a@.service", "template");
	put("lib/a@x.service", "own");
	scan();
	assert_names("a@.service a@x.service");
	assert_pieces("a@x.service", "lib/a@x.service=own");
}
END_TEST

START_TEST(links_make_instances)
{
	put("lib/a@.service", "0");
	put("lib/t@.timer", "T");
	put_link("etc/default.target.wants/a@x.service", "../../lib/a@.service");
	put_link("etc/other.target.requires/a@y.service", "../../lib/a@.service");
	put_link("etc/timers.target.wants/t@z.timer", "../../lib/t@.timer");
	put_link("lib/timers.target.wants/t@off.timer", "../t@.timer");
	put_link("etc/timers.target.wants/t@off.timer", "/dev/null");
	put_link("etc/default.target.wants/none@x.service", "../../lib/none@.service");
	put_link("etc/plain.service", "a@aliased.service");
	scan();
	assert_names("a@.service a@aliased.service a@x.service a@y.service plain.service t@.timer t@off.timer t@z.timer");
	assert_pieces("a@x.service", "lib/a@.service=0");
	ck_assert(source.is_wanted && source.is_linked && source.is_linked_for_good);
	assert_pieces("a@y.service", "lib/a@.service=0");
	ck_assert(!source.is_wanted && source.is_linked);
	assert_pieces("t@z.timer", "lib/t@.timer=T");
	ck_assert(source.is_wanted);
	read_unit("t@off.timer");
	ck_assert(!source.is_wanted && !source.is_linked);
	ck_assert_str_eq(unit_files_resolve(files, "plain.service"), "a@aliased.service");
}
END_TEST

START_TEST(a_template_may_be_an_alias)
{
	put("lib/real@.service", "0");
	put_link("etc/alias@.service", "../lib/real@.service");
	put_link("etc/one@x.service", "../lib/real@.service");
	put_link("etc/default.target.wants/alias@w.service", "../alias@.service");
	scan();
	ck_assert_str_eq(unit_files_resolve(files, "alias@.service"), "real@.service");
	ck_assert_str_eq(unit_files_resolve(files, "alias@x.service"), "real@x.service");
	/* one instance under another name */
	ck_assert_str_eq(unit_files_resolve(files, "one@x.service"), "real@x.service");
	ck_assert_str_eq(unit_files_resolve(files, "alias@w.service"), "real@w.service");
	assert_pieces("real@w.service", "lib/real@.service=0");
	ck_assert(source.is_wanted);
}
END_TEST

START_TEST(a_masked_template_masks_its_instances)
{
	put_link("etc/a@.service", "/dev/null");
	put("lib/a@.service", "0");
	put("lib/b@.service", "0");
	put_link("etc/b@x.service", "/dev/null");
	scan();
	read_unit("a@x.service");
	ck_assert(source.is_masked);
	read_unit("b@x.service");
	ck_assert(source.is_masked);
	assert_pieces("b@y.service", "lib/b@.service=0");
}
END_TEST

START_TEST(an_instance_changes_with_its_template)
{
	uint64_t before;

	put("lib/a@.service", "0");
	scan();
	before = unit_files_fingerprint(files, "a@x.service");
	scan();
	ck_assert_uint_eq(unit_files_fingerprint(files, "a@x.service"), before);
	put("lib/a@.service", "other");
	scan();
	ck_assert_uint_ne(unit_files_fingerprint(files, "a@x.service"), before);
	before = unit_files_fingerprint(files, "a@x.service");
	put("etc/a@.service.d/1.conf", "1");
	scan();
	ck_assert_uint_ne(unit_files_fingerprint(files, "a@x.service"), before);
}
END_TEST

START_TEST(prefixes_of_instances_and_templates_have_drop_ins)
{
	put("lib/a-b@.service", "0");
	put("etc/a-@.service.d/1.conf", "1");
	put("etc/a-@x.service.d/2.conf", "2");
	put("etc/service.d/3.conf", "3");
	/* of one file name in a directory the closer one */
	put("etc/service.d/5.conf", "kind");
	put("etc/a-@.service.d/5.conf", "prefix");
	put("etc/a-b@.service.d/5.conf", "template");
	scan();
	assert_pieces("a-b@x.service", "lib/a-b@.service=0 etc/a-@.service.d/1.conf=1 etc/a-@x.service.d/2.conf=2 "
				       "etc/service.d/3.conf=3 etc/a-b@.service.d/5.conf=template");
	assert_pieces("a-b@y.service", "lib/a-b@.service=0 etc/a-@.service.d/1.conf=1 etc/service.d/3.conf=3 "
				       "etc/a-b@.service.d/5.conf=template");
}
END_TEST

/* ---- what is wrong with files ---- */

START_TEST(bad_links_are_told)
{
	put_link("etc/loop.service", "loop2.service");
	put_link("etc/loop2.service", "loop.service");
	put_link("etc/gone.service", "/nonexistent/gone.service");
	put_link("etc/crossed.service", "x.timer");
	put("etc/x.timer", "x");
	scan();
	assert_problem("loop.service", "etc/loop.service", "is a link that leads back to itself");
	assert_problem("loop2.service", "etc/loop2.service", "is a link that leads back to itself");
	assert_problem("gone.service", "etc/gone.service", "is a link to a file that does not exist");
	assert_problem("crossed.service", "etc/crossed.service", "is a link to a unit of another kind");
	ck_assert_uint_eq(source.n_pieces, 0);
}
END_TEST

START_TEST(only_regular_files_are_opened)
{
	char *fifo = test_dir_path(top, "etc/fifo.service"), *dir = test_dir_path(top, "etc/dir.service");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	put("etc/x", "");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/etc/sock.service", top);
	ck_assert_int_eq(mkfifo(fifo, 0644), 0);
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
	put_link("etc/zero.service", "/dev/zero");
	put_link("etc/tolink.service", "fifo.service");
	scan();
	assert_problem("fifo.service", "etc/fifo.service", "is a fifo, not a regular file");
	assert_problem("dir.service", "etc/dir.service", "is a directory, not a regular file");
	assert_problem("sock.service", "etc/sock.service", "is a socket, not a regular file");
	assert_problem("zero.service", "etc/zero.service", "is a device, not a regular file");
	ck_assert_str_eq(unit_files_resolve(files, "tolink.service"), "fifo.service");
	free(fifo);
	free(dir);
	close(fd);
}
END_TEST

START_TEST(a_file_that_becomes_a_fifo_does_not_block)
{
	char *path = test_dir_path(top, "etc/a.service");

	put("etc/a.service", "x");
	scan();
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0644), 0);
	assert_problem("a.service", "etc/a.service", "is a fifo, not a regular file");
	free(path);
}
END_TEST

START_TEST(a_file_that_vanishes_is_told)
{
	char *path = test_dir_path(top, "etc/a.service");

	put("etc/a.service", "x");
	put("etc/a.service.d/1.conf", "1");
	scan();
	ck_assert_int_eq(unlink(path), 0);
	assert_problem("a.service", "etc/a.service", "has vanished");
	ck_assert_uint_eq(source.n_pieces, 0); /* the drop-in is not taken for the unit */
	free(path);
}
END_TEST

START_TEST(a_file_over_one_mebibyte_is_refused)
{
	char *bytes = malloc(UNIT_FILE_MAX + 1);

	memset(bytes, '#', UNIT_FILE_MAX + 1);
	test_dir_write(top, "etc/most.service", bytes, UNIT_FILE_MAX);
	test_dir_write(top, "etc/more.service", bytes, UNIT_FILE_MAX + 1);
	free(bytes);
	scan();
	read_unit("most.service");
	ck_assert_uint_eq(source.n_pieces, 1);
	ck_assert_uint_eq(source.piece[0].n, UNIT_FILE_MAX);
	assert_problem("more.service", "etc/more.service", "is larger than 1024 KiB");
}
END_TEST

START_TEST(bytes_are_handed_over_as_they_are)
{
	test_dir_write(top, "etc/a.service", "a\0\xff\r\n", 5);
	scan();
	read_unit("a.service");
	ck_assert_uint_eq(source.piece[0].n, 5);
	ck_assert_mem_eq(source.piece[0].bytes, "a\0\xff\r\n", 5);
}
END_TEST

START_TEST(a_directory_that_is_a_file_is_told)
{
	put("etc", "x");
	put("lib/a.service", "x");
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	assert_names("a.service");
	ck_assert_uint_eq(diag.n_errors, 1);
	ck_assert_str_eq(diag.entry[0].message, "cannot be read: Not a directory");
}
END_TEST

START_TEST(a_file_that_may_not_be_read_is_told)
{
	if (geteuid() == 0)
		return; /* nothing stops root */
	put("etc/a.service", "x");
	change_mode("etc/a.service", 0);
	scan();
	assert_problem("a.service", "etc/a.service", "cannot be opened: Permission denied");
}
END_TEST

/* ---- whom root trusts ---- */

START_TEST(root_refuses_what_others_may_write)
{
	char *path = test_dir_path(top, "etc/owned.service");

	put("etc/good.service", "x");
	put("etc/bad.service", "x");
	put("etc/group.service", "x");
	put("etc/owned.service", "x");
	change_mode("etc/bad.service", 0666);
	change_mode("etc/group.service", 0664);
	if (geteuid() != 0 || chown(path, 1234, 0) < 0) {
		free(path);
		return; /* only root can make files of root's */
	}
	free(path);
	make_files(true);
	scan();
	assert_pieces("good.service", "etc/good.service=x");
	assert_problem("bad.service", "etc/bad.service", "is writable by others (mode 0666); chmod go-w it");
	ck_assert_uint_eq(source.n_pieces, 0);
	assert_problem("group.service", "etc/group.service", "is writable by others (mode 0664); chmod go-w it");
	assert_problem("owned.service", "etc/owned.service", "belongs to uid 1234, not to root; chown it");
	make_files(false);
	scan();
	assert_pieces("bad.service", "etc/bad.service=x");
}
END_TEST

START_TEST(root_refuses_directories_that_others_may_write)
{
	if (geteuid() != 0)
		return;
	put("etc/a.service", "x");
	put("lib/b.service", "x");
	put("lib/b.service.d/1.conf", "y");
	put("etc/default.target.wants/b.service", "x");
	change_mode("etc", 0777);
	change_mode("lib/b.service.d", 0775);
	make_files(true);
	scan();
	assert_problem("a.service", "etc", "is writable by others (mode 0777); chmod go-w it");
	ck_assert_uint_eq(source.n_pieces, 0);
	assert_problem("b.service", "lib/b.service.d", "is writable by others (mode 0775); chmod go-w it");
	ck_assert_uint_eq(source.n_pieces, 1);
	change_mode("etc", 0755);
	change_mode("etc/default.target.wants", 0777);
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	ck_assert_uint_eq(diag.n_warnings, 1);
	read_unit("b.service");
	ck_assert(!source.is_wanted);
}
END_TEST

START_TEST(root_judges_what_a_link_leads_to)
{
	if (geteuid() != 0)
		return;
	put("elsewhere/a.service", "x");
	put_link("etc/a.service", "../elsewhere/a.service");
	make_files(true);
	scan();
	assert_pieces("a.service", "etc/a.service=x");
	change_mode("elsewhere/a.service", 0622);
	assert_problem("a.service", "etc/a.service", "is writable by others (mode 0622); chmod go-w it");
}
END_TEST

/* ---- drop-ins ---- */

START_TEST(drop_ins_merge_by_file_name)
{
	put("lib/a.service", "0");
	put("lib/a.service.d/20.conf", "lib20");
	put("lib/a.service.d/10.conf", "lib10");
	put("etc/a.service.d/20.conf", "etc20");
	put("sd-lib/a.service.d/30.conf", "sd30");
	put("etc/a.service.d/README", "no");
	put("etc/a.service.d/.hidden.conf", "no");
	put("etc/a.service.d/40.conf~", "no");
	put("etc/b.service.d/10.conf", "another's");
	scan();
	assert_names("a.service");
	assert_pieces("a.service", "lib/a.service=0 lib/a.service.d/10.conf=lib10 etc/a.service.d/20.conf=etc20 "
				   "sd-lib/a.service.d/30.conf=sd30");
}
END_TEST

START_TEST(a_masked_drop_in_hides_those_below)
{
	put("lib/a.service", "0");
	put("lib/a.service.d/10.conf", "x");
	put("lib/a.service.d/20.conf", "x");
	put("lib/a.service.d/30.conf", "x");
	put("etc/a.service.d/10.conf", "");
	put_link("etc/a.service.d/20.conf", "/dev/null");
	scan();
	assert_pieces("a.service", "lib/a.service=0 lib/a.service.d/30.conf=x");
}
END_TEST

START_TEST(prefixes_and_kinds_have_drop_ins_too)
{
	put("lib/a-b-c.service", "0");
	put("lib/a-b-c.timer", "0");
	put("lib/service.d/1.conf", "type1");
	put("lib/service.d/2.conf", "type2");
	put("etc/service.d/9.conf", "type9");
	put("lib/a-.service.d/2.conf", "a2");
	put("lib/a-.service.d/3.conf", "a3");
	put("lib/a-b-.service.d/3.conf", "ab3");
	put("lib/a-b-.service.d/4.conf", "ab4");
	put("lib/a-b-c.service.d/4.conf", "abc4");
	put("etc/a-.service.d/4.conf", "etc-a4"); /* the higher directory, though the name is farther */
	put("lib/a-b-c-.service.d/5.conf", "no");
	put("lib/b-.service.d/5.conf", "no");
	put("lib/timer.d/1.conf", "timer1");
	scan();
	assert_pieces("a-b-c.service",
		      "lib/a-b-c.service=0 lib/service.d/1.conf=type1 lib/a-.service.d/2.conf=a2 "
		      "lib/a-b-.service.d/3.conf=ab3 etc/a-.service.d/4.conf=etc-a4 etc/service.d/9.conf=type9");
	assert_pieces("a-b-c.timer", "lib/a-b-c.timer=0 lib/timer.d/1.conf=timer1");
}
END_TEST

START_TEST(an_instance_has_its_templates_drop_ins)
{
	put("lib/a@.service", "0");
	put_link("etc/a@b.service", "../lib/a@.service");
	put("etc/a@.service.d/1.conf", "template");
	put("lib/a@b.service.d/2.conf", "instance");
	scan();
	assert_pieces("a@b.service", "etc/a@b.service=0 etc/a@.service.d/1.conf=template "
				     "lib/a@b.service.d/2.conf=instance");
}
END_TEST

START_TEST(a_bad_drop_in_is_told_and_the_rest_read)
{
	char *fifo = test_dir_path(top, "etc/a.service.d/2.conf");

	put("etc/a.service", "0");
	put("etc/a.service.d/1.conf", "1");
	put("etc/a.service.d/3.conf", "3");
	ck_assert_int_eq(mkfifo(fifo, 0644), 0);
	free(fifo);
	scan();
	assert_problem("a.service", "etc/a.service.d/2.conf", "is a fifo, not a regular file");
	ck_assert_uint_eq(source.n_pieces, 3);
}
END_TEST

START_TEST(a_dash_at_either_end_of_a_prefix_is_no_danger)
{
	put("etc/a-.service", "0");
	put("etc/a-.service.d/1.conf", "1");
	put("etc/x.service", "0");
	put("etc/b--c.service", "0");
	put("etc/b-.service.d/1.conf", "b1");
	put("etc/b--.service.d/2.conf", "b2");
	scan();
	assert_pieces("a-.service", "etc/a-.service=0 etc/a-.service.d/1.conf=1");
	assert_pieces("x.service", "etc/x.service=0");
	assert_pieces("b--c.service", "etc/b--c.service=0 etc/b-.service.d/1.conf=b1 etc/b--.service.d/2.conf=b2");
}
END_TEST

/* ---- what is wanted ---- */

static bool is_wanted(const char *name)
{
	read_unit(name);
	return source.is_wanted;
}

START_TEST(links_say_what_is_wanted)
{
	put("lib/a.service", "x");
	put("lib/b.service", "x");
	put("sd-lib/c.service", "x");
	put("sd-lib/d.service", "x");
	put("sd-lib/e.service", "x");
	put("sd-lib/t.timer", "x");
	put("sd-lib/u.timer", "x");
	put("sd-lib/v.timer", "x");
	put_link("etc/default.target.wants/a.service", "../../lib/a.service");
	put_link("etc/multi-user.target.wants/b.service", "../../lib/b.service"); /* not in supd's own */
	put_link("sd-etc/multi-user.target.wants/c.service", "/lib/systemd/system/c.service");
	put_link("sd-lib/graphical.target.wants/d.service", "../d.service");
	put_link("sd-etc/sysinit.target.wants/e.service", "/lib/systemd/system/e.service");
	put_link("sd-etc/timers.target.wants/t.timer", "/lib/systemd/system/t.timer");
	put_link("sd-etc/multi-user.target.wants/u.timer", "/lib/systemd/system/u.timer");
	put_link("sd-etc/timers.target.wants/nosuch.timer", "/lib/systemd/system/nosuch.timer");
	scan();
	assert_names("a.service b.service c.service d.service e.service t.timer u.timer v.timer");
	ck_assert(is_wanted("a.service"));
	ck_assert(!is_wanted("b.service"));
	ck_assert(is_wanted("c.service"));
	ck_assert(is_wanted("d.service"));
	ck_assert(!is_wanted("e.service"));
	ck_assert(is_wanted("t.timer"));
	ck_assert(is_wanted("u.timer"));
	ck_assert(!is_wanted("v.timer"));
}
END_TEST

START_TEST(a_link_to_dev_null_unwants)
{
	put("lib/a.service", "x");
	put("sd-lib/t.timer", "x");
	put("sd-lib/u.timer", "x");
	put_link("lib/default.target.wants/a.service", "../a.service");
	put_link("etc/default.target.wants/a.service", "/dev/null");
	put_link("sd-lib/timers.target.wants/t.timer", "../t.timer");
	put_link("sd-etc/timers.target.wants/t.timer", "/dev/null");
	put_link("sd-lib/timers.target.wants/u.timer", "../u.timer");
	put_link("sd-etc/other.target.wants/u.timer", "/dev/null");
	scan();
	ck_assert(!is_wanted("a.service"));
	ck_assert(!is_wanted("t.timer"));
	ck_assert(is_wanted("u.timer"));
}
END_TEST

START_TEST(what_is_wanted_by_an_alias_is_wanted)
{
	put("sd-lib/a.service", "x");
	put_link("sd-etc/alias.service", "/lib/systemd/system/a.service");
	put_link("sd-etc/multi-user.target.wants/alias.service", "../alias.service");
	scan();
	ck_assert(is_wanted("a.service"));
}
END_TEST

/* ---- fingerprints ---- */

static uint64_t fingerprint_after_scan(void)
{
	scan();
	return unit_files_fingerprint(files, "a-b.service");
}

START_TEST(links_say_what_a_unit_wants_and_requires)
{
	uint64_t before;

	put("lib/all.target", "[Unit]\n");
	put("lib/a.service", "x");
	put("lib/b.service", "x");
	put("lib/c.service", "x");
	put_link("etc/all.target.requires/a.service", "../nowhere");
	put_link("lib/all.target.wants/b.service", "../b.service");
	put_link("lib/all.target.wants/c.service", "../c.service");
	put_link("etc/all.target.wants/c.service", "/dev/null");
	put_link("lib/none.target.wants/c.service", "../c.service");
	scan();
	ck_assert_int_eq(unit_files_scan(files, SERVICES | 1u << UNIT_TARGET, &diag), 0);
	before = unit_files_fingerprint(files, "all.target");
	ck_assert_int_eq(unit_files_read(files, "all.target", &source), 0);
	ck_assert_uint_eq(source.n_pulls, 2);
	ck_assert_str_eq(source.pull[0].unit, "a.service");
	ck_assert(source.pull[0].is_required);
	ck_assert_str_eq(source.pull[1].unit, "b.service");
	ck_assert(!source.pull[1].is_required);
	unit_source_done(&source);
	put_link("etc/all.target.wants/b.service", "/dev/null");
	scan();
	ck_assert_int_eq(unit_files_scan(files, SERVICES | 1u << UNIT_TARGET, &diag), 0);
	ck_assert_uint_ne(unit_files_fingerprint(files, "all.target"), before);
}
END_TEST

START_TEST(a_fingerprint_changes_with_whatever_a_unit_is_made_of)
{
	uint64_t before, now;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000, .tv_nsec = 5}};
	char *path = test_dir_path(top, "lib/a-b.service");

#define CHANGES(statement)                        \
	do {                                      \
		statement;                        \
		now = fingerprint_after_scan();   \
		ck_assert_uint_ne(now, before);   \
		ck_assert_uint_eq(fingerprint_after_scan(), now); \
		before = now;                     \
	} while (0)

	put("lib/a-b.service", "x");
	before = fingerprint_after_scan();
	ck_assert_uint_ne(before, 0);
	put("lib/other.service", "x");
	ck_assert_uint_eq(fingerprint_after_scan(), before);
	CHANGES(put("lib/a-b.service", "xx"));
	CHANGES(utimensat(AT_FDCWD, path, times, 0));
	CHANGES(change_mode("lib/a-b.service", 0600));
	CHANGES(put("lib/a-b.service.d/1.conf", "x"));
	CHANGES(put("lib/a-.service.d/2.conf", "x"));
	CHANGES(put("etc/service.d/3.conf", "x"));
	CHANGES(put("etc/a-b.service.d/1.conf", "y"));
	CHANGES(put("etc/a-b.service.d/1.conf", ""));
	CHANGES(put_link("etc/default.target.wants/a-b.service", "../../lib/a-b.service"));
	CHANGES(put("etc/a-b.service", "x"));
	CHANGES(put("etc/a-b.service", ""));
#undef CHANGES
	free(path);
}
END_TEST

static uint64_t revision_after_scan(void)
{
	scan();
	return unit_files_revision(files);
}

/* Whatever it is: a reload that has seen this number already may pass over everything. */
START_TEST(the_revision_changes_with_whatever_a_scan_finds)
{
	uint64_t before, now;
	char *path = test_dir_path(top, "lib/a.service");

#define CHANGES(statement)                        \
	do {                                      \
		statement;                        \
		now = revision_after_scan();      \
		ck_assert_uint_ne(now, before);   \
		ck_assert_uint_eq(revision_after_scan(), now); \
		before = now;                     \
	} while (0)

	before = revision_after_scan();
	ck_assert_uint_eq(revision_after_scan(), before);
	CHANGES(put("lib/a.service", "x"));
	CHANGES(put("lib/a.service", "y"));
	CHANGES(put("lib/b@.service", "x"));
	CHANGES(put("lib/b@one.service.d/1.conf", "x"));
	CHANGES(put("lib/b@one.service.d/1.conf", "y"));
	CHANGES(put_link("etc/default.target.wants/a.service", "../../lib/a.service"));
	CHANGES(put_link("etc/none.target.wants/a.service", "../../lib/a.service"));
	CHANGES(put_link("lib/alias.service", "a.service"));
	CHANGES(put("etc/a.service", ""));
	CHANGES(change_mode("lib/a.service", 0600));
	CHANGES(ck_assert_int_eq(unlink(path), 0));
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	before = unit_files_revision(files);
	put("lib/a.timer", "x");
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	ck_assert_uint_eq(unit_files_revision(files), before);
	ck_assert_uint_ne(revision_after_scan(), before);
#undef CHANGES
	free(path);
}
END_TEST

START_TEST(the_same_bytes_in_a_new_file_are_noticed)
{
	char *path = test_dir_path(top, "lib/a-b.service"), *fresh = test_dir_path(top, "lib/new");
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	uint64_t before;

	put("lib/a-b.service", "one");
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	before = fingerprint_after_scan();
	put("lib/new", "two");
	ck_assert_int_eq(utimensat(AT_FDCWD, fresh, times, 0), 0);
	ck_assert_int_eq(rename(fresh, path), 0);
	ck_assert_uint_ne(fingerprint_after_scan(), before);
	free(path);
	free(fresh);
}
END_TEST

/* ---- a few names ---- */

/* Whatever it found, a scan of everything finds the same. */
static void scan_only(const char *name, const char *other)
{
	const char *const names[] = {name, other, NULL};
	uint64_t revision;

	ck_assert_int_eq(unit_files_scan_only(files, SERVICES | TIMERS, names, &diag), 0);
	revision = unit_files_revision(files);
	ck_assert_int_eq(unit_files_scan_only(files, SERVICES | TIMERS, names, &diag), 0);
	ck_assert_uint_eq(unit_files_revision(files), revision);
	ck_assert_uint_eq(revision_after_scan(), revision);
}

static void drop(const char *name)
{
	_cleanup_free_ char *path = test_dir_path(top, name);

	ck_assert_int_eq(unlink(path), 0);
}

START_TEST(a_few_units_can_be_looked_for_alone)
{
	put("lib/b.service", "x");
	put("lib/z.service", "x");
	scan();
	put("etc/c.service", "x");
	put("etc/c.timer", "x");
	put("etc/elsewhere.service", "x");
	ck_assert_int_eq(unit_files_scan_only(files, SERVICES | TIMERS,
					      (const char *const[]) {"c.service", "c.timer", "none.service", NULL}, &diag), 0);
	ck_assert_uint_eq(unit_files_count(files), 4); /* what else is new was not looked for */
	ck_assert_str_eq(unit_files_name(files, 1), "c.service");
	ck_assert_str_eq(unit_files_name(files, 2), "c.timer");
	ck_assert_int_eq(unit_files_read(files, "c.service", &source), 0);
	ck_assert_str_eq(source.piece[0].bytes, "x");
	drop("etc/elsewhere.service");
	scan_only("c.service", "c.timer");
	drop("etc/c.service");
	drop("etc/c.timer");
	scan_only("c.service", "c.timer");
	ck_assert_uint_eq(unit_files_count(files), 2);
	ck_assert_uint_eq(unit_files_fingerprint(files, "c.service"), 0);
}
END_TEST

/* Each is more than its own file. */
START_TEST(what_a_few_units_are_to_others_is_seen)
{
	uint64_t before;

	put("lib/a.service", "x");
	put("lib/new.service.d/1.conf", "x");
	put("lib/service.d/2.conf", "x");
	put_link("etc/default.target.wants/new.service", "../../lib/new.service");
	put_link("etc/alias.service", "other.service");
	put_link("lib/owner.service.wants/a.service", "../a.service");
	scan();
	put("lib/plain.service", "x");
	scan_only("plain.service", NULL);
	put("lib/new.service", "x");
	scan_only("new.service", NULL);
	ck_assert_int_eq(unit_files_read(files, "new.service", &source), 0);
	ck_assert(source.is_wanted);
	ck_assert_uint_eq(source.n_pieces, 3);
	put("lib/other.service", "x");
	scan_only("other.service", NULL);
	ck_assert_str_eq(unit_files_resolve(files, "alias.service"), "other.service");
	put("lib/owner.service", "x");
	scan_only("owner.service", NULL);
	put("lib/a@.service", "x");
	scan_only("a@.service", "a@b.service");
	put_link("etc/link.service", "../lib/a.service");
	scan_only("link.service", NULL);
	before = unit_files_fingerprint(files, "a.service");
	put("etc/a.service", "above");
	scan_only("a.service", NULL);
	ck_assert_uint_ne(unit_files_fingerprint(files, "a.service"), before);
	drop("lib/new.service");
	scan_only("new.service", NULL);
	drop("lib/other.service");
	scan_only("other.service", NULL);
	drop("lib/owner.service");
	scan_only("owner.service", NULL);
	drop("etc/a.service");
	drop("lib/plain.service");
	scan_only("a.service", "plain.service");
	ck_assert_ptr_null(unit_files_resolve(files, "plain.service"));
}
END_TEST

START_TEST(of_kinds_that_are_not_asked_for_none_is_looked_for_alone)
{
	const char *const names[] = {"a.service", "a.timer", NULL};

	put("lib/b.service", "x");
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	put("lib/a.service", "x");
	put("lib/a.timer", "x");
	ck_assert_int_eq(unit_files_scan_only(files, SERVICES, names, &diag), 0);
	ck_assert_uint_eq(unit_files_count(files), 2);
	ck_assert_int_eq(unit_files_scan_only(files, SERVICES | TIMERS, names, &diag), 0);
	ck_assert_uint_eq(unit_files_count(files), 3);
}
END_TEST

START_TEST(what_was_found_ahead_is_older_than_a_few_that_were_looked_for)
{
	struct unit_scan *ahead;

	put("lib/b.service", "x");
	scan();
	ck_assert_int_eq(unit_scan_begin(files, SERVICES | TIMERS, &ahead), 0);
	unit_scan_make(ahead);
	put("lib/a.service", "x");
	ck_assert_int_eq(unit_files_scan_only(files, SERVICES | TIMERS, (const char *const[]) {"a.service", NULL}, &diag), 0);
	unit_scan_give(files, ahead);
	scan();
	ck_assert_uint_eq(unit_files_count(files), 2);
}
END_TEST

/* ---- beside the loop ---- */

#define MANY 2500 /* enough for several threads */

START_TEST(very_many_files_are_all_looked_at)
{
	uint64_t before;
	char name[64];

	for (unsigned i = 0; i < MANY; i++) {
		(void) snprintf(name, sizeof(name), "lib/unit%04u.service", i);
		put(name, i % 100 ? "x" : "");
	}
	put_link("lib/unit0002.service", "unit0003.service");
	before = revision_after_scan();
	ck_assert_uint_eq(unit_files_count(files), MANY);
	ck_assert_uint_eq(revision_after_scan(), before);
	for (unsigned i = 0; i < MANY; i++) {
		(void) snprintf(name, sizeof(name), "unit%04u.service", i);
		ck_assert_str_eq(unit_files_name(files, i), name);
		ck_assert_int_eq(unit_files_read(files, name, &source), 0);
		ck_assert_int_eq(source.is_masked, i % 100 == 0);
		unit_source_done(&source);
	}
	ck_assert_str_eq(unit_files_resolve(files, "unit0002.service"), "unit0003.service");
	put("lib/unit2345.service", "y");
	ck_assert_uint_ne(revision_after_scan(), before);
}
END_TEST

static struct unit_scan *scan_ahead(unsigned kinds)
{
	struct unit_scan *ahead;

	ck_assert_int_eq(unit_scan_begin(files, kinds, &ahead), 0);
	unit_scan_make(ahead);
	return ahead;
}

START_TEST(what_was_found_ahead_is_what_the_next_scan_finds)
{
	put("lib/a.service", "x");
	unit_scan_give(files, scan_ahead(SERVICES));
	put("lib/b.service", "x");
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	ck_assert_str_eq(unit_files_name(files, 0), "a.service");
	ck_assert_ptr_null(unit_files_name(files, 1));
	/* Only that one. */
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	ck_assert_uint_eq(unit_files_count(files), 2);
}
END_TEST

START_TEST(what_was_found_ahead_of_a_problem_is_told)
{
	put("lib", "no directory");
	unit_scan_give(files, scan_ahead(SERVICES));
	ck_assert_uint_eq(diag.n, 0);
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	ck_assert_uint_eq(diag.n_errors, 1);
}
END_TEST

START_TEST(what_another_scan_has_overtaken_is_passed_over)
{
	struct unit_scan *ahead;

	put("lib/a.service", "x");
	ahead = scan_ahead(SERVICES);
	put("lib/b.service", "x");
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	unit_scan_give(files, ahead);
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	ck_assert_uint_eq(unit_files_count(files), 2);
}
END_TEST

START_TEST(other_kinds_are_looked_for_anew)
{
	put("lib/a.service", "x");
	put("lib/a.timer", "x");
	unit_scan_give(files, scan_ahead(SERVICES));
	scan();
	ck_assert_uint_eq(unit_files_count(files), 2);
	/* And none that nobody asks for is left over. */
	unit_scan_give(files, scan_ahead(SERVICES));
	unit_scan_give(files, scan_ahead(SERVICES));
}
END_TEST

/* ---- kinds ---- */

START_TEST(kinds_that_are_not_asked_for_leave_no_trace)
{
	put("lib/a.service", "x");
	put("lib/a.timer", "x");
	put("lib/a.timer.d/1.conf", "x");
	put("lib/timer.d/1.conf", "x");
	put_link("sd-etc/timers.target.wants/a.timer", "../a.timer");
	put("lib/t.target", "x");
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	assert_names("a.service");
	ck_assert_uint_eq(unit_files_fingerprint(files, "a.timer"), 0);
	ck_assert_int_eq(unit_files_read(files, "a.timer", &source), -ENOENT);
	ck_assert_int_eq(unit_files_scan(files, TIMERS, &diag), 0);
	assert_names("a.timer");
	assert_pieces("a.timer", "lib/a.timer=x lib/a.timer.d/1.conf=x");
	ck_assert_int_eq(unit_files_scan(files, SERVICES | 1u << UNIT_TARGET, &diag), 0);
	assert_names("a.service t.target");
	ck_assert_uint_eq(diag.n, 0);
}
END_TEST

START_TEST(a_directory_of_a_gated_kind_is_not_opened)
{
	char *path = test_dir_path(top, "lib/a.timer.d");

	put("lib/a.timer.d/1.conf", "x");
	if (geteuid() == 0) {
		free(path);
		return; /* a directory that may not be read stops others only */
	}
	ck_assert_int_eq(chmod(path, 0), 0);
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), 0);
	ck_assert_uint_eq(diag.n, 0);
	ck_assert_int_eq(unit_files_scan(files, TIMERS, &diag), 0);
	ck_assert_uint_eq(diag.n_errors, 1);
	ck_assert_int_eq(chmod(path, 0755), 0);
	free(path);
}
END_TEST

/* ---- failures of the system ---- */

START_TEST(a_failed_scan_leaves_the_index_as_it_was)
{
	struct rlimit before, none;

	put("etc/a.service", "x");
	scan();
	put("etc/b.service", "x");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(unit_files_scan(files, SERVICES, &diag), -EMFILE);
	ck_assert_int_eq(unit_files_read(files, "a.service", &source), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_uint_eq(diag.n, 0);
	assert_names("a.service");
	assert_pieces("a.service", "etc/a.service=x");
}
END_TEST

/* ---- one file ---- */

START_TEST(a_file_can_be_read_by_its_path)
{
	char *path = test_dir_path(top, "somewhere/a.service"), *missing = test_dir_path(top, "b.service");

	put("somewhere/a.service", "x");
	put("somewhere/a.service.d/1.conf", "y");
	change_mode("somewhere/a.service", 0666);
	ck_assert_int_eq(unit_files_read_path(path, &source), 0);
	ck_assert_str_eq(source.name, "a.service");
	ck_assert_uint_eq(source.n_pieces, 1);
	ck_assert_str_eq(source.piece[0].path, path);
	ck_assert_str_eq(source.piece[0].bytes, "x");
	ck_assert_uint_eq(source.problems.n, 0);
	unit_source_done(&source);
	ck_assert_int_eq(unit_files_read_path(missing, &source), -ENOENT);
	ck_assert_int_eq(unit_files_read_path("/dev/null", &source), 0);
	ck_assert(source.is_masked);
	unit_source_done(&source);
	ck_assert_int_eq(unit_files_read_path("/dev/zero", &source), 0);
	ck_assert_uint_eq(source.problems.n_errors, 1);
	unit_source_done(&source);
	ck_assert_int_eq(unit_files_read_path(top, &source), 0);
	ck_assert_str_eq(source.problems.entry[0].message, "is a directory, not a regular file");
	free(path);
	free(missing);
}
END_TEST

static Suite *unit_files_suite(void)
{
	Suite *s = suite_create("unit_files");
	TCase *t = tcase_create("unit_files");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, missing_directories_are_no_problem);
	tcase_add_test(t, names_are_sorted_and_others_passed_over);
	tcase_add_loop_test(t, a_file_whose_name_cannot_be_a_units_is_told, 0, ELEMENTS(no_names));
	tcase_add_test(t, the_higher_directory_wins);
	tcase_add_test(t, a_new_scan_sees_what_changed);
	tcase_add_test(t, a_name_longer_than_any_unit_is_passed_over);
	tcase_add_test(t, an_empty_file_or_a_link_to_dev_null_masks);
	tcase_add_test(t, a_link_of_another_name_is_an_alias);
	tcase_add_test(t, aliases_across_directories_in_a_circle_are_cut);
	tcase_add_test(t, an_instance_is_no_alias_of_its_template);
	tcase_add_test(t, a_link_out_of_the_unit_path_is_a_unit_of_its_own);
	tcase_add_test(t, the_unit_path_is_known_under_each_of_its_names);
	tcase_add_test(t, an_instance_is_made_of_its_template);
	tcase_add_test(t, a_file_of_its_own_outweighs_the_template);
	tcase_add_test(t, links_make_instances);
	tcase_add_test(t, a_template_may_be_an_alias);
	tcase_add_test(t, a_masked_template_masks_its_instances);
	tcase_add_test(t, an_instance_changes_with_its_template);
	tcase_add_test(t, prefixes_of_instances_and_templates_have_drop_ins);
	tcase_add_test(t, bad_links_are_told);
	tcase_add_test(t, only_regular_files_are_opened);
	tcase_add_test(t, a_file_that_becomes_a_fifo_does_not_block);
	tcase_add_test(t, a_file_that_vanishes_is_told);
	tcase_add_test(t, a_file_over_one_mebibyte_is_refused);
	tcase_add_test(t, bytes_are_handed_over_as_they_are);
	tcase_add_test(t, a_directory_that_is_a_file_is_told);
	tcase_add_test(t, a_file_that_may_not_be_read_is_told);
	tcase_add_test(t, root_refuses_what_others_may_write);
	tcase_add_test(t, root_refuses_directories_that_others_may_write);
	tcase_add_test(t, root_judges_what_a_link_leads_to);
	tcase_add_test(t, drop_ins_merge_by_file_name);
	tcase_add_test(t, a_masked_drop_in_hides_those_below);
	tcase_add_test(t, prefixes_and_kinds_have_drop_ins_too);
	tcase_add_test(t, an_instance_has_its_templates_drop_ins);
	tcase_add_test(t, a_bad_drop_in_is_told_and_the_rest_read);
	tcase_add_test(t, a_dash_at_either_end_of_a_prefix_is_no_danger);
	tcase_add_test(t, links_say_what_is_wanted);
	tcase_add_test(t, a_link_to_dev_null_unwants);
	tcase_add_test(t, what_is_wanted_by_an_alias_is_wanted);
	tcase_add_test(t, links_say_what_a_unit_wants_and_requires);
	tcase_add_test(t, a_fingerprint_changes_with_whatever_a_unit_is_made_of);
	tcase_add_test(t, the_revision_changes_with_whatever_a_scan_finds);
	tcase_add_test(t, the_same_bytes_in_a_new_file_are_noticed);
	tcase_add_test(t, a_few_units_can_be_looked_for_alone);
	tcase_add_test(t, what_a_few_units_are_to_others_is_seen);
	tcase_add_test(t, of_kinds_that_are_not_asked_for_none_is_looked_for_alone);
	tcase_add_test(t, what_was_found_ahead_is_older_than_a_few_that_were_looked_for);
	tcase_add_test(t, very_many_files_are_all_looked_at);
	tcase_add_test(t, what_was_found_ahead_is_what_the_next_scan_finds);
	tcase_add_test(t, what_was_found_ahead_of_a_problem_is_told);
	tcase_add_test(t, what_another_scan_has_overtaken_is_passed_over);
	tcase_add_test(t, other_kinds_are_looked_for_anew);
	tcase_add_test(t, kinds_that_are_not_asked_for_leave_no_trace);
	tcase_add_test(t, a_directory_of_a_gated_kind_is_not_opened);
	tcase_add_test(t, a_failed_scan_leaves_the_index_as_it_was);
	tcase_add_test(t, a_file_can_be_read_by_its_path);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(unit_files_suite)
