/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the kernel's addresses that records named are, told as records of our own (etl/own_record.h): so
 * that the trace says it to who reads it elsewhere, or may not see the kernel's symbols.
 */
#ifndef ETWAS_SYSTEM_NAMES_KERNEL_SYMBOLS_H
#define ETWAS_SYSTEM_NAMES_KERNEL_SYMBOLS_H

#include "system/names/kernel_addresses.h"
#include "system/stream/record_builder.h"

/*
 * Reads `path`, which is as /proc/kallsyms, once, and tells the functions in which the addresses lie, each
 * once, in ascending order. In no function is what lies further behind a symbol than functions are
 * long. Where the kernel shows no addresses nothing is told.
 */
void etwas_kernel_symbols_emit(const struct etwas_kernel_addresses *addresses, const char *path,
                               struct etwas_record_builder *record, struct etwas_emitter *emitter);

#endif
