/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The images of the process in the files of a session that takes stacks: the addresses of a file
 * can be turned into names with that file alone.
 */
#include <ck_pr.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "file_modes.h"
#include "image_scene.h"
#include "session/fixture.h"
#include "support/flushing.h"
#include "support/metadata.h"
#include "support/readback.h"

extern const char __ehdr_start[]; /* the program's first byte; of the linker */

static uint32_t u32_at(const struct event *event, size_t at)
{
    return (uint32_t)(image_u64(event, at & ~(size_t)7) >> (at % 8 * 8));
}

static size_t count_of(const struct events *events, const etwas_guid *class, uint8_t type)
{
    size_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        count += is_image_record(&events->items[index], class, type) ? 1 : 0;
    }
    return count;
}

static void expect_program(const struct events *events, uint8_t type)
{
    const struct event *image = find_image(events, type, "/file_images");

    assert_non_null(image);
    assert_true(image_u64(image, 0) == (uint64_t)(uintptr_t)__ehdr_start);
    assert_true((uint64_t)(uintptr_t)&expect_program - image_u64(image, 0) < image_u64(image, 8));
    assert_int_equal(u32_at(image, 16), getpid());
    assert_true(image_u64(image, 32) == 0 || image_u64(image, 32) == image_u64(image, 0));
}

/* The build id lies behind a debug id's signature, in its name. */
static void expect_build_ids(const struct events *events)
{
    size_t found = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        const char *name = (const char *)event->payload + 32;
        char digits[33];

        if (!is_image_record(event, &build_class, DEBUG_ID)) {
            continue;
        }
        assert_int_equal(strnlen(name, event->record.UserDataLength - 32u) + 1,
                         event->record.UserDataLength - 32u);
        assert_int_equal(strncmp(name, ".build-id/", 10), 0);
        assert_string_equal(name + strlen(name) - 6, ".debug");
        (void)snprintf(digits, sizeof digits, "%02x/%02x%02x", event->payload[12],
                       event->payload[13], event->payload[14]);
        assert_int_equal(strncmp(name + 10, digits, 7), 0);
        found += image_u64(event, 0) == (uint64_t)(uintptr_t)__ehdr_start ? 1 : 0;
    }
    assert_true(found <= 1); /* the linker may give none */
}

static void a_file_has_the_images_that_are_there_and_what_is_loaded_later(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_session_counts counts;
    struct events events;
    void *library;

    (void)state;
    take_stacks(session);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    library = load_library();
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(dlclose(library), 0);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    library = load_library();
    stop_session(session, &counts);
    assert_int_equal(dlclose(library), 0);
    assert_int_equal(counts.recorded, 0); /* they are no events */

    read_events(folder_path("f.etl"), 0, &events);
    expect_program(&events, THERE);
    assert_non_null(find_image(&events, THERE, "libc.so.6"));
    assert_null(find_image(&events, THERE, LIBRARY));
    assert_non_null(find_image(&events, LOADED, LIBRARY));
    assert_int_equal(count_of(&events, &image_class, LOADED), 2);
    expect_build_ids(&events);
    free_events(&events);
}

/* What is there now, once, and no event. */
static bool has_loaded_library(const char *path)
{
    struct events events;
    bool found;

    read_events(path, 0, &events);
    found = find_image(&events, LOADED, LIBRARY) != NULL;
    free_events(&events);
    return found;
}

/* So it is there though nothing else is written while the library is. */
static void a_file_is_told_of_images_by_and_by_without_events(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    void *library;

    (void)state;
    take_stacks(session);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    library = load_library();
    while (!has_loaded_library(folder_path("f.etl"))) {
        (void)usleep(20000);
    }
    assert_int_equal(dlclose(library), 0);
    stop_session(session, NULL);
    assert_true(has_loaded_library(folder_path("f.etl")));
}

static void expect_images(const char *path, uint32_t images)
{
    struct metadata metadata;

    metadata_read(path, &metadata);
    assert_int_equal(metadata.images, images);
    assert_int_equal(metadata.programs, 1);
    assert_true(metadata.builds <= images);
}

