/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files of a process in /proc that the kernel can write only when it gets at the process's memory, or at how it is
 * mapped: cmdline, maps, io. That may take for ever (offload.h).
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_TEXT_H
#define ETWAS_SYSTEM_NAMES_PROCESS_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct etwas_process_text {
    char *text; /* with a 0 behind it, the caller's; NULL: there is none */
    size_t bytes;
    enum etwas_process_text_state {
        ETWAS_TEXT_READ,
        ETWAS_TEXT_GONE,      /* there is no such process, or it may not be read */
        ETWAS_TEXT_NO_ANSWER, /* nobody answers */
    } state;
};

/* At most the first so many bytes. */
struct etwas_process_text etwas_process_text_read(uint32_t process_id, const char *name,
                                                  size_t most);

#endif
