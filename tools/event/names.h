/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_NAMES_H
#define ETWAS_TOOLS_EVENT_NAMES_H

/*
 * Names for what a trace holds as numbers: well-known event classes, modes, clocks, error codes.
 */

#include "print/output.h"

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

/* The log file header and what else belongs to the file itself. */
extern const etwas_guid etwas_names_header_class;

/* What describes events. */
extern const etwas_guid etwas_names_metadata_class;

/* Programs and libraries in memory, and which build each is. */
extern const etwas_guid etwas_names_image_class;
extern const etwas_guid etwas_names_build_class;

/* What etwas says by itself. */
extern const etwas_guid etwas_names_own_class;
enum {
    ETWAS_NAMES_FORMAT_TYPE = 4,
    ETWAS_NAMES_ACCOUNT_TYPE = 5,
    ETWAS_NAMES_KERNEL_LOSS_TYPE = 7,
    ETWAS_NAMES_KERNEL_SYMBOL_TYPE = 9,
    ETWAS_NAMES_KERNEL_RUNG_TYPE = 10,
    ETWAS_NAMES_USER_STACK_TYPE = 11,
    ETWAS_NAMES_WINDOW_TYPE = 14,
    ETWAS_NAMES_MISSING_TYPE = 15
};

/* Samples, system calls, interrupts. */
extern const etwas_guid etwas_names_performance_class;

/* Stacks that are events. */
extern const etwas_guid etwas_names_stack_class;
enum {
    ETWAS_NAMES_STACK_TYPE = 32
};

/* The name of an event class of the Windows kernel, "DiskIo"; NULL for any other class. */
const char *etwas_names_class(const etwas_guid *guid);

/* The name of a type of the class etwas_names_header_class, "Header"; NULL where there is none. */
const char *etwas_names_header_type(uint8_t type);

/* "sequential, buffering"; bits without a name in hex. `separator` goes between two. */
void etwas_names_mode(struct etwas_output *output, uint32_t log_file_mode, const char *separator);

/* The clock that options call "qpc", "system" or "tsc". False: no clock is called so. */
bool etwas_names_parse_clock(const char *text, uint32_t *clock);

/* "performance counter" */
const char *etwas_names_clock(uint32_t clock);

/* "trusted" */
const char *etwas_names_verdict(uint32_t verdict);

/* Who states a frequency, as the beginning of a sentence: "the hypervisor". */
const char *etwas_names_stated_by(uint32_t stated_by);

/*
 * Why a trace could not be opened or read, or clocks not be examined, as a part of a sentence. NULL
 * for a code that is not expected.
 */
const char *etwas_names_error(uint32_t code);

#endif
