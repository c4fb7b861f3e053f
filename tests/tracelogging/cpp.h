/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Programs in C++ whose events cpp_test.c looks at. */
#ifndef ETWAS_TESTS_TRACELOGGING_CPP_H
#define ETWAS_TESTS_TRACELOGGING_CPP_H

#include <etwas/TraceLoggingProvider.h>

ETWAS_BEGIN_DECLS

TRACELOGGING_DECLARE_PROVIDER(cpp_provider);

void write_temporaries(void);
void write_in_templates(void);
void write_an_activity(const etwas_guid *related);
void write_nested_thread_activities(void);
void leave_activities_unstopped(void);
void move_an_activity(void);
void set_the_threads_id(const etwas_guid *id);

ETWAS_END_DECLS

#endif
