/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Registers of a BPF program that mean the same in each, for who writes one (bpf.h). 6 to 9 are the program's
 * own.
 */
#ifndef ETWAS_SYSTEM_STREAM_BPF_REGISTERS_H
#define ETWAS_SYSTEM_STREAM_BPF_REGISTERS_H

enum {
    RESULT = 0,
    FIRST = 1, /* arguments of a call */
    SECOND = 2,
    THIRD = 3,
    FOURTH = 4,
    FIFTH = 5,
    FRAME = 10, /* where the program's stack ends */
};

#endif
