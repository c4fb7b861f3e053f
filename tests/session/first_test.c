/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The test that CONTRIBUTING.md shows as an example of a first one.
 */
#include "session/fixture.h"

static void what_was_logged_is_in_the_file(void **state)
{
    const char *path = folder_path("f.etl");
    etwas_trace_handle session = start_session(path, NULL);
    etwas_session_counts counts;

    (void)state;
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(log_number(session, 2), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 2);
    assert_int_equal(count_events(path), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_was_logged_is_in_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
