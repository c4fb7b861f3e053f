/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_NAMES_H
#define ETWAS_TOOLS_EVENT_NAMES_H

/* Names for numbers in a trace: well-known event classes, modes, clocks, error codes. */

#include "print/output.h"

#include <etwas/types.h>
#include <stdint.h>

/* The class of the log file header, and of other records about the file itself. */
extern const etwas_guid etwas_names_header_class;

/* The class of records that describe events. */
extern const etwas_guid etwas_names_metadata_class;

/* The classes of records about programs and libraries in memory, and about their builds. */
extern const etwas_guid etwas_names_image_class;
extern const etwas_guid etwas_names_build_class;

/* The class of records that only etwas writes, and their types. */
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

/* The class of samples, system calls and interrupts. */
extern const etwas_guid etwas_names_performance_class;

/* The class of events that are stacks, and their type. */
extern const etwas_guid etwas_names_stack_class;
enum {
    ETWAS_NAMES_STACK_TYPE = 32
};

/*
 * Returns the name of an event class of the Windows kernel, such as "DiskIo"; NULL for any other.
 */
const char *etwas_names_class(const etwas_guid *guid);

/* Returns the name of a type of etwas_names_header_class, such as "Header"; NULL if it has none. */
const char *etwas_names_header_type(uint8_t type);

/*
 * Writes the names of log file modes, separated by `separator`: "sequential, buffering". Bits
 * without a name are written in hexadecimal.
 */
void etwas_names_mode(struct etwas_output *output, uint32_t log_file_mode, const char *separator);

/* Returns the name of a clock: "performance counter". */
const char *etwas_names_clock(uint32_t clock);

/* Returns the name of a verdict on a clock: "trusted". */
const char *etwas_names_verdict(uint32_t verdict);

/*
 * Returns which part of the machine states a frequency, as the beginning of a sentence: "the
 * hypervisor".
 */
const char *etwas_names_stated_by(uint32_t stated_by);

/*
 * Returns why a trace could not be opened or read, or clocks could not be examined, as part of a
 * sentence; NULL for an unexpected code.
 */
const char *etwas_names_error(uint32_t code);

/*
 * Returns why a process cannot log into a session, as part of a sentence; `code` is an
 * unattached_code.
 */
const char *etwas_names_unattached(uint32_t code);

/* Why events were lost in the kernel, and what helps; printed after their number. */
extern const char etwas_names_lost_no_room[];
extern const char etwas_names_lost_not_handed_over[];

/* Prints how many of the events lost in the kernel were context switches, and a line break. */
void etwas_names_put_lost_switches(struct etwas_output *output, uint64_t switches);

/*
 * Prints a sentence about processes that could not log, and a line break. `verb`: such as "cannot
 * log into it". `processes`: 0 if their number is not known.
 */
void etwas_names_put_unattached(struct etwas_output *output, uint32_t processes, const char *verb,
                                uint32_t code);

#endif
