/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * QueryAllTraces, A and W: the ordinary sessions of the process, then those that other processes
 * share, each in a block of the caller's.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>

#include "control/prepare.h"
#include "control/properties.h"
#include "platform/wait.h"
#include "sharing/remote.h"

#define TIMEOUT_NS UINT64_C(1000000000)

/* The sessions there are at one moment; private ones have other entries. */
static uint32_t list_sessions(struct etwas_session_key keys[ETWAS_SESSIONS])
{
    uint32_t count = 0;

    etwas_control_lock();
    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        struct etwas_session_key key = etwas_session_key(&etwas_sessions[index]);

        if (etwas_session_find(key) != NULL) {
            keys[count++] = key;
        }
    }
    etwas_control_unlock();
    return count;
}

/* Every block, before one is written to: there are no filters, since no session here has them. */
static uint32_t query_all_check(EVENT_TRACE_PROPERTIES *const *array, uint32_t count)
{
    if (array == NULL || count == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < count; index++) {
        uint32_t code = etwas_properties_check(array[index]);
        struct etwas_process_filters filters;

        if (code == ERROR_SUCCESS) {
            code = etwas_properties_filters(array[index], 0, &filters);
        }
        if (code != ERROR_SUCCESS) {
            return code;
        }
    }
    return ERROR_SUCCESS;
}

/* What has been found, and the place of the next block. */
struct query_result {
    EVENT_TRACE_PROPERTIES **array;
    uint32_t array_count;
    enum etwas_name_encoding encoding;
    uint32_t filled;
    uint32_t found;
    uint32_t code;
};

/*
 * Returns the caller's next block. NULL: there is none left; the session is counted nevertheless.
 */
static EVENT_TRACE_PROPERTIES *next_block(const struct query_result *result)
{
    return result->filled < result->array_count ? result->array[result->filled] : NULL;
}

/* A session that has ended meanwhile is none. */
static void query_all_store_code(struct query_result *result, uint32_t code)
{
    if (code == ERROR_WMI_INSTANCE_NOT_FOUND) {
        return;
    }
    if (next_block(result) != NULL) {
        result->filled++;
    }
    result->found++;
    result->code = code != ERROR_SUCCESS ? code : result->code;
}

static void query_own(struct query_result *result)
{
    struct etwas_session_key keys[ETWAS_SESSIONS];
    uint32_t count = list_sessions(keys);

    for (uint32_t index = 0; index < count; index++) {
        const struct etwas_reply reply = {.properties = next_block(result),
                                          .encoding = result->encoding};

        query_all_store_code(result, reply.properties != NULL
                                         ? etwas_properties_fill(&reply, keys[index])
                                         : (uint32_t)ERROR_MORE_DATA);
    }
}

/* A session of another process, whose host fills the caller's block. */
struct remote_query {
    struct etwas_registry_entry *entry;
    struct etwas_reply reply; /* no block: there is none left */
    int connection;
    uint32_t code;
};

static void query_all_request(struct remote_query *query, const struct query_result *result,
                              uint32_t index)
{
    const uint32_t place = result->filled + index;

    query->reply = (struct etwas_reply){
        .properties = place < result->array_count ? result->array[place] : NULL,
        .encoding = result->encoding,
    };
    query->code = query->reply.properties != NULL
                      ? etwas_remote_query_begin(query->entry, &query->reply, &query->connection)
                      : (uint32_t)ERROR_MORE_DATA;
}

/* A block that a session left empty because it has ended goes to the next session. */
static void query_all_receive(struct remote_query *query, struct query_result *result,
                              uint64_t deadline_ns)
{
    if (query->code == ERROR_SUCCESS) {
        query->reply.properties = next_block(result);
        query->code =
            etwas_remote_query_end(query->entry, &query->reply, query->connection, deadline_ns);
    }
    /* A session whose host could not be queried. */
    query_all_store_code(result, query->code == ERROR_TIMEOUT
                                     ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND
                                     : query->code);
    free(query->entry);
}

/*
 * Queries the sessions of other processes. All hosts are asked before any is waited for, so that
 * all stopped hosts together cost one timeout.
 */
static void query_remote(struct query_result *result)
{
    struct etwas_registry_entry **entries;
    uint32_t unread;
    uint32_t count = etwas_remote_list(&entries, &unread);
    struct remote_query *questions = calloc(count + 1, sizeof *questions);
    uint64_t deadline_ns;

    if (result->code == ERROR_SUCCESS) {
        result->code = questions != NULL ? unread : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;
    }
    for (uint32_t index = 0; questions != NULL && index < count; index++) {
        questions[index].entry = entries[index];
        query_all_request(&questions[index], result, index);
    }
    deadline_ns = etwas_monotonic_ns() + TIMEOUT_NS;
    for (uint32_t index = 0; index < count; index++) {
        if (questions != NULL) {
            query_all_receive(&questions[index], result, deadline_ns);
        } else {
            free(entries[index]);
        }
    }
    free(questions);
    free(entries);
}

static uint32_t query_all(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                          uint32_t *session_count, enum etwas_name_encoding encoding)
{
    struct query_result result = {.array = array, .array_count = array_count, .encoding = encoding};
    uint32_t code = etwas_prepare_to_serve();

    if (code == ERROR_SUCCESS) {
        code =
            session_count != NULL ? query_all_check(array, array_count) : ERROR_INVALID_PARAMETER;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    query_own(&result);
    query_remote(&result);
    *session_count = result.found;
    return result.code;
}

uint32_t QueryAllTracesA(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                         uint32_t *session_count)
{
    return query_all(array, array_count, session_count, ETWAS_NAMES_UTF8);
}

uint32_t QueryAllTracesW(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                         uint32_t *session_count)
{
    return query_all(array, array_count, session_count, ETWAS_NAMES_UTF16);
}
