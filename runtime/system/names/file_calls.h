/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which system calls are operations on files, by their numbers on this machine: what ETW's FileIo calls each,
 * and which of its arguments say what.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_CALLS_H
#define ETWAS_SYSTEM_NAMES_FILE_CALLS_H

#include <stdint.h>

enum {
    ETWAS_FILE_ARGUMENTS = 6,

    /* Of FileIo's classes; 0: none. */
    ETWAS_FILE_CREATE = 64,
    ETWAS_FILE_CLEANUP = 65,
    ETWAS_FILE_CLOSE = 66,
    ETWAS_FILE_READ = 67,
    ETWAS_FILE_WRITE = 68,
    ETWAS_FILE_SET_INFO = 69,
    ETWAS_FILE_DELETE = 70,
    ETWAS_FILE_RENAME = 71,
    ETWAS_FILE_DIR_ENUM = 72,
    ETWAS_FILE_FLUSH = 73,
    ETWAS_FILE_QUERY_INFO = 74,
    ETWAS_FILE_FS_CONTROL = 75,
    ETWAS_FILE_OPERATION_END = 76,
    ETWAS_FILE_DELETE_PATH = 79,
    ETWAS_FILE_RENAME_PATH = 80,
    ETWAS_FILE_SET_LINK_PATH = 81,

    /* What is asked or set of a file. */
    ETWAS_FILE_INFO_DIRECTORY = 1,
    ETWAS_FILE_INFO_BASIC = 4,
    ETWAS_FILE_INFO_RENAME = 10,
    ETWAS_FILE_INFO_LINK = 11,
    ETWAS_FILE_INFO_DISPOSITION = 13,
    ETWAS_FILE_INFO_ALL = 18,
    ETWAS_FILE_INFO_ALLOCATION = 19,
    ETWAS_FILE_INFO_END_OF_FILE = 20,
};

/* What it changes of descriptors, whatever else it does. */
enum etwas_file_effect {
    ETWAS_FILE_NO_EFFECT,
    ETWAS_FILE_OPENS,  /* a file of its own */
    ETWAS_FILE_CLOSES, /* the first argument */
    ETWAS_FILE_CLOSES_RANGE,
    ETWAS_FILE_SEEKS,
    ETWAS_FILE_DUPLICATES, /* the first argument; the second is not what it was */
    ETWAS_FILE_SHARES,     /* the first argument, perhaps, with a descriptor that was free */
    ETWAS_FILE_EXECUTES,
};

/* Arguments by their number from 1 on; 0: it has none that says so. */
struct etwas_file_call {
    uint8_t type;   /* ETWAS_FILE_*; 0: it has an effect alone */
    uint8_t effect; /* enum etwas_file_effect */
    uint8_t descriptor;
    uint8_t second; /* what is written to, of a call that reads from the first */
    uint8_t bytes;  /* of a transfer */
    uint8_t offset; /* in the file */
    uint8_t moves;  /* the file's position, by what it returns */
    uint8_t flags;  /* of open, or of a call that with AT_EMPTY_PATH is of its first argument */
    uint8_t extra;  /* what the file becomes */
    uint8_t path;   /* of what is opened, made, renamed, linked or deleted */
    uint8_t second_path;  /* what that becomes */
    uint32_t given_flags; /* no argument, but what it does as open would with them */
    uint32_t info_class;  /* likewise, what ETW calls what is asked or set */
};

/* NULL: it is none. */
const struct etwas_file_call *etwas_file_call_of(int64_t number);

/*
 * A filter of raw_syscalls: they alone. Each call of the machine passes it, and each comparison costs the call some
 * 10 ns, so that a number is found by halving. There once it was asked for.
 */
enum {
    ETWAS_FILE_CALLS_FILTER_BYTES = 1536
};
extern char etwas_file_calls_filter[ETWAS_FILE_CALLS_FILTER_BYTES];
void etwas_file_calls_make_filter(void);

#endif
