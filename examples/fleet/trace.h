/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_FLEET_TRACE_H
#define ETWAS_FLEET_TRACE_H

/*
 * What a service of the shop logs: instances with a start and an end (a request, the calls that it
 * makes, the work in between), and events of an activity, one for each order, that all services
 * have by the same id.
 */

#include <etwas/etwas.h>

enum shop_class {
    SHOP_REQUEST,
    SHOP_CALL, /* its parent is a request, as that of the next */
    SHOP_WORK,
    SHOP_CLASSES
};

/* How requests and calls end; in the events by name. */
enum shop_outcome {
    SHOP_DONE,
    SHOP_REFUSED, /* as "sold out": what customers live with */
    SHOP_FAILED   /* somebody does not answer */
};

struct shop_order {
    GUID activity;
    uint32_t number;
    double amount;
};

/*
 * Begins to log: in parts of 1 MB in the folder `spool`, and so that nothing is lost if the process
 * is killed. The file `counts` says at any time how many events were logged. Returns an ETW error,
 * and has said which.
 */
uint32_t shop_trace_start(const char *service, const char *spool, const char *counts);

/* Ends the session. What is logged later is refused. */
uint32_t shop_trace_stop(void);

/*
 * `with` is the service that a call asks, else the one that works. *self is the instance from here
 * to its end.
 */
void shop_trace_begin(enum shop_class class, EVENT_INSTANCE_INFO *self, EVENT_INSTANCE_INFO *parent,
                      const struct shop_order *order, const char *with);
void shop_trace_end(EVENT_INSTANCE_INFO *self, EVENT_INSTANCE_INFO *parent,
                    const struct shop_order *order, enum shop_outcome outcome);

void shop_trace_received(const struct shop_order *order, const char *service);
void shop_trace_answered(const struct shop_order *order, const char *service,
                         enum shop_outcome outcome);

/* Logs an event of level error. */
void shop_trace_trouble(const struct shop_order *order, const char *service, const char *reason);

#endif
