/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Messages in sessions of other modes: one slot for all processors, private ones, files that wrap,
 * sets of files, and sessions whose records have processor times, for which a message has no room.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "provider/message.h"

enum {
    MESSAGES = 1500,
    EVERYTHING = TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP |
                 TRACE_MESSAGE_SYSTEMINFO,
};

/* All flags, and none, by turns; so a record has room for times by its size, or has not. */
static void log_messages(etwas_trace_handle session)
{
    for (uint32_t number = 0; number < MESSAGES; number++) {
        uint32_t flags = number % 2 == 0 ? EVERYTHING : TRACE_MESSAGE_SEQUENCE;

        assert_int_equal(TraceMessage(session, flags, &first_class, (uint16_t)number, &number,
                                      sizeof number, "text of a message", (size_t)17, NULL,
                                      (size_t)0),
                         ERROR_SUCCESS);
    }
}

static void expect_message(const struct message *message)
{
    bool everything = message->number % 2 == 0;
    uint32_t number;

    assert_int_equal(message->flags,
                     (everything ? EVERYTHING : TRACE_MESSAGE_SEQUENCE) | TRACE_MESSAGE_POINTER64);
    assert_int_equal(message->sequence, message->number + 1u);
    assert_int_equal(message->thread, everything ? gettid() : 0);
    assert_int_equal(message->process, everything ? getpid() : 0);
    assert_int_equal(message->bytes, sizeof number + 17);
    memcpy(&number, message->data, sizeof number);
    assert_int_equal(number, message->number);
    assert_memory_equal(message->data + sizeof number, "text of a message", 17);
}

static void expect_file(const etwas_session_options *options, const char *file)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), options);
    etwas_session_counts counts;
    struct messages messages;

    log_messages(session);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded + counts.overwritten, MESSAGES);
    expect_nothing_lost(counts);
    walk_messages(folder_path(file), &messages);
    assert_int_equal(messages.count, counts.recorded);
    for (size_t index = 0; index < messages.count; index++) {
        expect_message(&messages.items[index]);
    }
    free_messages(&messages);
    (void)unlink(folder_path(file));
}

/* R65, R78 */
static void r65_and_r110_one_slot_for_all_processors(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING |
                                                            EVENT_TRACE_USE_LOCAL_SEQUENCE,
                                           .buffer_size_kb = 4};
    etwas_trace_handle session;
    uint8_t data[4096] = {0};

    (void)state;
    if (session_protocol == ETWAS_PROTOCOL_RSEQ) {
        print_message("skipped: such a session has no restartable sequences\n");
        skip();
    }
    expect_file(&options, "f.etl");
    /* Its limits are those of its only slot, and what is refused takes no number. */
    session = start_session(folder_path("f.etl"), &options);
    assert_int_equal(TraceMessage(session, TRACE_MESSAGE_SEQUENCE, NULL, 1, data,
                                  (size_t)(4096 - 72 - 12 + 1), NULL, (size_t)0),
                     ERROR_MORE_DATA);
    assert_int_equal(TraceMessage(session, TRACE_MESSAGE_SEQUENCE, NULL, 1, data,
                                  (size_t)(4096 - 72 - 12), NULL, (size_t)0),
                     ERROR_SUCCESS);
    stop_session(session, NULL);
    {
        struct messages messages;

        walk_messages(folder_path("f.etl"), &messages);
        expect_numbers(&messages, 1);
        free_messages(&messages);
    }
}

/* R106: times are of records that have room for them. */
static void r106_and_r110_sessions_with_processor_times_leave_messages_whole(void **state)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_PRIVATE_LOGGER_MODE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const etwas_session_options options = {.log_file_mode =
                                                   modes[index] | EVENT_TRACE_USE_LOCAL_SEQUENCE,
                                               .buffer_size_kb = 4,
                                               .process_times = true};
        char file[64] = "f.etl";

        if (modes[index] != 0) {
            (void)snprintf(file, sizeof file, "f.etl_%d", (int)getpid());
        }
        expect_file(&options, file);
    }
}

static void r94_and_r110_a_file_that_wraps_keeps_the_last_messages(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR |
                                                            EVENT_TRACE_USE_KBYTES_FOR_SIZE |
                                                            EVENT_TRACE_USE_LOCAL_SEQUENCE,
                                           .buffer_size_kb = 4,
                                           .maximum_file_size = 32};

    (void)state;
    expect_file(&options, "f.etl");
}

static void r96_and_r110_numbers_go_on_from_part_to_part_of_a_set(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE |
                                                            EVENT_TRACE_USE_KBYTES_FOR_SIZE |
                                                            EVENT_TRACE_USE_LOCAL_SEQUENCE,
                                           .buffer_size_kb = 4,
                                           .maximum_file_size = 32};
    etwas_trace_handle session = start_session(folder_path("f%d.etl"), &options);
    uint8_t seen[MESSAGES + 1] = {0};
    size_t count = 0;
    int parts = 0;

    (void)state;
    log_messages(session);
    stop_session(session, NULL);
    for (;; parts++) {
        struct messages messages;
        char file[32];

        (void)snprintf(file, sizeof file, "f%d.etl", parts + 1);
        if (access(folder_path(file), F_OK) != 0) {
            break;
        }
        walk_messages(folder_path(file), &messages);
        for (size_t index = 0; index < messages.count; index++) {
            expect_message(&messages.items[index]);
            assert_int_equal(seen[messages.items[index].sequence]++, 0);
        }
        count += messages.count;
        free_messages(&messages);
    }
    assert_true(parts > 2);
    assert_int_equal(count, MESSAGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r65_and_r110_one_slot_for_all_processors),
        FOLDER_TEST(r106_and_r110_sessions_with_processor_times_leave_messages_whole),
        FOLDER_TEST(r94_and_r110_a_file_that_wraps_keeps_the_last_messages),
        FOLDER_TEST(r96_and_r110_numbers_go_on_from_part_to_part_of_a_set),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
