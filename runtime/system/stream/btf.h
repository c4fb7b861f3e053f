/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's own description of its types and functions (BTF): the numbers by which a BPF program
 * refers to functions.
 */
#ifndef ETWAS_SYSTEM_STREAM_BTF_H
#define ETWAS_SYSTEM_STREAM_BTF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Stores the number of the function names[i] in numbers[i]; 0: it does not exist, or the
 * description makes no sense.
 */
void etwas_btf_find(const uint8_t *btf, size_t bytes, const char *const *names, size_t count,
                    uint32_t *numbers);

/* Does the same with the description of the running kernel. */
void etwas_btf_find_here(const char *const *names, size_t count, uint32_t *numbers);

#endif
