/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files are removed as they were seen, or not at all, whatever is done with their names meanwhile.
 */
#include "ship/run/remove.h"

#include "support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

/* The folder of the test is the current one. */
static int enter(void **state)
{
    return folder_setup(state) != 0 || chdir(folder_path(".")) != 0;
}

static int leave(void **state)
{
    return chdir("/") != 0 || folder_teardown(state) != 0;
}

static struct stat make(const char *path, const char *text)
{
    struct stat facts;
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(lstat(path, &facts), 0);
    return facts;
}

/* It stays, under its name, and nothing else is there. */
static void assert_stays(const char *path, const struct stat *facts)
{
    char aside[64];

    errno = EINVAL;
    assert_false(etwas_ship_remove(path, facts));
    assert_int_equal(errno, 0);
    assert_int_equal(faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW), 0);
    (void)snprintf(aside, sizeof aside, "going-%ld.etl", (long)getpid());
    assert_int_equal(faccessat(AT_FDCWD, aside, F_OK, AT_SYMLINK_NOFOLLOW), -1);
}

static void what_is_as_it_was_goes(void **state)
{
    char longest[256];
    struct stat facts = make("a.etl", "one");

    (void)state;
    assert_int_equal(link("a.etl", "other.etl"), 0);
    assert_true(etwas_ship_remove("a.etl", &facts));
    assert_int_equal(access("a.etl", F_OK), -1);
    assert_int_equal(access("other.etl", F_OK), 0);
    memset(longest, '\n', 255);
    longest[255] = '\0';
    facts = make(longest, "two");
    assert_true(etwas_ship_remove(longest, &facts));
    assert_int_equal(access(longest, F_OK), -1);
}

static void what_has_changed_stays(void **state)
{
    struct stat facts = make("a.etl", "one");
    struct stat other;
    int lock;

    (void)state;
    other = make("a.etl", "longer");
    assert_stays("a.etl", &facts);
    other.st_mtim.tv_nsec ^= 1;
    assert_stays("a.etl", &other);
    facts = make("a.etl", "one");
    other = make("b.etl", "one");
    assert_stays("b.etl", &facts);
    lock = open("a.etl", O_RDONLY);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_stays("a.etl", &facts);
    assert_int_equal(close(lock), 0);
    assert_int_equal(unlink("b.etl"), 0);
    assert_int_equal(symlink("a.etl", "b.etl"), 0);
    assert_stays("b.etl", &facts);
    assert_int_equal(unlink("b.etl"), 0);
    assert_int_equal(mkfifo("b.etl", 0600), 0);
    assert_stays("b.etl", &facts);
    assert_int_equal(unlink("b.etl"), 0);
    assert_false(etwas_ship_remove("b.etl", &facts));
    assert_int_equal(errno, 0);
}

/* Nor does what has the name that it would have meanwhile. */
static void nothing_is_replaced(void **state)
{
    struct stat facts = make("a.etl", "one");
    char aside[64];

    (void)state;
    (void)snprintf(aside, sizeof aside, "going-%ld.etl", (long)getpid());
    (void)make(aside, "another one");
    assert_false(etwas_ship_remove("a.etl", &facts));
    assert_int_equal(errno, EEXIST);
    assert_int_equal(unlink(aside), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_as_it_was_goes, enter, leave),
        cmocka_unit_test_setup_teardown(what_has_changed_stays, enter, leave),
        cmocka_unit_test_setup_teardown(nothing_is_replaced, enter, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
