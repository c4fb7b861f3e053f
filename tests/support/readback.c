/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/readback.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "support/metadata.h"
#include "support/places.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    LARGEST_PAYLOAD = 65536
};

struct reading {
    etwas_trace_handle session;
    struct readback *result;
};

/* ---- comparing ------------------------------------------------------------------------------- */

static void begin(const struct reading *reading)
{
    for (struct writer *writer = writer_first(); writer != NULL; writer = writer->next) {
        for (uint64_t number = 0;
             writer->options.session == reading->session && number < writer->attempted; number++) {
            writer->events[number].seen = 0;
        }
    }
    memset(reading->result, 0, sizeof *reading->result);
}

static void note_wrong(const struct reading *reading, const char *what, uint32_t id,
                       uint64_t number, uint32_t bytes)
{
    struct readback *result = reading->result;

    if (result->wrong++ == 0) {
        (void)snprintf(result->first_wrong, sizeof result->first_wrong,
                       "%s: writer %" PRIu32 ", event %" PRIu64 ", %" PRIu32 " bytes", what, id,
                       number, bytes);
    }
}

static void compare(const struct reading *reading, uint32_t id, uint64_t number, uint8_t type,
                    const uint8_t *payload, uint32_t bytes)
{
    static uint8_t expected[LARGEST_PAYLOAD];
    struct writer *writer = writer_find(id);
    struct writer_event *event;

    if (writer == NULL || writer->options.session != reading->session ||
        number >= writer->attempted) {
        note_wrong(reading, "never written", id, number, bytes);
        return;
    }
    event = &writer->events[number];
    reading->result->events++;
    if (++event->seen != 1) {
        note_wrong(reading, "there again", id, number, bytes);
        return;
    }
    if (bytes != event->payload_bytes || type != (uint8_t)number) {
        note_wrong(reading, "another size or type", id, number, bytes);
        return;
    }
    writer_payload(id, number, expected, bytes);
    if (bytes != 0 && memcmp(payload, expected, bytes) != 0) {
        note_wrong(reading, "other bytes", id, number, bytes);
    }
    reading->result->unexpected += event->result != WRITER_RECORDED;
}

static void compare_instance(const struct reading *reading, uint32_t instance, uint32_t parent,
                             uint8_t type, const uint8_t *payload, uint32_t bytes)
{
    uint32_t id = instance >> WRITER_NUMBER_BITS;
    uint64_t number = instance & ((1u << WRITER_NUMBER_BITS) - 1);

    if (parent != (writer_has_parent(number) ? id : 0)) {
        note_wrong(reading, "another parent", id, number, bytes);
        return;
    }
    compare(reading, id, number, type, payload, bytes);
}

static void compare_plain(const struct reading *reading, const etwas_guid *guid, uint8_t type,
                          const uint8_t *payload, uint32_t bytes)
{
    uint64_t number;

    memcpy(&number, guid->Data4, sizeof number);
    compare(reading, guid->Data1, number, type, payload, bytes);
}

static void end(const struct reading *reading)
{
    for (const struct writer *writer = writer_first(); writer != NULL; writer = writer->next) {
        for (uint64_t number = 0;
             writer->options.session == reading->session && number < writer->attempted; number++) {
            const struct writer_event *event = &writer->events[number];

            reading->result->missing += event->result == WRITER_RECORDED && event->seen == 0;
        }
    }
}

/* How many events the trace says when they were lost. Each loss is one that can be. */
static uint64_t losses_reported(etwas_trace_handle trace, uint32_t streams)
{
    etwas_loss *losses;
    uint64_t loss_events = 0;
    uint32_t count;
    uint32_t code = etwas_trace_query_losses(trace, NULL, 0, &count);

    assert_int_equal(code, count == 0 ? ERROR_SUCCESS : ERROR_MORE_DATA);
    losses = calloc(count + 1, sizeof *losses);
    assert_non_null(losses);
    assert_int_equal(etwas_trace_query_losses(trace, losses, count, &count), ERROR_SUCCESS);
    for (uint32_t index = 0; index < count; index++) {
        const etwas_loss *loss = &losses[index];

        assert_true(loss->events != 0);
        assert_true(loss->from_raw <= loss->until_raw);
        assert_in_range(loss->cause, 1, ETWAS_LOST_CAUSES);
        assert_true(loss->processor < streams || loss->processor == ETWAS_LOST_ANYWHERE);
        loss_events += loss->events;
    }
    free(losses);
    return loss_events;
}

/* ---- with ProcessTrace ----------------------------------------------------------------------- */

static void on_event(EVENT_RECORD *record)
{
    const struct reading *reading = record->UserContext;
    const uint8_t *payload = record->UserData;
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    if (memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof EventTraceGuid) == 0 ||
        is_metadata(record)) {
        return; /* the log file header, and what is described */
    }
    for (uint16_t index = 0; index < record->ExtendedDataCount; index++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[index];
        EVENT_EXTENDED_ITEM_INSTANCE instance;

        if (item->ExtType == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO) {
            memcpy(&instance, (const void *)(uintptr_t)item->DataPtr, sizeof instance);
            compare_instance(reading, instance.InstanceId, instance.ParentInstanceId, type, payload,
                             record->UserDataLength);
            return;
        }
    }
    compare_plain(reading, &record->EventHeader.ProviderId, type, payload, record->UserDataLength);
}

static void on_damage(const etwas_damage *damage, void *context)
{
    const struct reading *reading = context;

    (void)damage;
    reading->result->damages++;
}

