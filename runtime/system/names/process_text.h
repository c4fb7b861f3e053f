/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files of a process in /proc that the kernel can only write with access to the process's memory or
 * mappings: cmdline, maps, io. Reading them may block for ever (offload.h).
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_TEXT_H
#define ETWAS_SYSTEM_NAMES_PROCESS_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct etwas_process_text {
    char *text; /* ends with a 0, and belongs to the caller; NULL: there is none */
    size_t bytes;
    enum etwas_process_text_state {
        ETWAS_TEXT_READ,
        ETWAS_TEXT_GONE,      /* there is no such process, or the file may not be read */
        ETWAS_TEXT_NO_ANSWER, /* the file could not be read in time */
    } state;
};

/* Reads at most the first `most` bytes. */
struct etwas_process_text etwas_process_text_read(uint32_t process_id, const char *name,
                                                  size_t most);

#endif
