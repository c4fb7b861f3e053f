/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Held files when somebody else comes between any two steps of a call: at a test point inside it,
 * another call is made.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "registry/fixture.h"
#include "registry/held_file.h"
#include "registry/registry.h"
#include "registry/removal.h"

#define NOTHING ((struct etwas_held_file){.lock = -1})

static const char stem[] = "n.0123456789abcdef";
static const char second_place[] = "n.0123456789abcdef.1";

/* Whether a file's content is the string that is asked for. */
static bool is_text(const void *bytes, size_t size, void *what)
{
    return size == strlen(what) && memcmp(bytes, what, size) == 0;
}

static struct etwas_held_request request_for(const char *text)
{
    return (struct etwas_held_request){.stem = stem,
                                       .bytes = text,
                                       .size = strlen(text),
                                       .matches = is_text,
                                       .what = (void *)(uintptr_t)text};
}

static uint32_t take(struct etwas_held_file *held, const char *text)
{
    struct etwas_held_request request = request_for(text);

    return etwas_held_acquire(held, &request);
}

static uint32_t find(const char *text)
{
    struct etwas_held_request request = request_for(text);
    void *bytes;
    size_t size;
    uint32_t code = etwas_held_read(&request, &bytes, &size);

    assert_true((code == ERROR_SUCCESS) == (bytes != NULL));
    free(bytes);
    return code;
}

/* What a process leaves that dies. */
static void leave_dead(const char *text)
{
    struct etwas_held_file held = NOTHING;

    assert_int_equal(take(&held, text), ERROR_SUCCESS);
    etwas_held_forget(&held);
}

/* ---- in between ------------------------------------------------------------------------------ */

static enum etwas_testpoint wanted;
static void (*intruder)(void);
static struct etwas_held_file intruders;

static void on_point(enum etwas_testpoint point)
{
    if (point == wanted && intruder != NULL) {
        void (*once)(void) = intruder;

        intruder = NULL;
        once();
    }
}

static void at(enum etwas_testpoint point, void (*what)(void))
{
    wanted = point;
    intruder = what;
    intruders = NOTHING;
    etwas_testpoint_set(on_point);
}

static void expect_intrusion(void)
{
    assert_null(intruder);
    etwas_testpoint_set(NULL);
}

static void clear_and_take(void)
{
    assert_true(clear_file(stem));
    assert_int_equal(take(&intruders, "mine"), ERROR_SUCCESS);
}

static void who_finds_a_dead_file_does_not_remove_the_living_one_after_it(void **state)
{
    (void)state;
    leave_dead("mine");
    at(ETWAS_POINT_REGISTRY_FOUND_DEAD, clear_and_take);
    assert_false(clear_file(stem));
    expect_intrusion();
    assert_string_equal(intruders.name, stem);
    assert_int_equal(find("mine"), ERROR_SUCCESS);
    etwas_held_release(&intruders);
    assert_int_equal(files_like(""), 0);
}

static void take_elsewhere(void)
{
    assert_int_equal(take(&intruders, "mine"), ERROR_SUCCESS);
}

static void nobody_waits_for_a_process_that_is_stopped_while_it_removes_a_dead_file(void **state)
{
    (void)state;
    leave_dead("mine");
    at(ETWAS_POINT_REGISTRY_REMOVES, take_elsewhere);
    assert_true(clear_file(stem));
    expect_intrusion();
    assert_string_equal(intruders.name, second_place);
    assert_int_equal(find("mine"), ERROR_SUCCESS);
    assert_int_equal(take(&(struct etwas_held_file){.lock = -1}, "mine"), ERROR_ALREADY_EXISTS);
    etwas_held_release(&intruders);
    assert_int_equal(files_like(""), 0);
}

static void clear_all(void)
{
    assert_int_equal(etwas_registry_clear_stale(), 1);
}

static void a_file_that_is_cleared_before_it_is_locked_is_made_again(void **state)
{
    struct etwas_held_file held = NOTHING;

    (void)state;
    at(ETWAS_POINT_REGISTRY_CREATED, clear_all);
    assert_int_equal(take(&held, "mine"), ERROR_SUCCESS);
    expect_intrusion();
    assert_int_equal(find("mine"), ERROR_SUCCESS);
    at(ETWAS_POINT_REGISTRY_CREATED, clear_all);
    assert_int_equal(etwas_held_replace(&held, "yours", 5), ERROR_SUCCESS);
    expect_intrusion();
    assert_int_equal(find("yours"), ERROR_SUCCESS);
    assert_int_equal(find("mine"), ERROR_NOT_FOUND);
    etwas_held_release(&held);
    assert_int_equal(files_like(""), 0);
}

static void clear_every_time(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_REGISTRY_CREATED) {
        clear_all();
    }
}

static void what_cannot_be_replaced_is_what_it_was(void **state)
{
    struct etwas_held_file held = NOTHING;
    struct etwas_held_file another = NOTHING;
    char path[512];

    (void)state;
    assert_int_equal(take(&held, "mine"), ERROR_SUCCESS);
    etwas_testpoint_set(clear_every_time);
    assert_int_equal(etwas_held_replace(&held, "yours", 5), ERROR_BUSY);
    assert_int_equal(take(&another, "another's"), ERROR_BUSY);
    etwas_testpoint_set(NULL);
    assert_int_equal(another.lock, -1);
    assert_int_equal(files_like(""), 1);
    assert_int_equal(find("mine"), ERROR_SUCCESS);
    (void)snprintf(path, sizeof path, "%s/%s", registry_folder(), stem);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(etwas_held_replace(&held, "yours", 5), ERROR_BAD_PATHNAME);
    assert_int_equal(files_like(""), 1);
    etwas_held_release(&held); /* and not the folder, which is not ours */
    assert_int_equal(rmdir(path), 0);
}

