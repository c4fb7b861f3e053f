/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A machine that may get more processors than it has, as guests often may. This program is linked
 * so that 128 are possible, whatever this machine says of those that are there.
 */
#include "platform/processor.h"
#include "session/fixture.h"

enum {
    POSSIBLE = 128
};

uint32_t __wrap_etwas_processor_count(void);

uint32_t __wrap_etwas_processor_count(void)
{
    return POSSIBLE;
}

static EVENT_TRACE_PROPERTIES properties_of_default(const char *path)
{
    etwas_session_options options = {.log_file_mode =
                                         path == NULL ? EVENT_TRACE_BUFFERING_MODE : 0};
    etwas_trace_handle session = start_session(path, &options);
    EVENT_TRACE_PROPERTIES properties = query_session(session);

    for (uint64_t number = 0; number < 1000; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    stop_session(session, NULL);
    return properties;
}

static void r66_buffers_are_counted_by_the_processors_that_are_there(void **state)
{
    uint32_t least = 2 * etwas_processor_present();
    EVENT_TRACE_PROPERTIES properties;

    (void)state;
    if (etwas_processor_present() >= POSSIBLE) {
        print_message("skipped: there are more processors than the test pretends\n");
        skip();
    }
    properties = properties_of_default(folder_path("f.etl"));
    assert_int_equal(properties.MinimumBuffers, least);
    assert_int_equal(count_events(folder_path("f.etl")), 1000);
    properties = properties_of_default(NULL);
    assert_in_range(properties.MinimumBuffers, least, least + 2); /* and the extra slot's */
    assert_int_equal(properties.MaximumBuffers, properties.MinimumBuffers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r66_buffers_are_counted_by_the_processors_that_are_there),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
