/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef NGX_HTTP_ETWAS_EVENTS_H
#define NGX_HTTP_ETWAS_EVENTS_H

/*
 * The events of a request: it is an instance of the class Request, and each phase that it goes
 * through is one of a class of its own, with the number of the request, whose parent it is. All of
 * them are described, so that a trace shows them by name.
 *
 * Where a session has no room for an event it counts that itself, so nothing here returns an error.
 */

#include <etwas/etwas.h>
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

/* Phases that are instances. An internal redirect goes on in the phase that made it. */
enum ngx_http_etwas_phase {
    NGX_HTTP_ETWAS_CONTENT, /* until the head of the response is there: by a file, an upstream */
    NGX_HTTP_ETWAS_SEND,    /* the response goes to the client */
    NGX_HTTP_ETWAS_PHASES   /* how many there are; as a phase: none */
};

typedef struct {
    EVENT_INSTANCE_INFO self;
    enum ngx_http_etwas_phase phase;
    bool may_wait; /* its content has not been asked for */
    int64_t start; /* raw time of the session's clock */
    ngx_msec_t
        start_msec; /* nginx's own, which goes on from one turn of its event loop to the next */
    ngx_pool_cleanup_t of_pool; /* by which it is found again */
} ngx_http_etwas_request;

/*
 * Registers the provider and its classes, and describes them; once in a worker, before a session is
 * started. Returns a code of <etwas/winerror.h>; on failure nothing is registered.
 */
uint32_t ngx_http_etwas_register(void);
void ngx_http_etwas_unregister(void);

/* Logs Start; fills in number and phase of `request`: none. */
void ngx_http_etwas_begin(etwas_trace_handle session, ngx_http_etwas_request *request,
                          const ngx_http_request_t *r);

/* Ends the phase that `request` is in, and begins this one; nothing where it is in it already. */
void ngx_http_etwas_enter(etwas_trace_handle session, ngx_http_etwas_request *request,
                          enum ngx_http_etwas_phase phase);

/* Says that the request had to wait before its content was asked for: limit_req, auth_request. */
void ngx_http_etwas_log_wait(etwas_trace_handle session, ngx_http_etwas_request *request,
                             uint64_t duration_us);

/*
 * Logs an event for each upstream server that was asked, with what nginx measured, in their order;
 * there must be one.
 */
void ngx_http_etwas_log_upstreams(etwas_trace_handle session, ngx_http_etwas_request *request,
                                  const ngx_http_request_t *r);

/* Says that the request was slower than its location allows. */
void ngx_http_etwas_log_slow(etwas_trace_handle session, ngx_http_etwas_request *request,
                             const ngx_http_request_t *r, uint64_t duration_us, uint64_t limit_us);

/* Ends the phase that it is in, and logs End. */
void ngx_http_etwas_end(etwas_trace_handle session, ngx_http_etwas_request *request,
                        const ngx_http_request_t *r);

#endif
