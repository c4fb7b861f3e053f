/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Instances that do what is known, with the counters of their thread beside them, in the file that
 * is named.
 */
#include <etwas/etwas.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum {
    PAGES = 100,
    PAGE_BYTES = 65536, /* at least */
    MS = 1000000,
    CLASSES = 4,
};

static const etwas_guid provider = {0x5e1f0a11, 0x1d5b, 0x4c3a, {1, 2, 3, 4, 5, 6, 7, 8}};
static const etwas_guid class_guids[CLASSES] = {
    {0x5e1f0a12, 0x1d5b, 0x4c3a, {1, 2, 3, 4, 5, 6, 7, 8}},
    {0x5e1f0a13, 0x1d5b, 0x4c3a, {1, 2, 3, 4, 5, 6, 7, 8}},
    {0x5e1f0a14, 0x1d5b, 0x4c3a, {1, 2, 3, 4, 5, 6, 7, 8}},
    {0x5e1f0a15, 0x1d5b, 0x4c3a, {1, 2, 3, 4, 5, 6, 7, 8}},
};
static const char *const names[CLASSES] = {"Spin", "Sleep", "Touch", "Unmarked"};
static TRACE_GUID_REGISTRATION classes[CLASSES];
static etwas_trace_handle session;

static uint32_t ignore(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    (void)request;
    (void)context;
    (void)bytes;
    (void)buffer;
    return ERROR_SUCCESS;
}

static void check(uint32_t code, const char *what)
{
    if (code != ERROR_SUCCESS) {
        (void)fprintf(stderr, "%s: %s\n", what, etwas_error_text(code));
        _Exit(1);
    }
}

static void describe(uint32_t index)
{
    const etwas_type_description types[] = {{.type = EVENT_TRACE_TYPE_START, .name = "Start"},
                                            {.type = EVENT_TRACE_TYPE_END, .name = "End"}};
    const etwas_class_description description = {.guid = &class_guids[index],
                                                 .provider_name = "work",
                                                 .name = names[index],
                                                 .types = types,
                                                 .type_count = 2};

    check(etwas_describe_class(&description, NULL), "etwas_describe_class");
}

/* All but the last of the classes. */
static void count(uint32_t index)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableProperty = ETWAS_ENABLE_PROPERTY_COUNTERS};

    check(EnableTraceEx2(session, &class_guids[index], EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0,
                         0, &parameters),
          "EnableTraceEx2");
}

static void log_event(uint8_t type, EVENT_INSTANCE_INFO *instance)
{
    EVENT_INSTANCE_HEADER event = {
        .Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID, .Class.Type = type};

    check(TraceEventInstance(session, &event, instance, NULL), "TraceEventInstance");
}

static void around(uint32_t index, void (*work)(void))
{
    EVENT_INSTANCE_INFO instance;

    check(CreateTraceInstanceId(classes[index].RegHandle, &instance), "CreateTraceInstanceId");
    log_event(EVENT_TRACE_TYPE_START, &instance);
    work();
    log_event(EVENT_TRACE_TYPE_END, &instance);
}

static void spin(void)
{
    struct timespec begin;
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 * MS + now.tv_nsec - begin.tv_nsec < 21 * MS);
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 31 * MS};

    (void)nanosleep(&time, NULL);
}

static void spin_inside(void)
{
    around(0, spin);
}

static void touch(void)
{
    char *pages = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) {
        _Exit(1);
    }
    (void)madvise(pages, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
    for (size_t page = 0; page < PAGES; page++) {
        ((volatile char *)pages)[page * PAGE_BYTES] = 1;
    }
}

int main(int argc, char **argv)
{
    etwas_trace_handle registration;

    check(argc == 2 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER, "usage: counted_work FILE");
    for (uint32_t i = 0; i < CLASSES; i++) {
        classes[i].Guid = &class_guids[i];
        describe(i);
    }
    check(RegisterTraceGuidsA(ignore, NULL, &provider, CLASSES, classes, NULL, NULL, &registration),
          "RegisterTraceGuids");
    check(etwas_start("counted work", argv[1], NULL, &session), "etwas_start");
    for (uint32_t i = 0; i + 1 < CLASSES; i++) {
        count(i);
    }
    around(1, nap);
    around(1, spin_inside);
    around(2, touch);
    around(3, spin);
    check(etwas_stop(session, NULL), "etwas_stop");
    return 0;
}
