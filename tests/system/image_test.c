/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_IMAGE_LOAD against the real kernel: every executable mapping is loaded once, at
 * its address, with its build id, in its process.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/images.h"
#include "system/kernel_fixture.h"

enum {
    IMAGES = EVENT_TRACE_FLAG_IMAGE_LOAD | EVENT_TRACE_FLAG_NO_SYSCONFIG,
    PLACES = 5,
    PAGE = 4096,
    LOAD = 10,
    UNLOAD = 2,
    DEBUG_ID = 36,
};

static const etwas_guid image_class = {
    0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};
static const etwas_guid image_id_class = {
    0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};

static const struct etwas_loaded_image *ourselves(void)
{
    static struct etwas_loaded_image image;
    uint32_t count;
    struct etwas_loaded_image *images = etwas_images_read(&count);

    assert_non_null(images);
    image = images[0];
    free(images);
    return &image;
}

/* Its build is said before it, and in it. */
static void expect_build(const struct event *event)
{
    const struct event *id = event - 1;
    const uint8_t *build_id = ourselves()->build_id;

    assert_true(is_kernel_event(id, &image_id_class, DEBUG_ID));
    assert_int_equal(id->record.EventHeader.EventDescriptor.Version, 2);
    assert_true(u64_at(id, 0) == u64_at(event, 0));
    assert_int_equal(u32_at(id, 8), u32_at(event, 16));
    assert_memory_equal(id->payload + 12, build_id, 16);
    assert_memory_equal((const char *)id->payload + 32, ".build-id/", 10);
    assert_memory_equal(event->payload + 24, build_id, 4);
    assert_memory_equal(event->payload + 20, build_id + 4, 4);
}

/* Returns whether build ids of older processes may be read; otherwise none are recorded. */
static bool may_read_builds(void)
{
    char path[PATH_MAX];
    DIR *folder = opendir("/proc/self/map_files");
    const struct dirent *entry;
    int place = -1;

    while (folder != NULL && place < 0 && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "/proc/self/map_files/%s", entry->d_name);
            place = open(path, O_PATH | O_CLOEXEC);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    if (place >= 0) {
        (void)close(place);
    }
    return place >= 0;
}

/* Without randomisation of addresses another program has the same base. */
static bool is_of_our_program(const struct event *event)
{
    static const char name[] = "/\0s\0y\0s\0t\0e\0m\0_\0i\0m\0a\0g\0e\0\0";
    size_t bytes = event->record.UserDataLength;

    return bytes > 56 + sizeof name &&
           memcmp(event->payload + bytes - sizeof name, name, sizeof name) == 0;
}

/* Events of our program, in this process, with this base. */
static uint32_t count_images(const struct events *events, uint8_t type, uint32_t process_id,
                             uint64_t base)
{
    const bool may_read = may_read_builds();
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &image_class, type) && u32_at(event, 16) == process_id &&
            u64_at(event, 0) == base && is_of_our_program(event)) {
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 3);
            if (type != UNLOAD && may_read) {
                expect_build(event);
            }
            count++;
        }
    }
    return count;
}

static uint8_t *map_ourselves(off_t offset)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *place;

    assert_true(file >= 0);
    place = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, offset);
    assert_true(place != MAP_FAILED);
    (void)close(file);
    return place;
}

