/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#ifndef ETWAS_TESTS_DECODE_BUILTIN_CLASSES_H
#define ETWAS_TESTS_DECODE_BUILTIN_CLASSES_H

/*
 * Classes that are built in, for tests whose state is a decoder.
 */

#include "decode/builtin.h"
#include "shown.h"

static const etwas_guid process =
    ETWAS_BUILTIN_GUID(0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c);
static const etwas_guid thread = ETWAS_BUILTIN_GUID(0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c);
static const etwas_guid image = ETWAS_BUILTIN_GUID(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe100a0c911f518);
static const etwas_guid disk_io =
    ETWAS_BUILTIN_GUID(0x3d6fa8d4, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c);
static const etwas_guid file_io =
    ETWAS_BUILTIN_GUID(0x90cbdc39, 0x4a3e, 0x11d1, 0x84f40000f80464e3);
static const etwas_guid page_fault =
    ETWAS_BUILTIN_GUID(0x3d6fa8d3, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c);
static const etwas_guid perf_info =
    ETWAS_BUILTIN_GUID(0xce1dbfb4, 0x137e, 0x4da6, 0x87b03f59aa102cbc);
static const etwas_guid tcp_ip = ETWAS_BUILTIN_GUID(0x9a280ac0, 0xc8e0, 0x11d1, 0x84e200c04fb998a2);
static const etwas_guid udp_ip = ETWAS_BUILTIN_GUID(0xbf3a50c5, 0xa9c9, 0x4988, 0xa0052df0b7c80f80);
static const etwas_guid stack_walk =
    ETWAS_BUILTIN_GUID(0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94f57fe20d0ce3);
static const etwas_guid object = ETWAS_BUILTIN_GUID(0x89497f50, 0xeffe, 0x4440, 0x8cf2ce6b1cdcaca7);
static const etwas_guid debug_print =
    ETWAS_BUILTIN_GUID(0x13976d09, 0xa327, 0x438c, 0x950b7f03192815c7);
static const etwas_guid job = ETWAS_BUILTIN_GUID(0x3282fc76, 0xfeed, 0x498e, 0x8aa7e70f459d430e);
static const etwas_guid system_config =
    ETWAS_BUILTIN_GUID(0x01853a65, 0x418f, 0x4f36, 0xaefcdc0f1d2fd235);
static const etwas_guid event_trace =
    ETWAS_BUILTIN_GUID(0x68fdd900, 0x4a3e, 0x11d1, 0x84f40000f80464e3);
static const etwas_guid own = ETWAS_BUILTIN_GUID(0x7be5a508, 0xdb35, 0x4ec9, 0xb650a9720ecb3b69);

/* A payload with pointers of 64 bits, as text. */
#define SHOWN(class, type, version, payload)                                                       \
    shown_classic_event(*state, &(class), type, version, 8, payload, sizeof(payload) - 1)

#endif
