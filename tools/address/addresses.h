/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADDRESS_ADDRESSES_H
#define ETWAS_TOOLS_ADDRESS_ADDRESSES_H

/*
 * Resolves addresses in a trace to functions or to places in images, as far as the trace and the
 * files that it names allow. All records of the trace are added before the first lookup.
 */

#include "address/images.h"
#include "address/symbols.h"
#include "address/unwind.h"
#include "event/event.h"
#include "kernel/kernel_symbols.h"
#include "kernel/schedule.h"
#include "trace/input.h"

struct etwas_addresses {
    etwas_decoder *decoder;
    struct etwas_images images;
    struct etwas_kernel_symbols kernel;
    struct etwas_schedule threads;        /* finds a thread's process */
    struct etwas_unwinder *unwinder;      /* NULL: stacks cannot be unwound */
    uint64_t frames[ETWAS_UNWIND_FRAMES]; /* of the last unwound stack */
};

/* An address, with the process and time of its event. */
struct etwas_address {
    uint64_t value;
    int64_t time; /* in the clock of the records added */
    uint32_t process;
    bool is_return; /* follows a call, which may be the last instruction of its function */
};

/* Returns whether an address is in the kernel's half of the address space. */
static inline bool etwas_address_is_kernel(uint64_t address)
{
    return address >> 63 != 0 && address != ETWAS_EVENT_CUT;
}

/* The result of resolving an address. */
struct etwas_place {
    const char *image; /* the last part of its path; NULL: in no known image */
    uint64_t offset;   /* in the image */
    bool has_changed;  /* the image's file is now of another build */
    bool has_function;
    struct etwas_symbol function; /* its offset is that of the address */
    bool has_inlined;             /* inlined functions are known; never set in the kernel */
    struct etwas_inlined inlined;
};

/*
 * Returns the number of functions at a place: the inlined ones and the function around them. They
 * are numbered from 0, innermost first.
 */
static inline uint32_t etwas_place_functions(const struct etwas_place *place)
{
    return place->inlined.count + 1;
}

/* Returns one of these functions as a place. */
static inline struct etwas_place etwas_place_function(const struct etwas_place *place,
                                                      uint32_t number)
{
    struct etwas_place its = *place;

    if (number < place->inlined.count) {
        its.has_function = true;
        its.function = (struct etwas_symbol){.function = place->inlined.functions[number]};
    }
    return its;
}

/* Returns false if memory runs out. */
bool etwas_addresses_open(struct etwas_addresses *addresses);
void etwas_addresses_close(struct etwas_addresses *addresses);

/* Returns whether memory sufficed for everything that was added. */
bool etwas_addresses_are_whole(const struct etwas_addresses *addresses);

/* Adds a record. Records of all kinds are accepted; unrelated ones are ignored. */
void etwas_addresses_add_record(struct etwas_addresses *addresses, const EVENT_RECORD *record);

/*
 * Adds all records of a file, with times as `time` requests. Errors of the file are not reported
 * here, but when its events are read.
 */
void etwas_addresses_read(struct etwas_addresses *addresses, const char *path,
                          enum etwas_input_time time);

/* Finds the process of a thread. Returns false if it is unknown. */
bool etwas_addresses_process(const struct etwas_addresses *addresses, uint32_t thread,
                             uint32_t *process);

/* Resolves an address. The result is valid until the next call. */
struct etwas_place etwas_addresses_find(struct etwas_addresses *addresses,
                                        const struct etwas_address *address);

/*
 * Writes "function+0x1F in image", "[cut]", "image+0x1F", or 0x1F. If the image's file has changed
 * since, "image+0x1F" is followed by " (changed since)".
 */
void etwas_addresses_print(struct etwas_output *output, enum etwas_text_style style,
                           struct etwas_addresses *addresses, const struct etwas_address *address);

/*
 * Writes the same between `before` and `behind`. Returns false, and writes nothing, if neither an
 * image nor a function is known.
 */
bool etwas_addresses_print_known(struct etwas_output *output, enum etwas_text_style style,
                                 struct etwas_addresses *addresses,
                                 const struct etwas_address *address, const char *before,
                                 const char *behind);

/*
 * Returns the stack of a record: the recorded one, or one that is unwound from the recorded copy of
 * the program's stack. An unwound stack is valid until the next call.
 */
struct etwas_event_stack etwas_addresses_stack(struct etwas_addresses *addresses,
                                               const EVENT_RECORD *record);

/*
 * Writes all addresses of a stack as etwas_addresses_print does, separated by `between`. `time` is
 * the time of the stack's event.
 */
void etwas_addresses_print_stack(struct etwas_output *output, enum etwas_text_style style,
                                 struct etwas_addresses *addresses,
                                 const struct etwas_event_stack *stack, int64_t time,
                                 const char *between);

#endif