static uint32_t count_images(void)
{
    etwas_trace_handle session = start_session(folder_path("count.etl"), NULL);
    struct metadata metadata;

    take_stacks(session);
    stop_session(session, NULL);
    metadata_read(folder_path("count.etl"), &metadata);
    assert_true(metadata.images > 2);
    return metadata.images;
}

static void each_part_of_a_set_has_the_images_that_are_there(void **state)
{
    uint32_t images = count_images();
    etwas_trace_handle session = start_with_stacks(
        "part%d.etl", EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 64);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;
    struct parts parts;
    struct metadata metadata;
    void *library;

    (void)state;
    while (access(folder_path("part4.etl"), F_OK) != 0) {
        log_and_flush(writer, 20);
    }
    library = load_library_copy("copy.so");
    while (access(folder_path("part7.etl"), F_OK) != 0) {
        log_and_flush(writer, 20);
    }
    assert_int_equal(dlclose(library), 0);
    while (access(folder_path("part9.etl"), F_OK) != 0) {
        log_and_flush(writer, 20);
    }
    stop_session(session, &counts);
    expect_parts_are_exact(session, "part", &counts, &parts);
    assert_true(parts.count >= 9);
    for (uint32_t part = 1; part <= parts.count; part++) {
        char name[32];

        (void)snprintf(name, sizeof name, "part%u.etl", part);
        metadata_read(folder_path(name), &metadata);
        assert_int_equal(metadata.programs, 1);
        assert_true(part >= 4 || metadata.images == images);
        assert_int_equal(is_in_file(folder_path(name), "/copy.so"), part >= 4);
    }
}

static void a_circular_file_has_them_wherever_it_is_in_its_round(void **state)
{
    uint32_t images = count_images();
    etwas_trace_handle session =
        start_with_stacks("circle.etl", EVENT_TRACE_FILE_MODE_CIRCULAR, 64);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;

    (void)state;
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    stay_on_one_processor();
    for (int flush = 0; flush < 60; flush++) {
        log_and_flush(writer, 20);
        expect_images(folder_path("circle.etl"), images);
    }
    leave_one_processor();
    stop_session(session, &counts);
    assert_true(counts.overwritten != 0);
    expect_circular_file(session, folder_path("circle.etl"), &counts);
}

/* They take no room from a flight recorder: it keeps its events. */
static void each_snapshot_has_them(void **state)
{
    uint32_t images = count_images();
    etwas_trace_handle session = start_with_stacks(NULL, EVENT_TRACE_BUFFERING_MODE, 0);
    struct writer *writer = small_writer(session);

    (void)state;
    for (uint32_t number = 1; number <= 3; number++) {
        log_events(writer, 100);
        assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
        expect_images(folder_path("s.etl"), images);
        assert_int_equal(counts_of(session).recorded, 100 * number);
    }
    stop_session(session, NULL);
}

static void a_session_has_them_once_it_takes_stacks_and_none_before(void **state)
{
    uint32_t images = count_images();
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    struct metadata metadata;

    (void)state;
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    metadata_read(folder_path("f.etl"), &metadata);
    assert_int_equal(metadata.images + metadata.builds, 0);
    take_stacks(session);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    expect_images(folder_path("f.etl"), images);
    stop_session(session, NULL);
    /* Its entry in the table serves others. */
    for (int index = 0; index < 64; index++) {
        stop_session(start_session(folder_path("f.etl"), NULL), NULL);
        metadata_read(folder_path("f.etl"), &metadata);
        assert_int_equal(metadata.images + metadata.builds, 0);
    }
}

