/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef NGX_HTTP_ETWAS_EVENTS_H
#define NGX_HTTP_ETWAS_EVENTS_H

/*
 * The events of a request. A request is an instance of the class Request. Each phase of it is an
 * instance of a class of its own, with the number of the request and without a parent. All classes
 * are described, so that a trace shows them by name.
 *
 * Events that happen together are written by one call, and have one time stamp.
 *
 * A session counts the events it has no room for, so the logging functions return no error.
 */

#include <etwas/etwas.h>
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

/*
 * The phases that are logged as instances. An internal redirect continues the phase that it is in.
 */
enum ngx_http_etwas_phase {
    NGX_HTTP_ETWAS_CONTENT, /* produces the response header, from a file or an upstream */
    NGX_HTTP_ETWAS_SEND,    /* sends the response to the client */
    NGX_HTTP_ETWAS_PHASES   /* the number of phases; as a phase: none */
};

typedef struct {
    EVENT_INSTANCE_INFO self;
    enum ngx_http_etwas_phase phase;
    bool may_wait;              /* its content has not been requested yet */
    int64_t start;              /* raw time of the session's clock */
    ngx_msec_t start_msec;      /* nginx's time, updated once per turn of its event loop */
    ngx_pool_cleanup_t of_pool; /* finds it again in the pool of the request */
} ngx_http_etwas_request;

/*
 * Registers the provider and its classes, and describes them. Call it once in a worker, before a
 * session starts. Returns a code of <etwas/winerror.h>; on failure nothing is registered.
 */
uint32_t ngx_http_etwas_register(void);
void ngx_http_etwas_unregister(void);

/* Logs Start and begins the phase, if it is not none. Sets the number of `request`. */
void ngx_http_etwas_begin(etwas_trace_handle session, ngx_http_etwas_request *request,
                          const ngx_http_request_t *r, enum ngx_http_etwas_phase phase);

/*
 * Ends the current phase of `request` and begins this one. Does nothing if it is in this one
 * already.
 */
void ngx_http_etwas_enter(etwas_trace_handle session, ngx_http_etwas_request *request,
                          enum ngx_http_etwas_phase phase);

/* Logs that the request waited before its content was requested, for limit_req or auth_request. */
void ngx_http_etwas_log_wait(etwas_trace_handle session, ngx_http_etwas_request *request,
                             uint64_t duration_us);

/*
 * Logs an event for each upstream server that was contacted, in order, with nginx's measurements.
 * There must be at least one.
 */
void ngx_http_etwas_log_upstreams(etwas_trace_handle session, ngx_http_etwas_request *request,
                                  const ngx_http_request_t *r);

/* Logs that the request was slower than its location allows. */
void ngx_http_etwas_log_slow(etwas_trace_handle session, ngx_http_etwas_request *request,
                             const ngx_http_request_t *r, uint64_t duration_us, uint64_t limit_us);

/* Ends the current phase and logs End. */
void ngx_http_etwas_end(etwas_trace_handle session, ngx_http_etwas_request *request,
                        const ngx_http_request_t *r);

#endif
