/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Our headers with their Windows names, and X11's, which has a BOOL of its own, in either order.
 */
#ifdef X11_FIRST
#include <X11/Xmd.h>
#endif

#include <etwas/KernelTraceControl.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/wmistr.h>

#ifndef X11_FIRST
#include <X11/Xmd.h>
#endif

ETWAS_STATIC_ASSERT(sizeof(BOOL) == 1, "X11's");
ETWAS_STATIC_ASSERT(sizeof(ULONG) == 4, "ours");
