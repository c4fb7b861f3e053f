/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADDRESS_UNWIND_H
#define ETWAS_TOOLS_ADDRESS_UNWIND_H

/*
 * Unwinds the user part of a stack from the registers and the copy of the stack that a system
 * logger recorded behind an event (docs/reference/file-format.md). Unwinding uses the frame
 * information of the images, which they have even without frame pointers. It needs libdw; without
 * it, no stack is unwound.
 *
 * An image is used only if its file is of the trace's build. Otherwise the stack ends there.
 */

#include "address/images.h"

#include <etwas/evntcons.h>

enum {
    ETWAS_UNWIND_FRAMES = 256,
};

/* The registers and the copy of the stack in a record, which owns the memory. */
struct etwas_user_stack {
    uint32_t machine; /* ELF's e_machine */
    uint32_t process;
    uint32_t thread;
    uint64_t mask;            /* which registers there are, by perf's numbers */
    const uint8_t *registers; /* a u64 each, not aligned */
    const uint8_t *bytes;     /* from the stack pointer upwards */
    uint32_t count;           /* number of `bytes` */
};

/* Reads such a record. Returns false if the record is of another kind, or invalid. */
bool etwas_user_stack_read(const EVENT_RECORD *record, struct etwas_user_stack *stack);

struct etwas_unwinder; /* unwinds the stacks of one trace */

/* Returns NULL if memory runs out, or without libdw. */
struct etwas_unwinder *etwas_unwinder_open(struct etwas_images *images);
void etwas_unwinder_close(struct etwas_unwinder *unwinder);

/*
 * Unwinds a stack, and returns the number of its frames, innermost first. All but the first are
 * return addresses. The last one is ETWAS_EVENT_CUT if the stack goes on: its copy ends, an image
 * is missing, or there are more frames. `unwinder` may be NULL.
 */
uint32_t etwas_unwind(struct etwas_unwinder *unwinder, const struct etwas_user_stack *stack,
                      int64_t time, uint64_t frames[ETWAS_UNWIND_FRAMES]);

#endif