static void what_is_mapped_is_loaded(void **state)
{
    uint8_t *places[PLACES];
    etwas_trace_handle session;
    struct events events;
    uint32_t here = (uint32_t)getpid();
    uint32_t child;

    (void)state;
    session = start_kernel(IMAGES);
    /* There is room between them: two adjacent ones would be one image. */
    for (int index = 0; index < PLACES; index++) {
        places[index] = map_ourselves((index + 1) * PAGE);
        assert_true(mmap(places[index] - 16 * PAGE, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                         -1, 0) != MAP_FAILED);
    }
    child = (uint32_t)run_child();
    read_and_account(session, &events);
    for (int index = 0; index < PLACES; index++) {
        uint64_t base = (uint64_t)(uintptr_t)places[index] - (uint64_t)(index + 1) * PAGE;

        /* The rundown may have seen it; then its event was over. */
        assert_int_equal(count_images(&events, LOAD, here, base) +
                             count_images(&events, RUNDOWN_START, here, base),
                         1);
        assert_int_equal(count_images(&events, RUNDOWN_END, here, base), 1);
        assert_int_equal(count_images(&events, LOAD, child, base) +
                             count_images(&events, RUNDOWN_START, child, base),
                         1);
        assert_int_equal(count_images(&events, UNLOAD, child, base), 1);
        assert_int_equal(count_images(&events, RUNDOWN_END, child, base), 0);
        (void)munmap(places[index], PAGE);
    }
    free_events(&events);
}

static void images_of_before_are_in_the_rundown(void **state)
{
    etwas_trace_handle session;
    struct events events;
    const struct etwas_loaded_image *image = ourselves();
    uint32_t here = (uint32_t)getpid();

    (void)state;
    session = start_kernel(IMAGES);
    read_and_account(session, &events);
    assert_int_equal(count_images(&events, RUNDOWN_START, here, image->base - image->linked_base),
                     1);
    assert_int_equal(count_images(&events, RUNDOWN_END, here, image->base - image->linked_base), 1);
    assert_int_equal(count_images(&events, LOAD, here, image->base - image->linked_base), 0);
    free_events(&events);
}

static void the_kernel_is_an_image_of_process_0(void **state)
{
    etwas_trace_handle session;
    struct events events;
    uint32_t count = 0;

    (void)state;
    session = start_kernel(IMAGES);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_kernel_event(event, &image_class, RUNDOWN_START) && u32_at(event, 16) == 0 &&
            memcmp(event->payload + 56, "v\0m\0l\0i\0n\0u\0x\0\0", 16) == 0) {
            assert_true(u64_at(event, 0) >= UINT64_C(1) << 63);
            assert_in_range(u64_at(event, 8), 1 << 20, 1 << 30);
            count++;
        }
    }
    free_events(&events);
    if (geteuid() != 0) {
        print_message("skipped: only root is told of the kernel's image\n");
        skip();
    }
    assert_int_equal(count, 1);
}

static void a_program_that_runs_another_has_the_images_of_that(void **state)
{
    const struct etwas_loaded_image *image = ourselves();
    uint64_t base = image->base - image->linked_base;
    etwas_trace_handle session;
    struct events events;
    uint32_t loaded = 0;
    uint32_t unloaded = 0;
    pid_t child;

    (void)state;
    session = start_kernel(IMAGES);
    child = fork();
    if (child == 0) {
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    read_and_account(session, &events);
    assert_int_equal(count_images(&events, UNLOAD, (uint32_t)child, base),
                     count_images(&events, LOAD, (uint32_t)child, base) +
                         count_images(&events, RUNDOWN_START, (uint32_t)child, base));
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];
        bool is_ours =
            memcmp(&event->record.EventHeader.ProviderId, &image_class, sizeof image_class) == 0 &&
            u32_at(event, 16) == (uint32_t)child;
        uint8_t type = event->record.EventHeader.EventDescriptor.Opcode;

        loaded += is_ours && (type == LOAD || type == RUNDOWN_START);
        unloaded += is_ours && type == UNLOAD;
    }
    assert_int_equal(loaded, unloaded);
    assert_in_range(loaded, 3, UINT32_MAX); /* the program, its loader and library at least */
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_is_mapped_is_loaded),
        FOLDER_TEST(images_of_before_are_in_the_rundown),
        FOLDER_TEST(the_kernel_is_an_image_of_process_0),
        FOLDER_TEST(a_program_that_runs_another_has_the_images_of_that),
    };

    return RUN_KERNEL_TESTS("system image", tests);
}
