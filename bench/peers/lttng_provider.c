/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The probes of lttng_provider.h, which LTTng's macros make. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "lttng_provider.h"
