/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system calls that are operations on files, by their numbers on this machine: the FileIo
 * operation that each is for ETW, and the arguments that describe it.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_CALLS_H
#define ETWAS_SYSTEM_NAMES_FILE_CALLS_H

#include <stdint.h>

#include "etl/kernel_layouts.h"

enum {
    ETWAS_FILE_ARGUMENTS = 6,

    /* Information that is queried or set of a file. */
    ETWAS_FILE_INFO_DIRECTORY = 1,
    ETWAS_FILE_INFO_BASIC = 4,
    ETWAS_FILE_INFO_RENAME = 10,
    ETWAS_FILE_INFO_LINK = 11,
    ETWAS_FILE_INFO_DISPOSITION = 13,
    ETWAS_FILE_INFO_ALL = 18,
    ETWAS_FILE_INFO_ALLOCATION = 19,
    ETWAS_FILE_INFO_END_OF_FILE = 20,
};

/* What a call does to descriptors, besides its operation. */
enum etwas_file_effect {
    ETWAS_FILE_NO_EFFECT,
    ETWAS_FILE_OPENS,  /* a new file */
    ETWAS_FILE_CLOSES, /* the first argument */
    ETWAS_FILE_CLOSES_RANGE,
    ETWAS_FILE_SEEKS,
    ETWAS_FILE_DUPLICATES, /* the first argument; the second one is closed */
    ETWAS_FILE_SHARES,     /* the first argument, in some cases, with a free descriptor */
    ETWAS_FILE_EXECUTES,
};

/* One call. Arguments are given by their numbers from 1 on; 0: the call has no such argument. */
struct etwas_file_call {
    uint8_t type;   /* of FileIo; 0: the call has only an effect */
    uint8_t effect; /* enum etwas_file_effect */
    uint8_t descriptor;
    uint8_t second; /* the destination of a call that reads from the first argument */
    uint8_t bytes;  /* the length of a transfer */
    uint8_t offset; /* the offset in the file */
    uint8_t moves;  /* the call moves the file's position by what it returns */
    /* The flags of open, or of a call that with AT_EMPTY_PATH refers to its first argument. */
    uint8_t flags;
    uint8_t extra;        /* a further value in the record, such as the new size */
    uint8_t path;         /* the path that is opened, made, renamed, linked or deleted */
    uint8_t second_path;  /* the path that it becomes */
    uint32_t given_flags; /* the flags with which open would do the same */
    uint32_t info_class;  /* the information that is queried or set, as ETW names it */
};

/* Returns the call with this number; NULL: it is no operation on a file. */
const struct etwas_file_call *etwas_file_call_of(int64_t number);

/*
 * A filter of raw_syscalls that passes only these calls. Every system call of the machine is
 * compared with it, and a comparison costs some 10 ns, so it is a binary search. The text is valid
 * after etwas_file_calls_make_filter.
 */
enum {
    ETWAS_FILE_CALLS_FILTER_BYTES = 1536
};
extern char etwas_file_calls_filter[ETWAS_FILE_CALLS_FILTER_BYTES];
void etwas_file_calls_make_filter(void);

#endif
