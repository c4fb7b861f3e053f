/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What controllers do to a running session: query, flush, update, increment, and what is refused.
 */
#include <stdio.h>
#include <string.h>

#include "soak.h"

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static char names[SOAK_CONTROLLERS][SOAK_NAME_BYTES];

void soak_names_set(uint32_t controller, const char *name)
{
    (void)pthread_mutex_lock(&names_lock);
    (void)snprintf(names[controller], SOAK_NAME_BYTES, "%s", name);
    (void)pthread_mutex_unlock(&names_lock);
}

bool soak_names_any(struct soak_random *random, char name[SOAK_NAME_BYTES])
{
    (void)pthread_mutex_lock(&names_lock);
    memcpy(name, names[soak_upto(random, SOAK_CONTROLLERS - 1)], SOAK_NAME_BYTES);
    (void)pthread_mutex_unlock(&names_lock);
    return name[0] != 0;
}

/* A session whose file is full stops by itself, at any moment. */
static bool says_it_ended(const struct soak_session *session, uint32_t code)
{
    return soak_may_end(session->request) &&
           (code == ERROR_INVALID_HANDLE || code == ERROR_WMI_INSTANCE_NOT_FOUND ||
            code == ERROR_ACTIVE_CONNECTIONS);
}

bool soak_expect(struct soak_session *session, const char *what, uint32_t code, uint32_t expected)
{
    if (code == expected) {
        return true;
    }
    if (says_it_ended(session, code)) {
        session->ended = true;
        return false;
    }
    soak_fault(session->where, "%s: code %u where %u is right", what, code, expected);
    return false;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void query(struct soak_session *session)
{
    const struct soak_request *request = session->request;
    bool by_name = soak_once_in(session->random, 2);
    struct soak_block block;

    soak_block_begin(&block, request->wide, "");
    if (!soak_expect(session, "QUERY",
                     soak_control(by_name ? 0 : session->handle, by_name ? request->name : NULL,
                                  request->wide, &block, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_SUCCESS)) {
        return;
    }
    if (block.properties.Wnode.HistoricalContext != session->handle ||
        /* R134: every UPDATE turns real time on or off. */
        ((block.properties.LogFileMode ^ request->mode) & ~(uint32_t)EVENT_TRACE_REAL_TIME_MODE) !=
            0 ||
        block.properties.FreeBuffers > block.properties.NumberOfBuffers ||
        (!session->maximum_changed &&
         block.properties.NumberOfBuffers > block.properties.MaximumBuffers)) {
        soak_fault(session->where, "QUERY: handle %llx mode 0x%x, %u buffers free of %u of %u",
                   (unsigned long long)block.properties.Wnode.HistoricalContext,
                   block.properties.LogFileMode, block.properties.FreeBuffers,
                   block.properties.NumberOfBuffers, block.properties.MaximumBuffers);
    }
}

/* At any moment no more is counted than has been attempted, and nothing is taken back. */
static void count(struct soak_session *session)
{
    etwas_session_counts first;
    etwas_session_counts second;

    if (!soak_expect(session, "etwas_counts", etwas_counts(session->handle, &first),
                     ERROR_SUCCESS) ||
        !soak_expect(session, "etwas_counts", etwas_counts(session->handle, &second),
                     ERROR_SUCCESS)) {
        return;
    }
    if (second.recorded + second.overwritten + second.lost <
            first.recorded + first.overwritten + first.lost ||
        second.lost < first.lost || second.overwritten < first.overwritten) {
        soak_fault(session->where, "counts go back: %llu %llu %llu, then %llu %llu %llu",
                   (unsigned long long)first.recorded, (unsigned long long)first.overwritten,
                   (unsigned long long)first.lost, (unsigned long long)second.recorded,
                   (unsigned long long)second.overwritten, (unsigned long long)second.lost);
    }
}

static void ask_memory(struct soak_session *session)
{
    etwas_session_memory memory;
    uint32_t protocol;

    if (soak_expect(session, "etwas_session_protocol",
                    etwas_session_protocol(session->handle, &protocol), ERROR_SUCCESS) &&
        (session->request->mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) != 0 &&
        protocol != ETWAS_PROTOCOL_SHARED) {
        soak_fault(session->where, "one slot for all processors has protocol %u", protocol);
    }
    (void)soak_expect(session, "etwas_memory", etwas_memory(session->handle, &memory),
                      ERROR_SUCCESS);
}

/* ---- flushing -------------------------------------------------------------------------------- */

void soak_snapshot(struct soak_session *session, const char *name)
{
    char path[SOAK_PATH_BYTES];
    struct soak_block block;
    uint32_t code;

    (void)snprintf(path, sizeof path, "%.400s/%s", session->request->folder, name);
    soak_block_begin(&block, session->request->wide, path);
    switch (soak_upto(session->random, 2)) {
    case 0:
        code = etwas_snapshot(session->handle, path);
        break;
    case 1:
        code = soak_control(session->handle, NULL, session->request->wide, &block,
                            EVENT_TRACE_CONTROL_FLUSH);
        break;
    default:
        code = soak_control(session->handle, NULL, session->request->wide, &block,
                            EVENT_TRACE_CONTROL_UPDATE);
        break;
    }
    (void)soak_expect(session, "snapshot", code, ERROR_SUCCESS);
}

static void flush(struct soak_session *session)
{
    char name[32];
    struct soak_block block;

    if (session->request->kind == SOAK_BUFFERING && !session->request->filtered_out) {
        (void)snprintf(name, sizeof name, "snap%u.etl", session->snapshots++);
        soak_snapshot(session, name);
    } else if (session->request->kind == SOAK_BUFFERING) {
        query(session);
    } else if (soak_once_in(session->random, 2)) {
        (void)soak_expect(session, "etwas_flush", etwas_flush(session->handle), ERROR_SUCCESS);
    } else {
        soak_block_begin(&block, session->request->wide, "");
        (void)soak_expect(session, "FLUSH",
                          soak_control(session->handle, NULL, session->request->wide, &block,
                                       EVENT_TRACE_CONTROL_FLUSH),
                          ERROR_SUCCESS);
    }
}

/* ---- changing -------------------------------------------------------------------------------- */

static uint32_t update(struct soak_session *session, struct soak_block *block)
{
    block->properties.LogFileMode = soak_once_in(session->random, 2) ? session->request->mode : 0;
    return soak_control(session->handle, NULL, session->request->wide, block,
                        EVENT_TRACE_CONTROL_UPDATE);
}

static void update_numbers(struct soak_session *session)
{
    enum {
        NOBODYS_MAXIMUM = 1000000 /* which no session has: to repeat the present one is allowed */
    };
    bool private = (session->request->mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0;
    bool maximum = soak_once_in(session->random, 2);
    struct soak_block block;

    soak_block_begin(&block, session->request->wide, NULL);
    block.properties.FlushTimer = soak_upto(session->random, 3);
    block.properties.MaximumBuffers =
        maximum ? (private ? NOBODYS_MAXIMUM : 1) + soak_upto(session->random, 100) : 0;
    /* What is allocated stays, also above a lower maximum. */
    session->maximum_changed = session->maximum_changed || maximum;
    (void)soak_expect(session, "UPDATE of numbers", update(session, &block),
                      private && maximum ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS);
}

static void update_file(struct soak_session *session)
{
    char path[SOAK_PATH_BYTES];
    struct soak_block block;

    if (session->request->kind == SOAK_BUFFERING || session->request->filtered_out) {
        return;
    }
    (void)snprintf(path, sizeof path, "%.400s/change%u%s.etl", session->request->folder,
                   session->file_changes++, session->request->kind == SOAK_NEWFILE ? "_%d" : "");
    soak_block_begin(&block, session->request->wide, path);
    (void)soak_expect(session, "UPDATE of the file", update(session, &block), ERROR_SUCCESS);
}

static void increment(struct soak_session *session)
{
    struct soak_block block;

    if (session->request->filtered_out) {
        return;
    }
    soak_block_begin(&block, session->request->wide, "");
    (void)soak_expect(session, "INCREMENT_FILE",
                      soak_control(session->handle, NULL, session->request->wide, &block,
                                   EVENT_TRACE_CONTROL_INCREMENT_FILE),
                      session->request->kind == SOAK_NEWFILE ? ERROR_SUCCESS
                                                             : ERROR_INVALID_PARAMETER);
}

/* For a provider that nobody has registered; at the latest the session's end disables it. */
static void enable(struct soak_session *session)
{
    const etwas_guid provider = {0x50a40004, (uint16_t)soak_upto(session->random, 3), 0, {0}};
    bool on = soak_once_in(session->random, 2);
    uint32_t code = EnableTrace(on, UINT32_MAX, TRACE_LEVEL_VERBOSE, &provider, session->handle);

    /* What it says of a session that has stopped. */
    if (code != ERROR_INVALID_PARAMETER || !soak_may_end(session->request)) {
        (void)soak_expect(session, "EnableTrace", code, ERROR_SUCCESS);
    }
}

/* Some more, or otherwise than before: for all sessions, which go on meanwhile. */
static void describe(struct soak_session *session)
{
    enum {
        MESSAGES = 20,
        LONGEST = 5000
    };
    const etwas_guid message = {0x50a4000c, 0, 0, {0}};
    char format[LONGEST + 1];
    size_t bytes = soak_upto(session->random, LONGEST);

    memset(format, 'x', bytes);
    format[bytes] = '\0';
    (void)soak_expect(
        session, "etwas_describe_message",
        etwas_describe_message(&message, (uint16_t)soak_upto(session->random, MESSAGES), format),
        ERROR_SUCCESS);
}

/* Calls that change nothing, with the code of each. */
static void refused(struct soak_session *session)
{
    const struct soak_request *request = session->request;
    uint32_t control_code = EVENT_TRACE_CONTROL_UPDATE;
    uint32_t expected = ERROR_INVALID_PARAMETER;
    struct soak_block block;
    const char *what;

    soak_block_begin(&block, request->wide, NULL);
    switch (soak_upto(session->random, 5)) {
    case 0:
        what = "UPDATE of EnableFlags";
        block.properties.EnableFlags = EVENT_TRACE_FLAG_PROCESS;
        break;
    case 1:
        what = "UPDATE to modes that the session has not";
        block.properties.LogFileMode = request->mode ^ EVENT_TRACE_INDEPENDENT_SESSION_MODE;
        if ((request->mode & EVENT_TRACE_INDEPENDENT_SESSION_MODE) != 0) {
            return;
        }
        break;
    case 2:
        what = "UPDATE with a short block";
        block.properties.Wnode.BufferSize = sizeof(EVENT_TRACE_PROPERTIES) - 1;
        expected = ERROR_BAD_LENGTH;
        break;
    case 3:
        what = "UPDATE to a folder that is missing";
        if (request->kind == SOAK_NEWFILE || request->filtered_out) {
            return;
        }
        soak_block_begin(&block, request->wide, "/no such folder/f.etl");
        expected = ERROR_PATH_NOT_FOUND;
        break;
    case 4:
        what = "CONVERT_TO_REALTIME of what cannot be real-time";
        if ((request->mode & (EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_BUFFERING_MODE |
                              EVENT_TRACE_PRIVATE_LOGGER_MODE)) == 0) {
            return;
        }
        control_code = EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME;
        break;
    default:
        what = "UPDATE to the same file";
        if (!request->has_file || session->file_changes != 0 || request->filtered_out) {
            return;
        }
        soak_block_begin(&block, request->wide, request->file);
        expected = ERROR_BAD_PATHNAME;
        break;
    }
    (void)soak_expect(session, what,
                      soak_control(session->handle, NULL, request->wide, &block, control_code),
                      expected);
}

/* Flushes or queries another controller's session, which may stop meanwhile. */
static void meddle(struct soak_session *session)
{
    bool flushes = soak_once_in(session->random, 2);
    char name[SOAK_NAME_BYTES];
    struct soak_block block;
    uint32_t code;

    if (!soak_names_any(session->random, name)) {
        return;
    }
    soak_block_begin(&block, false, "");
    code = soak_control(0, name, false, &block,
                        flushes ? EVENT_TRACE_CONTROL_FLUSH : EVENT_TRACE_CONTROL_QUERY);
    if (code != ERROR_SUCCESS && code != ERROR_WMI_INSTANCE_NOT_FOUND &&
        code != ERROR_INVALID_HANDLE && code != ERROR_ACTIVE_CONNECTIONS &&
        (code != ERROR_BAD_PATHNAME || !flushes)) {
        soak_fault(session->where, "%s of another session: code %u", flushes ? "FLUSH" : "QUERY",
                   code);
    }
}

void soak_operate(struct soak_session *session)
{
    static void (*const operations[])(struct soak_session *) = {
        query,   query,  count,          count,       ask_memory, flush,     flush,
        flush,   flush,  update_numbers, update_file, increment,  increment, refused,
        refused, meddle, meddle,         enable,      describe,
    };

    operations[soak_upto(session->random, sizeof operations / sizeof operations[0] - 1)](session);
    if (soak_once_in(session->random, 2)) {
        soak_pause_us(soak_upto(session->random, 3000));
    }
}
