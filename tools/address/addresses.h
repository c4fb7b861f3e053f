/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADDRESS_ADDRESSES_H
#define ETWAS_TOOLS_ADDRESS_ADDRESSES_H

/*
 * What addresses in a trace are: functions, or places in images, as far as the trace and the files
 * that it names tell it. All records of the trace are added before the first question.
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
    struct etwas_schedule threads;        /* the threads of the addresses */
    struct etwas_unwinder *unwinder;      /* NULL: nothing can be unwound */
    uint64_t frames[ETWAS_UNWIND_FRAMES]; /* of the stack that was unwound last */
};

/* An address, and the process and time of the event that has it. */
struct etwas_address {
    uint64_t value;
    int64_t time; /* as the times of the records taken */
    uint32_t process;
    bool is_return; /* it is behind a call, which may be the last instruction of its function */
};

/* Returns whether an address is in the kernel's half of all addresses. */
static inline bool etwas_address_is_kernel(uint64_t address)
{
    return address >> 63 != 0 && address != ETWAS_EVENT_CUT;
}

/* What is at an address. */
struct etwas_place {
    const char *image; /* the last part of its path; NULL: in none that is known */
    uint64_t offset;   /* in the image */
    bool has_changed;  /* the image's file is another one by now */
    bool has_function;
    struct etwas_symbol function; /* its offset is the address's */
    bool has_inlined;             /* it is known what is inlined in it; in the kernel it never is */
    struct etwas_inlined inlined;
};

/*
 * Returns the number of functions at a place: its own, and before it those that are inlined,
 * numbered from 0, innermost first.
 */
static inline uint32_t etwas_place_functions(const struct etwas_place *place)
{
    return place->inlined.count + 1;
}

/* Returns one of these functions as a place of its own. */
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

/* Returns false without memory. */
bool etwas_addresses_open(struct etwas_addresses *addresses);
void etwas_addresses_close(struct etwas_addresses *addresses);

/* Returns whether there was memory for everything that was added. */
bool etwas_addresses_are_whole(const struct etwas_addresses *addresses);

/* Adds a record, which may hold anything. */
void etwas_addresses_add_record(struct etwas_addresses *addresses, const EVENT_RECORD *record);

/*
 * Adds all records of a file, with such times. Errors of the file are not reported here, but when
 * its events are read.
 */
void etwas_addresses_read(struct etwas_addresses *addresses, const char *path,
                          enum etwas_input_time time);

/* Finds the process of a thread. Returns false if it is not known. */
bool etwas_addresses_process(const struct etwas_addresses *addresses, uint32_t thread,
                             uint32_t *process);

/* Returns what is at an address, valid until the next call. */
struct etwas_place etwas_addresses_find(struct etwas_addresses *addresses,
                                        const struct etwas_address *address);

/*
 * Writes "function+0x1F in image", "[cut]", "image+0x1F", or 0x1F. An image with a file that has
 * changed since gets " (changed since)".
 */
void etwas_addresses_print(struct etwas_output *output, enum etwas_text_style style,
                           struct etwas_addresses *addresses, const struct etwas_address *address);

/*
 * Writes the same with `before` before and `behind` behind it. Returns false, and writes nothing,
 * if it would be 0x1F.
 */
bool etwas_addresses_print_known(struct etwas_output *output, enum etwas_text_style style,
                                 struct etwas_addresses *addresses,
                                 const struct etwas_address *address, const char *before,
                                 const char *behind);

/*
 * Returns the stack of a record: the recorded one, or one that is unwound from the recorded piece
 * of the program's stack, which is valid until the next call.
 */
struct etwas_event_stack etwas_addresses_stack(struct etwas_addresses *addresses,
                                               const EVENT_RECORD *record);

/*
 * Writes all addresses of a stack of that time as etwas_addresses_print does, with `between`
 * between two.
 */
void etwas_addresses_print_stack(struct etwas_output *output, enum etwas_text_style style,
                                 struct etwas_addresses *addresses,
                                 const struct etwas_event_stack *stack, int64_t time,
                                 const char *between);

#endif
