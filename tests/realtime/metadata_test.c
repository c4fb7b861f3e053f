/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event metadata in real time: every consumer gets what was described, before the events, and what
 * is described while it consumes.
 */
#include <dlfcn.h>

#include "support/flushing.h"
#include "support/metadata.h"

enum {
    CLASSES = 50, /* more than a buffer */
    FIELDS = 20,
};

static int describe_some(void **state)
{
    (void)state;
    while (described_classes() < CLASSES) {
        (void)describe_one(FIELDS);
    }
    return 0;
}

/* Before an event all of it was given. */
static void look_whether_described(struct consumer *consumer)
{
    assert_true(consumer->events == 0 || has_classes(&consumer->described, CLASSES, 1));
}

static void expect_classes_once(const struct consumer *consumer, uint32_t classes)
{
    for (uint32_t number = 0; number < METADATA_CLASSES; number++) {
        assert_int_equal(consumer->described.classes[number], number < classes);
    }
}

static void every_consumer_gets_it_before_the_events(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer consumers[2] = {{.behind = look_whether_described},
                                    {.behind = look_whether_described}};
    etwas_session_counts counts;

    (void)state;
    consume(&consumers[0], session);
    log_and_flush(writer, 100);
    consumer_wait(&consumers[0], 100);
    expect_classes_once(&consumers[0], CLASSES);
    consume(&consumers[1], session);
    log_and_flush(writer, 100);
    stop_session(session, &counts);
    for (int index = 0; index < 2; index++) {
        consumer_join(&consumers[index]);
        expect_classes_once(&consumers[index], CLASSES);
        assert_int_equal(consumers[index].backwards + consumers[index].wrong, 0);
    }
    assert_int_equal(consumers[0].events, 200);
    assert_int_equal(consumers[1].events, 100);
    expect_exact_account(session, &counts);
    assert_int_equal(counts.recorded, 200);
    consumer_free(&consumers[0]);
    consumer_free(&consumers[1]);
}

static void a_consumer_that_catches_up_gets_it_first(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct consumer consumer = {.behind = look_whether_described};
    etwas_session_counts counts;

    (void)state;
    log_and_flush(small_writer(session), 1000);
    consume_to_the_end(&consumer, session, &counts);
    expect_classes_once(&consumer, CLASSES);
    assert_int_equal(consumer.events, 1000);
    expect_exact_account(session, &counts);
    assert_int_equal(counts.recorded, 1000);
    consumer_free(&consumer);
}

static void what_is_described_while_it_consumes_comes_with_the_next_buffer(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    etwas_session_counts counts;
    uint32_t classes = described_classes();

    (void)state;
    consume(&consumer, session);
    log_and_flush(writer, 100);
    consumer_wait(&consumer, 100);
    expect_classes_once(&consumer, classes);
    (void)describe_one(FIELDS);
    log_and_flush(writer, 100);
    consumer_wait(&consumer, 200);
    (void)describe_one(FIELDS);
    stop_and_join(session, &counts, &consumer);
    expect_classes_once(&consumer, classes + 2);
    assert_int_equal(consumer.backwards + consumer.wrong, 0);
    expect_exact_account(session, &counts);
    consumer_free(&consumer);
}

static void look_whether_images_are_known(struct consumer *consumer)
{
    assert_true(consumer->events == 0 || consumer->described.programs == 1);
}

/*
 * The session takes stacks. A consumer that comes late gets them, too, and so does one that catches
 * up.
 */
static void every_consumer_gets_the_images_before_the_events(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer consumers[3] = {
        {.behind = look_whether_images_are_known}, {.behind = look_whether_images_are_known}, {0}};
    etwas_session_counts counts;
    uint32_t images;
    void *library;

    (void)state;
    take_stacks(session);
    log_and_flush(writer, 100);
    consume(&consumers[0], session);
    consumer_wait(&consumers[0], 100);
    consume(&consumers[1], session);
    log_and_flush(writer, 100);
    consumer_wait(&consumers[1], 100);
    images = consumers[1].described.images;
    assert_true(images > 2);
    library = dlopen("libBrokenLocale.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    log_and_flush(writer, 100);
    stop_session(session, &counts);
    assert_int_equal(dlclose(library), 0);
    for (int index = 0; index < 2; index++) {
        consumer_join(&consumers[index]);
        assert_int_equal(consumers[index].described.programs, 1);
        assert_int_equal(consumers[index].described.images, images + 1);
        assert_int_equal(consumers[index].backwards + consumers[index].wrong, 0);
        consumer_free(&consumers[index]);
    }
    expect_exact_account(session, &counts);
    assert_int_equal(counts.recorded, 300);

    /* A session that does not take stacks has none. */
    session = start_realtime_by_hand();
    log_and_flush(small_writer(session), 100);
    consume_to_the_end(&consumers[2], session, &counts);
    assert_int_equal(consumers[2].described.images, 0);
    consumer_free(&consumers[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_consumer_gets_it_before_the_events),
        FOLDER_TEST(a_consumer_that_catches_up_gets_it_first),
        FOLDER_TEST(what_is_described_while_it_consumes_comes_with_the_next_buffer),
        FOLDER_TEST(every_consumer_gets_the_images_before_the_events),
    };

    return cmocka_run_group_tests(tests, describe_some, NULL);
}
