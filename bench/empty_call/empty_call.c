/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "empty_call/empty_call.h"

void bench_empty_call(void)
{
}
