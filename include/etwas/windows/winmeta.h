/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#include <etwas/windows_bool.h>
#include <etwas/winmeta.h>
