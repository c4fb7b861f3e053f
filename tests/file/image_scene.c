/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "image_scene.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "etl/utf16.h"
#include "session/fixture.h"
#include "support/metadata.h"

bool is_image_record(const struct event *event, const etwas_guid *class, uint8_t type)
{
    return memcmp(&event->record.EventHeader.ProviderId, class, sizeof *class) == 0 &&
           event->record.EventHeader.EventDescriptor.Opcode == type;
}

uint64_t image_u64(const struct event *event, size_t at)
{
    uint64_t number;

    assert_true(at + sizeof number <= event->record.UserDataLength);
    memcpy(&number, event->payload + at, sizeof number);
    return number;
}

const struct event *find_image(const struct events *events, uint8_t type, const char *end)
{
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        size_t units = (event->record.UserDataLength - 56u) / sizeof(etwas_wchar);
        etwas_wchar wide[4096];
        char path[4096];
        size_t bytes;

        if (!is_image_record(event, &image_class, type)) {
            continue;
        }
        assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
        assert_true(event->record.UserDataLength > 56);
        assert_true(units != 0 && units <= 4096);
        memcpy(wide, event->payload + 56, units * sizeof wide[0]);
        assert_int_equal(wide[units - 1], 0);
        assert_int_equal(etwas_utf16_to_utf8(wide, units - 1, path, sizeof path, &bytes),
                         ETWAS_UTF_OK);
        if (strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0) {
            return event;
        }
    }
    return NULL;
}

void *load_library(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    assert_non_null(library);
    return library;
}

void *load_library_copy(const char *name)
{
    void *library = load_library();
    struct link_map *map;
    char bytes[65536];
    size_t count;
    FILE *file;

    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    file = fopen(map->l_name, "re");
    assert_non_null(file);
    count = fread(bytes, 1, sizeof bytes, file);
    assert_true(count != 0 && count < sizeof bytes);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(dlclose(library), 0);
    file = fopen(folder_path(name), "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    library = dlopen(folder_path(name), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    return library;
}

bool has_image(const struct events *events, const char *name)
{
    return find_image(events, THERE, name) != NULL || find_image(events, LOADED, name) != NULL;
}

bool is_in_file(const char *path, const char *name)
{
    struct events events;
    bool found;

    read_events(path, 0, &events);
    found = has_image(&events, name);
    free_events(&events);
    return found;
}

etwas_trace_handle start_with_stacks(const char *name, uint32_t mode, uint32_t size_kb)
{
    const etwas_session_options options = {
        .log_file_mode = mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        .maximum_file_size = size_kb,
        .buffer_size_kb = 4,
        .minimum_buffers = 64,
        .flusher = {.no_thread = true},
    };
    etwas_trace_handle session = start_session(name != NULL ? folder_path(name) : NULL, &options);

    take_stacks(session);
    return session;
}
