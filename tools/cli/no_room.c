/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "cli/no_room.h"

#include "print/human.h"

#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

const char *etwas_no_room_reason(uint32_t process)
{
    static char text[96 + ETWAS_HUMAN_CHARACTERS];
    char size[ETWAS_HUMAN_CHARACTERS];
    struct rlimit limit;

    if (prlimit((pid_t)process, RLIMIT_FSIZE, NULL, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY) {
        return "the disk is full, or a quota or a limit is reached, of the file system or of the "
               "process that writes";
    }
    (void)snprintf(text, sizeof text,
                   "no file may be larger than %s (RLIMIT_FSIZE, 'ulimit -f'), or the disk is full",
                   etwas_human_size(size, (double)limit.rlim_cur));
    return text;
}

const char *etwas_no_room_error_text(uint32_t code)
{
    return code == ERROR_DISK_FULL ? etwas_no_room_reason(0) : etwas_error_text(code);
}