/* The system's image has a name and no path, and a file of that name is not it. */
static void an_image_without_a_file_has_no_path(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    char before[4096];
    struct events events;
    FILE *file;
    void *library;

    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    file = fopen(folder_path("linux-vdso.so.1"), "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chdir(folder_path(".")), 0);
    library = load_library(); /* all of them are read again */
    take_stacks(session);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(dlclose(library), 0);
    stop_session(session, NULL);
    read_events(folder_path("f.etl"), 0, &events);
    assert_null(find_image(&events, THERE, "/linux-vdso.so.1"));
    free_events(&events);
}

/* ---- while others load, and fork ------------------------------------------------------------- */

static uint32_t stop_loading;

/* A child has the loader's lock as its parent's other threads had it; that is the C library's. */
static pthread_mutex_t loads_or_forks = PTHREAD_MUTEX_INITIALIZER;

static void *load_on(void *unused)
{
    while (ck_pr_load_32(&stop_loading) == 0) {
        void *library;

        (void)pthread_mutex_lock(&loads_or_forks);
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (library != NULL) {
            (void)dlclose(library);
        }
        (void)pthread_mutex_unlock(&loads_or_forks);
    }
    return unused;
}

static void *flush_on(void *argument)
{
    const etwas_trace_handle *session = argument;

    while (ck_pr_load_32(&stop_loading) == 0) {
        (void)etwas_flush(*session);
    }
    return NULL;
}

/* A child of a process with other sessions that take stacks; its images say that they are its. */
static void record_in_child(void)
{
    etwas_trace_handle session = start_with_stacks("child.etl", 0, 0);
    struct events events;

    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    read_events(folder_path("child.etl"), 0, &events);
    CHECK_IN_CHILD(u32_at(find_image(&events, THERE, "/file_images"), 16) == (uint32_t)getpid());
    _exit(0);
}

/* I7. */
static void images_are_looked_for_while_others_load_flush_and_fork(void **state)
{
    etwas_trace_handle other = start_with_stacks("other.etl", 0, 0);
    pthread_t threads[2];
    struct metadata metadata;

    (void)state;
    assert_int_equal(pthread_create(&threads[0], NULL, load_on, NULL), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, flush_on, &other), 0);
    for (int round = 0; round < 20; round++) {
        etwas_trace_handle session = start_with_stacks("f.etl", 0, 0);
        int child;

        (void)pthread_mutex_lock(&loads_or_forks);
        child = fork_child();
        if (child == 0) {
            record_in_child();
        }
        (void)pthread_mutex_unlock(&loads_or_forks);
        stop_session(session, NULL);
        metadata_read(folder_path("f.etl"), &metadata);
        assert_int_equal(metadata.programs, 1);
        assert_int_equal(exit_code_of(child), 0);
    }
    ck_pr_store_32(&stop_loading, 1);
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    assert_int_equal(pthread_join(threads[1], NULL), 0);
    stop_session(other, NULL);
}

static int flush_and_record(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    etwas_trace_handle *session = argument;

    (void)info;
    (void)bytes;
    /* The flusher now waits for the loader's lock, which this thread holds. */
    (void)nanosleep(&pause, NULL);
    assert_int_equal(etwas_flush(*session), ERROR_SUCCESS);
    take_stacks(*session);
    stop_session(start_with_stacks("other.etl", 0, 0), NULL);
    return 1;
}

static void a_callback_of_the_loader_may_flush(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
        .flush_timer = 1,
    };
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);

    (void)state;
    take_stacks(session);
    assert_int_equal(dl_iterate_phdr(flush_and_record, &session), 1);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_file_has_the_images_that_are_there_and_what_is_loaded_later),
        FOLDER_TEST(a_file_is_told_of_images_by_and_by_without_events),
        FOLDER_TEST(each_part_of_a_set_has_the_images_that_are_there),
        FOLDER_TEST(a_circular_file_has_them_wherever_it_is_in_its_round),
        FOLDER_TEST(each_snapshot_has_them),
        FOLDER_TEST(a_session_has_them_once_it_takes_stacks_and_none_before),
        FOLDER_TEST(an_image_without_a_file_has_no_path),
        FOLDER_TEST(images_are_looked_for_while_others_load_flush_and_fork),
        FOLDER_TEST(a_callback_of_the_loader_may_flush),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