void read_back(etwas_trace_handle session, const char *path, struct readback *result)
{
    struct reading reading = {session, result};
    EVENT_TRACE_LOGFILEA file = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_event,
        .Context = &reading,
    };
    etwas_trace_information information;
    etwas_trace_handle trace;
    uint32_t code;

    begin(&reading);
    trace = OpenTraceA(&file);
    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        fail_msg("%s cannot be opened", path);
    }
    assert_int_equal(etwas_trace_on_damage(trace, on_damage, &reading), ERROR_SUCCESS);
    code = ProcessTrace(&trace, 1, NULL, NULL);
    assert_int_equal(code, result->damages > 0 ? ERROR_FILE_CORRUPT : ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
    result->losses_reported = losses_reported(trace, file.LogfileHeader.NumberOfProcessors);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    end(&reading);
    result->events_lost = information.lost_events;
    result->buffers_lost = information.lost_buffers;
    result->overwritten_events = information.overwritten_events;
    result->overwritten_buffers = information.overwritten_buffers;
    result->part = information.part;
    result->buffers = information.buffers;
    result->clock = file.LogfileHeader.ReservedFlags;
    result->processors = file.LogfileHeader.NumberOfProcessors;
    result->computer_processors = information.processors;
    result->unfinished = information.unfinished;
}

/* ---- with the walker ------------------------------------------------------------------------- */

/* The next field of a line, terminated; NULL: none. */
static char *field(char **rest)
{
    return strsep(rest, "\t");
}

static uint8_t digit(char text)
{
    return (uint8_t)(text <= '9' ? text - '0' : text - 'a' + 10);
}

static uint32_t from_hex(const char *text, uint8_t *bytes)
{
    uint32_t count = 0;

    while (text[0] != '\0' && text[0] != '\n' && count < LARGEST_PAYLOAD) {
        bytes[count++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
        text += 2;
    }
    return count;
}

/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx": only the parts writers use. */
static etwas_guid from_guid_text(const char *text)
{
    etwas_guid guid = {0};
    char digits[17] = {0};

    guid.Data1 = (uint32_t)strtoul(text, NULL, 16);
    memcpy(digits, text + 19, 4);
    memcpy(digits + 4, text + 24, 12);
    (void)from_hex(digits, guid.Data4);
    return guid;
}

static void compare_line(const struct reading *reading, char *line)
{
    static uint8_t payload[LARGEST_PAYLOAD];
    char *fields[9];
    uint8_t type;
    uint32_t bytes;

    for (int index = 0; index < 9; index++) {
        fields[index] = field(&line);
        assert_non_null(fields[index]);
    }
    type = (uint8_t)strtoul(fields[3], NULL, 10);
    bytes = from_hex(fields[8], payload);
    if (strcmp(fields[2], "INSTANCE64") == 0) {
        compare_instance(reading, (uint32_t)strtoul(fields[5], NULL, 10),
                         (uint32_t)strtoul(fields[6], NULL, 10), type, payload, bytes);
    } else {
        etwas_guid guid = from_guid_text(fields[4]);

        compare_plain(reading, &guid, type, payload, bytes);
    }
}

/* The number behind "key": in the report; 0 when it is not there. */
static uint64_t reported(const char *report, const char *key)
{
    const char *found = strstr(report, key);

    return found != NULL ? strtoull(found + strlen(key), NULL, 10) : 0;
}

void walk_back(etwas_trace_handle session, const char *path, bool strict, struct readback *result)
{
    struct reading reading = {session, result};
    char command[1024];
    char *line = NULL;
    size_t room = 0;
    const char *violations;
    FILE *pipe;
    int status;

    begin(&reading);
    (void)snprintf(command, sizeof command, WALKER " --payloads '%s'", path);
    pipe = popen(command, "re");
    assert_non_null(pipe);
    while (getline(&line, &room, pipe) > 0 && line[0] != '{') {
        compare_line(&reading, line);
    }
    assert_non_null(line);
    result->buffers = reported(line, "\"buffers\": ");
    result->events_lost = reported(line, "\"events_lost\": ");
    result->buffers_lost = reported(line, "\"buffers_lost\": ");
    result->overwritten_events = reported(line, "\"overwritten_events\": ");
    result->overwritten_buffers = reported(line, "\"overwritten_buffers\": ");
    result->part = (uint32_t)reported(line, "\"part\": ");
    result->clock = (uint32_t)reported(line, "\"clock\": ");
    violations = strstr(line, "\"violations\": ");
    (void)snprintf(result->violations, sizeof result->violations, "%s",
                   violations != NULL ? violations : "no report");
    free(line);
    status = pclose(pipe);
    end(&reading);
    if (strict && status != 0) {
        fail_msg("the walker on %s: %s", path, result->violations);
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

static void expect_exact(const struct readback *result, const etwas_session_counts *counts)
{
    if (result->wrong != 0) {
        fail_msg("%" PRIu64 " events are wrong; first: %s", result->wrong, result->first_wrong);
    }
    assert_int_equal(result->missing, counts->overwritten);
    assert_int_equal(result->overwritten_events, counts->overwritten);
    assert_int_equal(result->unexpected, 0);
    assert_int_equal(result->damages, 0);
    assert_false(result->unfinished);
    assert_int_equal(result->events, counts->recorded);
    assert_int_equal(result->buffers + result->overwritten_buffers, counts->buffers_written);
    assert_int_equal(result->events_lost, counts->lost);
    assert_int_equal(result->buffers_lost, counts->buffers_lost);
}

void expect_file_is_exact(etwas_trace_handle session, const char *path,
                          const etwas_session_counts *counts)
{
    struct readback result;

    expect_exact_account(session, counts);
    walk_back(session, path, true, &result);
    expect_exact(&result, counts);
    read_back(session, path, &result);
    expect_exact(&result, counts);
    assert_int_equal(result.losses_reported, counts->lost - counts->lost_in_kernel);
}
