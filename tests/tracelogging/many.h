/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The functions that write the batches of many_rows.h, in C and in C++. */
#ifndef ETWAS_TESTS_TRACELOGGING_MANY_H
#define ETWAS_TESTS_TRACELOGGING_MANY_H

#include <etwas/TraceLoggingProvider.h>

struct many_values {
    uint32_t number;
    uint16_t array[3];
    const char *text;
    const etwas_wchar *wide;
    etwas_guid guid;
    etwas_ansi_string ansi;
    uint8_t sid[16];
    uint8_t inet6[8];
};

ETWAS_BEGIN_DECLS

extern const struct many_values many_values;
extern const etwas_guid many_activity;
extern const etwas_guid many_related;

/* How often arguments were evaluated. */
extern uint32_t many_evaluated;
uint32_t many_evaluate(void);
const etwas_guid *many_evaluate_id(void);

TRACELOGGING_DECLARE_PROVIDER(many_provider);

/* The numbers of events in the batches, ended by 0. */
extern const uint8_t many_counts[];

/* If `singly` is not 0, each event has a call of its own. */
void write_rows_c(int singly);
void write_rows_cpp(int singly);
void write_evaluated_c(void);
void write_evaluated_cpp(void);
void write_short_lived_c(void);
void write_short_lived_cpp(void);

ETWAS_END_DECLS

#endif
