/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The types and functions of the kernel as it describes them itself (BTF): under which numbers a BPF program is told
 * of functions.
 */
#ifndef ETWAS_SYSTEM_STREAM_BTF_H
#define ETWAS_SYSTEM_STREAM_BTF_H

#include <stddef.h>
#include <stdint.h>

/* numbers[i] receives that of the function names[i]; 0: it is not there, or the description makes no sense. */
void etwas_btf_find(const uint8_t *btf, size_t bytes, const char *const *names, size_t count,
                    uint32_t *numbers);

/* The same of the running kernel. */
void etwas_btf_find_here(const char *const *names, size_t count, uint32_t *numbers);

#endif
