/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A shared library with one function, which does nothing. */
#ifndef ETWAS_BENCH_EMPTY_CALL_EMPTY_CALL_H
#define ETWAS_BENCH_EMPTY_CALL_EMPTY_CALL_H

__attribute__((visibility("default"))) void bench_empty_call(void);

#endif