static void of_two_that_take_the_same_one_has_it(void **state)
{
    struct etwas_held_file held = NOTHING;

    (void)state;
    at(ETWAS_POINT_REGISTRY_FOUND_FREE, take_elsewhere);
    assert_int_equal(take(&held, "mine"), ERROR_ALREADY_EXISTS);
    expect_intrusion();
    assert_int_equal(held.lock, -1);
    assert_int_equal(find("mine"), ERROR_SUCCESS);
    etwas_held_release(&intruders);
    assert_int_equal(files_like(""), 0);
}

static struct etwas_held_file other;

static void take_the_first_place(void)
{
    etwas_held_release(&other);
    assert_int_equal(take(&intruders, "mine"), ERROR_SUCCESS);
    assert_string_equal(intruders.name, stem);
}

static void of_two_that_take_the_same_at_two_places_one_has_it(void **state)
{
    struct etwas_held_file held = NOTHING;

    (void)state;
    other = NOTHING;
    assert_int_equal(take(&other, "another's"), ERROR_SUCCESS);
    at(ETWAS_POINT_REGISTRY_FOUND_FREE, take_the_first_place);
    assert_int_equal(take(&held, "mine"), ERROR_ALREADY_EXISTS);
    expect_intrusion();
    assert_int_equal(held.lock, -1);
    assert_int_equal(files_like(""), 1);
    assert_int_equal(find("mine"), ERROR_SUCCESS);
    etwas_held_release(&intruders);
    assert_int_equal(files_like(""), 0);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void things_of_one_name_have_places_until_there_are_no_more(void **state)
{
    static const char *const things[] = {"a", "b", "c", "d"};
    struct etwas_held_file held[4];
    struct etwas_held_file more = NOTHING;

    (void)state;
    for (int index = 0; index < 4; index++) {
        held[index] = NOTHING;
        assert_int_equal(take(&held[index], things[index]), ERROR_SUCCESS);
    }
    assert_int_equal(take(&more, "e"), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(take(&more, "c"), ERROR_ALREADY_EXISTS);
    etwas_held_release(&held[0]);
    assert_int_equal(take(&more, "c"), ERROR_ALREADY_EXISTS); /* though the first place is free */
    assert_int_equal(find("d"), ERROR_SUCCESS);
    assert_int_equal(find("a"), ERROR_NOT_FOUND);
    assert_int_equal(take(&more, "e"), ERROR_SUCCESS);
    assert_string_equal(more.name, stem);
    etwas_held_release(&more);
    for (int index = 1; index < 4; index++) {
        etwas_held_release(&held[index]);
    }
    assert_int_equal(files_like(""), 0);
}

static void what_is_no_file_is_no_claim_and_is_in_nobodys_way(void **state)
{
    struct etwas_held_file held = NOTHING;
    char path[512];

    (void)state;
    leave_dead("a folder is made for it");
    assert_int_equal(etwas_registry_clear_stale(), 1);
    (void)snprintf(path, sizeof path, "%s/%s", registry_folder(), stem);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(find("mine"), ERROR_NOT_FOUND);
    assert_int_equal(take(&held, "mine"), ERROR_SUCCESS);
    assert_string_equal(held.name, stem);
    etwas_held_release(&held);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(find("mine"), ERROR_NOT_FOUND);
    assert_int_equal(take(&held, "mine"), ERROR_SUCCESS);
    assert_string_equal(held.name, second_place);
    assert_int_equal(find("mine"), ERROR_SUCCESS);
    etwas_held_release(&held);
    assert_int_equal(rmdir(path), 0);
}

/* A child that lives on keeps nothing of its parent's. */
static int forget_and_wait(struct child *self, void *context)
{
    etwas_held_forget(context);
    say(self, 'f');
    return receive_byte(self) < 0;
}

static int hold_and_fork(struct child *self, void *context)
{
    struct etwas_held_file held = NOTHING;
    struct child grandchild;

    (void)context;
    if (take(&held, "mine") != ERROR_SUCCESS) {
        return 1;
    }
    grandchild = child_start(forget_and_wait, &held);
    (void)receive_byte(&grandchild);
    say(self, 'h');
    (void)receive_byte(self);
    return 0;
}

static void a_forks_child_that_forgets_does_not_hold(void **state)
{
    struct child child = child_start(hold_and_fork, NULL);

    (void)state;
    assert_int_equal(receive_byte(&child), 'h');
    assert_int_equal(find("mine"), ERROR_SUCCESS);
    child_kill(&child);
    assert_int_equal(find("mine"), ERROR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(who_finds_a_dead_file_does_not_remove_the_living_one_after_it),
        REGISTRY_TEST(nobody_waits_for_a_process_that_is_stopped_while_it_removes_a_dead_file),
        REGISTRY_TEST(a_file_that_is_cleared_before_it_is_locked_is_made_again),
        REGISTRY_TEST(what_cannot_be_replaced_is_what_it_was),
        REGISTRY_TEST(of_two_that_take_the_same_one_has_it),
        REGISTRY_TEST(of_two_that_take_the_same_at_two_places_one_has_it),
        REGISTRY_TEST(things_of_one_name_have_places_until_there_are_no_more),
        REGISTRY_TEST(what_is_no_file_is_no_claim_and_is_in_nobodys_way),
        REGISTRY_TEST(a_forks_child_that_forgets_does_not_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
