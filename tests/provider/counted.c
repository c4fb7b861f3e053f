/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/counted.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TRACE_GUID_REGISTRATION counted_classes[2];

etwas_trace_handle register_counted(void)
{
    etwas_trace_handle registration;

    counted_classes[0] = (TRACE_GUID_REGISTRATION){.Guid = &first_class};
    counted_classes[1] = (TRACE_GUID_REGISTRATION){.Guid = &second_class};
    assert_int_equal(RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 2, counted_classes,
                                         NULL, NULL, &registration),
                     ERROR_SUCCESS);
    return registration;
}

void ask(etwas_trace_handle session, const etwas_guid *guid, uint32_t property)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableProperty = property};

    assert_int_equal(
        EnableTraceEx2(session, guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0, 0, &parameters),
        ERROR_SUCCESS);
}

void ask_no_more(etwas_trace_handle session, const etwas_guid *guid)
{
    assert_int_equal(
        EnableTraceEx2(session, guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0, NULL),
        ERROR_SUCCESS);
}

uint32_t log_of(etwas_trace_handle session, uint8_t type, EVENT_INSTANCE_INFO *instance,
                EVENT_INSTANCE_INFO *parent)
{
    EVENT_INSTANCE_HEADER event = {
        .Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID, .Class.Type = type};

    return TraceEventInstance(session, &event, instance, parent);
}

EVENT_INSTANCE_INFO new_instance(uint32_t class_index)
{
    EVENT_INSTANCE_INFO instance;

    assert_int_equal(CreateTraceInstanceId(counted_classes[class_index].RegHandle, &instance),
                     ERROR_SUCCESS);
    return instance;
}

void log_around(etwas_trace_handle session, uint32_t class_index, void (*work)(void))
{
    EVENT_INSTANCE_INFO instance = new_instance(class_index);

    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_START, &instance, NULL), ERROR_SUCCESS);
    work();
    assert_int_equal(log_of(session, EVENT_TRACE_TYPE_END, &instance, NULL), ERROR_SUCCESS);
}

static void expect_sense(const struct event *event, const struct etwas_etl_counters *counters)
{
    static const etwas_guid none;
    const uint32_t most = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);

    assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 1);
    assert_int_equal(counters->version, 1);
    assert_true(counters->type == EVENT_TRACE_TYPE_START || counters->type == EVENT_TRACE_TYPE_END);
    assert_int_equal(counters->instance == 0, memcmp(&counters->activity, &none, sizeof none) != 0);
    assert_true(counters->processor < most);
    assert_int_equal(counters->reserved, 0);
}

void read_counted(const char *path, const etwas_session_counts *counts, struct readings *readings)
{
    *readings = (struct readings){.list = NULL};
    read_events(path, PROCESS_TRACE_MODE_RAW_TIMESTAMP, &readings->events);
    assert_true(readings->events.count == counts->recorded);
    readings->list = calloc(readings->events.count + 1, sizeof *readings->list);
    assert_non_null(readings->list);
    for (size_t index = 0; index < readings->events.count; index++) {
        const struct event *event = &readings->events.items[index];
        const EVENT_HEADER *header = &event->record.EventHeader;
        struct reading *reading = &readings->list[readings->count];

        if (memcmp(&header->ProviderId, &etwas_etl_own_class, sizeof header->ProviderId) == 0 &&
            header->EventDescriptor.Opcode == ETWAS_ETL_COUNTERS_TYPE) {
            assert_int_equal(event->record.UserDataLength, sizeof reading->counters);
            memcpy(&reading->counters, event->payload, sizeof reading->counters);
            reading->thread = header->ThreadId;
            reading->at = index;
            expect_sense(event, &reading->counters);
            readings->count++;
        }
    }
}

void free_counted(struct readings *readings)
{
    free_events(&readings->events);
    free(readings->list);
}

const struct etwas_etl_counters *reading_of(const struct readings *readings, uint32_t instance,
                                            uint8_t type)
{
    const struct etwas_etl_counters *found = NULL;

    for (size_t index = 0; index < readings->count; index++) {
        const struct etwas_etl_counters *counters = &readings->list[index].counters;

        if (counters->instance == instance && counters->type == type) {
            assert_null(found);
            found = counters;
        }
    }
    assert_non_null(found);
    return found;
}

uint32_t kept_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    uint32_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char path[300];
        char name[256];
        ssize_t bytes;

        (void)snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        bytes = readlink(path, name, sizeof name - 1);
        name[bytes > 0 ? bytes : 0] = '\0';
        count += bytes > 0 && strstr(name, "schedstat") != NULL;
    }
    (void)closedir(folder);
    return count;
}
