/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The writer's types of fields in layouts that writer and decoder share (kernel_layouts.h,
 * own_layouts.h). The decoder's types are in decode/builtin.c.
 */
#ifndef ETWAS_ETL_FIELD_TYPES_H
#define ETWAS_ETL_FIELD_TYPES_H

#include <etwas/types.h>
#include <stdint.h>

typedef uint8_t etwas_field_u8;
typedef uint16_t etwas_field_u16;
typedef uint32_t etwas_field_u32;
typedef uint64_t etwas_field_u64;
typedef int8_t etwas_field_i8;
typedef int16_t etwas_field_i16;
typedef int32_t etwas_field_i32;
typedef int64_t etwas_field_i64;
typedef uint8_t etwas_field_x8;
typedef uint32_t etwas_field_x32;
typedef uint64_t etwas_field_x64;
typedef uint64_t etwas_field_ptr;
typedef uint64_t etwas_field_size;
typedef uint8_t etwas_field_bool8;
typedef uint32_t etwas_field_pid;
typedef uint32_t etwas_field_tid;
typedef uint32_t etwas_field_status;
typedef int64_t etwas_field_time; /* a raw stamp */
typedef int64_t etwas_field_filetime;
typedef etwas_guid etwas_field_guid;
typedef uint32_t etwas_field_ipv4;
typedef uint16_t etwas_field_port; /* the higher byte first */

typedef struct {
    uint8_t bytes[16];
} etwas_field_ipv6;

/* A TOKEN_USER, whose pointer is meaningless but must not be 0, and a SID of two numbers. */
typedef struct {
    uint64_t sid_at;
    uint64_t attributes;
    uint8_t revision;
    uint8_t count;
    uint8_t authority[6];
    uint32_t numbers[2];
} etwas_field_sid;

#endif
