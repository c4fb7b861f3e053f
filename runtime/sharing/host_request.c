/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_request.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/lifecycle.h"
#include "platform/own_descriptor.h"
#include "platform/time_namespace.h"
#include "platform/wait.h"
#include "session/session.h"
#include "sharing/apply.h"
#include "sharing/service.h"

#define ANSWER_TIMEOUT_NS UINT64_C(1000000000)

enum {
    END_PAUSE_NS = 1000000
};

static uint32_t unanswered; /* requests that have a thread */

struct request {
    int connection;
    uint64_t session;
    struct etwas_message message;
    struct etwas_request_head head;
    uint32_t bytes; /* bytes of what follows */
    uint8_t content[] __attribute__((aligned(16)));
};

static void request_answer(const struct request *request, uint32_t code, const void *body,
                           uint32_t bytes)
{
    const struct etwas_message message = {
        .op = request->message.op, .code = code, .bytes = bytes, .descriptor = -1};

    (void)etwas_message_send(request->connection, &message, body,
                             etwas_monotonic_ns() + ANSWER_TIMEOUT_NS);
}

/* Another process has sent the block. Its size is checked here; ControlTrace checks the rest. */
static void request_control(struct request *request)
{
    EVENT_TRACE_PROPERTIES *properties = (EVENT_TRACE_PROPERTIES *)(void *)request->content;
    uint32_t code = ERROR_BAD_LENGTH;

    if (request->bytes >= sizeof *properties && properties->Wnode.BufferSize == request->bytes &&
        (properties->Wnode.Flags & WNODE_FLAG_VERSIONED_PROPERTIES) == 0) {
        code = ControlTraceW(request->session, NULL, properties, request->head.control_code);
    }
    request_answer(request, code, request->content, request->bytes);
}

static void request_enable(struct request *request)
{
    struct etwas_registry_enablement enablement;
    size_t used;
    uint32_t code =
        etwas_registry_decode_enablement(request->content, request->bytes, &enablement, &used);

    if (code == ERROR_SUCCESS) {
        code = etwas_enablement_replay(&enablement, request->session, request->head.control_code,
                                       request->head.timeout_ms);
    }
    request_answer(request, code, NULL, 0);
}

/* Answers with the session's account, after stopping it if that was requested. */
static void request_account(struct request *request)
{
    void *body = malloc(ETWAS_MESSAGE_BYTES);
    uint32_t code = ERROR_NOT_ENOUGH_MEMORY;
    size_t bytes = 0;

    if (body != NULL) {
        code = request->head.control_code == EVENT_TRACE_CONTROL_STOP
                   ? etwas_stop(request->session, NULL)
                   : (uint32_t)ERROR_SUCCESS;
    }
    if (code == ERROR_SUCCESS) {
        bytes = etwas_account_write(request->session, body, ETWAS_MESSAGE_BYTES, &code);
    }
    request_answer(request, code, body, (uint32_t)bytes);
    free(body);
}

/* The file is this process's: it may be written wherever this process may write. */
static void request_snapshot(struct request *request)
{
    struct etwas_snapshot_request asked;
    const size_t bytes = sizeof asked - sizeof asked.head;
    struct etwas_session_key key;
    uint32_t code = ERROR_BAD_LENGTH;

    if (request->bytes == bytes) {
        memcpy((uint8_t *)&asked + sizeof asked.head, request->content, bytes);
        asked.file_name[ETWAS_NAME_UNITS] = 0;
        code = asked.file_name[0] == '/' && etwas_session_key_of(request->session, &key)
                   ? etwas_lifecycle_snapshot_around(key, asked.file_name,
                                                     asked.moment + etwas_time_offset_known_ns(),
                                                     asked.before_ns)
                   : (uint32_t)ERROR_INVALID_PARAMETER;
    }
    request_answer(request, code, NULL, 0);
}

static bool request_is_of_session(const struct request *request)
{
    return request->head.gate == 0 ||
           request->head.gate == etwas_handle_generation(request->session);
}

/* There is a function for each op of a request. */
static void (*const serve[])(struct request *request) = {
    [ETWAS_MESSAGE_CONTROL] = request_control,
    [ETWAS_MESSAGE_ENABLE] = request_enable,
    [ETWAS_MESSAGE_SNAPSHOT] = request_snapshot,
    [ETWAS_MESSAGE_ACCOUNT] = request_account,
};

static void *request_serve(void *argument)
{
    struct request *request = argument;

    if (request_is_of_session(request)) {
        serve[request->message.op](request);
    } else {
        request_answer(request, ERROR_WMI_INSTANCE_NOT_FOUND, NULL, 0);
    }
    etwas_descriptor_close(request->connection);
    free(request);
    ck_pr_dec_32(&unanswered);
    return NULL;
}

bool etwas_host_request(int connection, uint64_t session, const struct etwas_message *message,
                        const void *body)
{
    struct request *request;

    if (message->bytes < sizeof request->head) {
        return false;
    }
    request = malloc(sizeof *request + message->bytes);
    if (request == NULL) {
        return false;
    }
    *request = (struct request){.connection = connection, .session = session, .message = *message};
    memcpy(&request->head, body, sizeof request->head);
    request->bytes = message->bytes - (uint32_t)sizeof request->head;
    memcpy(request->content, (const uint8_t *)body + sizeof request->head, request->bytes);
    ck_pr_inc_32(&unanswered);
    if (!etwas_service_spawn(request_serve, request, "etwas-request")) {
        ck_pr_dec_32(&unanswered);
        free(request);
        return false;
    }
    return true;
}

void etwas_host_requests_end(void)
{
    const struct timespec pause = {.tv_nsec = END_PAUSE_NS};

    while (ck_pr_load_32(&unanswered) != 0) {
        (void)nanosleep(&pause, NULL);
    }
}

void etwas_host_requests_forget(void)
{
    ck_pr_store_32(&unanswered, 0);
}
