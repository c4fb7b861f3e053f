/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Registers that mean the same in every BPF program (bpf.h). Registers 6 to 9 belong to the
 * program.
 */
#ifndef ETWAS_SYSTEM_STREAM_BPF_REGISTERS_H
#define ETWAS_SYSTEM_STREAM_BPF_REGISTERS_H

enum {
    RESULT = 0,
    FIRST = 1, /* the arguments of a call */
    SECOND = 2,
    THIRD = 3,
    FOURTH = 4,
    FIFTH = 5,
    FRAME = 10, /* the end of the program's stack */
};

#endif
