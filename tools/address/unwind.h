/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADDRESS_UNWIND_H
#define ETWAS_TOOLS_ADDRESS_UNWIND_H

/*
 * The program's part of a stack by the registers and the piece of the stack that a system logger
 * recorded behind an event (docs/reference/file-format.md), and by what the images say of their
 * functions' frames, which they do also without frame pointers: by libdw, where the command is
 * built with it, else there are none.
 *
 * An image is used only if its file is of the trace's build. Where it is not, the stack ends.
 */

#include "address/images.h"

#include <etwas/evntcons.h>

enum {
    ETWAS_UNWIND_FRAMES = 256,
};

/* The registers and the piece of the stack that a record has. The memory is the record's. */
struct etwas_user_stack {
    uint32_t machine; /* as ELF has it */
    uint32_t process;
    uint32_t thread;
    uint64_t mask;            /* of the registers, as perf events number them */
    const uint8_t *registers; /* a u64 each, not aligned */
    const uint8_t *bytes;     /* from the stack pointer upwards */
    uint32_t count;           /* of them */
};

/* Reads such a record. Returns false if it is none, or cannot be true. */
bool etwas_user_stack_read(const EVENT_RECORD *record, struct etwas_user_stack *stack);

struct etwas_unwinder; /* for one trace */

/* Returns NULL without memory, or without libdw. */
struct etwas_unwinder *etwas_unwinder_open(struct etwas_images *images);
void etwas_unwinder_close(struct etwas_unwinder *unwinder);

/*
 * Unwinds a stack, and returns the number of its frames, innermost first; all but the first are
 * return addresses. The last one is ETWAS_EVENT_CUT if the stack goes on: its copy ends, an image
 * is missing, or there are more frames. `unwinder` may be NULL.
 */
uint32_t etwas_unwind(struct etwas_unwinder *unwinder, const struct etwas_user_stack *stack,
                      int64_t time, uint64_t frames[ETWAS_UNWIND_FRAMES]);

#endif
