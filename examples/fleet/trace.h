/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_FLEET_TRACE_H
#define ETWAS_FLEET_TRACE_H

/*
 * What a service of the shop logs: instances with a start and an end (a request, the calls that it
 * makes, the work in between), and the events of an activity. Each order is one activity, with the
 * same id in all services.
 */

#include <etwas/etwas.h>

enum shop_class {
    SHOP_REQUEST,
    SHOP_CALL, /* child of a request, as is SHOP_WORK */
    SHOP_WORK,
    SHOP_CLASSES
};

/* The outcome of a request or a call; readers show it by name. */
enum shop_outcome {
    SHOP_DONE,
    SHOP_REFUSED, /* a normal refusal, such as "sold out" */
    SHOP_FAILED   /* a service does not answer */
};

struct shop_order {
    GUID activity;
    uint32_t number;
    double amount;
};

/*
 * Starts logging, to files of 1 MB in the folder `spool`, such that no event is lost if the process
 * is killed. The file `counts` always holds the number of logged events. Returns an ETW error,
 * after reporting it.
 */
uint32_t shop_trace_start(const char *service, const char *spool, const char *counts);

/* Ends the session. Later events are refused. */
uint32_t shop_trace_stop(void);

/*
 * `with` is the service that a call goes to, otherwise the service that does the work. *self
 * identifies the instance until its end.
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
