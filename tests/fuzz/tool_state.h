/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Included ahead of each source of the command, which is written to run once: what it keeps is in two
 * sections, from which the fuzz target makes it as it was.
 */
#pragma clang section data = "tool_data" bss = "tool_bss"
