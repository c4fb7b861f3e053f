/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files and consumers that come later still have the unloaded images: stacks of older events lead
 * into them.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "image_scene.h"
#include "session/fixture.h"
#include "support/metadata.h"

/* The events of a flight recorder may be older than what is loaded now. */
static void a_snapshot_has_what_was_unloaded_before(void **state)
{
    void *library = load_library_copy("copy.so");
    etwas_trace_handle session = start_with_stacks(NULL, EVENT_TRACE_BUFFERING_MODE, 0);

    (void)state;
    assert_int_equal(dlclose(library), 0);
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    assert_true(is_in_file(folder_path("s.etl"), "/copy.so"));
    stop_session(session, NULL);
}

static void expect_no_two_in_one_place(const char *path)
{
    struct events events;

    read_events(path, 0, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *one = &events.items[index];

        for (size_t at = 0; at < index && is_image_record(one, &image_class, THERE); at++) {
            const struct event *other = &events.items[at];

            assert_true(!is_image_record(other, &image_class, THERE) ||
                        image_u64(one, 0) >= image_u64(other, 0) + image_u64(other, 8) ||
                        image_u64(other, 0) >= image_u64(one, 0) + image_u64(one, 8));
        }
    }
    free_events(&events);
}

/* Which of the two an address is in, nobody could say. */
static void what_was_unloaded_goes_when_something_is_loaded_where_it_was(void **state)
{
    etwas_trace_handle session = start_with_stacks(NULL, EVENT_TRACE_BUFFERING_MODE, 0);

    (void)state;
    for (int index = 0; index < 8; index++) {
        void *library = load_library_copy(index % 2 == 0 ? "even.so" : "odd.so");

        assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
        expect_no_two_in_one_place(folder_path("s.etl"));
        assert_int_equal(dlclose(library), 0);
        assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
        expect_no_two_in_one_place(folder_path("s.etl"));
        assert_true(is_in_file(folder_path("s.etl"), index % 2 == 0 ? "/even.so" : "/odd.so"));
    }
    stop_session(session, NULL);
}

static void the_64_newest_that_were_unloaded_are_kept(void **state)
{
    enum {
        LIBRARIES = 70,
        KEPT = 64,
    };
    void *libraries[LIBRARIES];
    char name[LIBRARIES][24];
    etwas_trace_handle session;
    struct events events;

    (void)state;
    for (int index = 0; index < LIBRARIES; index++) {
        (void)snprintf(name[index], sizeof name[index], "/copy%02d.so", index);
        libraries[index] = load_library_copy(name[index] + 1);
    }
    session = start_with_stacks(NULL, EVENT_TRACE_BUFFERING_MODE, 0);
    for (int index = 0; index < LIBRARIES; index++) {
        assert_int_equal(dlclose(libraries[index]), 0);
    }
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    read_events(folder_path("s.etl"), 0, &events);
    for (int index = 0; index < LIBRARIES; index++) {
        assert_int_equal(has_image(&events, name[index]), index >= LIBRARIES - KEPT);
    }
    free_events(&events);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_snapshot_has_what_was_unloaded_before),
        FOLDER_TEST(what_was_unloaded_goes_when_something_is_loaded_where_it_was),
        FOLDER_TEST(the_64_newest_that_were_unloaded_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
