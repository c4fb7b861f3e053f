/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Emits the functions of the kernel's addresses that records named, as records of our own
 * (etl/own_record.h), so that the trace can be read on another machine, or by a reader that may not
 * see the kernel's symbols.
 */
#ifndef ETWAS_SYSTEM_NAMES_KERNEL_SYMBOLS_H
#define ETWAS_SYSTEM_NAMES_KERNEL_SYMBOLS_H

#include "system/names/kernel_addresses.h"
#include "system/stream/record_builder.h"

/*
 * Reads `path`, a file like /proc/kallsyms, once, and emits the functions that contain the
 * addresses, each once and in ascending order. An address further behind a symbol than functions
 * are long is in no function. Emits nothing where the kernel shows no addresses.
 */
void etwas_kernel_symbols_emit(const struct etwas_kernel_addresses *addresses, const char *path,
                               struct etwas_record_builder *record, struct etwas_emitter *emitter);

#endif
