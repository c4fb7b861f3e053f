/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Shared by the BPF programs (*.bpf.c): helper functions of the kernel, by their numbers in
 * linux/bpf.h, and the maps and numbers that the loader passes to them.
 */
#ifndef ETWAS_SYSTEM_BPF_PROGRAM_H
#define ETWAS_SYSTEM_BPF_PROGRAM_H

#include <stdint.h>

/* Each program has a section of its own. */
#define PROGRAM(name) __attribute__((section("." #name), used)) int name

/*
 * `extern char MAP_NAME, GIVEN_NAME;` &MAP_NAME is a map, GIVEN(GIVEN_NAME) a number; the file that
 * loads the program has the indices of both in an enumeration of these names (stream/probe.h).
 */
#define GIVEN(name) ((uint64_t) & (name))

#define INLINE static inline __attribute__((always_inline))

#define CURRENT_PROCESSOR UINT64_C(0xFFFFFFFF)

/* clang-format off */
static void *(*const map_lookup)(void *map, const uint32_t *key) = (void *)1;
static uint64_t (*const current_ids)(void) = (void *)14; /* the process above the thread */
static int64_t (*const current_name)(void *to, uint32_t bytes) = (void *)16;
static int64_t (*const output)(void *context, void *map, uint64_t processor, const void *from,
                               uint64_t bytes) = (void *)25;
static int64_t (*const read_user)(void *to, uint32_t bytes, uint64_t from) = (void *)112;
static int64_t (*const read_kernel)(void *to, uint32_t bytes, uint64_t from) = (void *)113;
static int64_t (*const read_user_text)(void *to, uint32_t bytes, uint64_t from) = (void *)114;
static void *(*const current_task)(void) = (void *)158;
static void *(*const task_registers)(void *task) = (void *)175;
/* clang-format on */

#endif
