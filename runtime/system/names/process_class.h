/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processes that come, change and go, and those that are there, as ETW's Process class, version 4; and
 * their images as its Image class, version 3, each that has a build id with a debug identifier besides.
 *
 *     DCStart     a process as it is from now on: at a session's start, and when it runs another
 *                 program (exec), for which ETW has no word
 *     UserSID     S-1-22-1-USER, as Samba has it
 *     ExitStatus  259 while it lives; what it exited with; what ended it, as a negative number
 *
 * Flags beside ETW's say what is not known, since an empty text or a 0 would not.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_CLASS_H
#define ETWAS_SYSTEM_NAMES_PROCESS_CLASS_H

#include <stdint.h>

#include "system/names/image_list.h"
#include "system/names/process_table.h"
#include "system/stream/record_builder.h"

enum etwas_process_class_type {
    ETWAS_PROCESS_START = 1,
    ETWAS_PROCESS_END = 2,
    ETWAS_PROCESS_RUNDOWN_START = 3,
    ETWAS_PROCESS_RUNDOWN_END = 4,
};

enum etwas_image_record_type {
    ETWAS_IMAGE_UNLOAD = 2,
    ETWAS_IMAGE_RUNDOWN_START = 3,
    ETWAS_IMAGE_RUNDOWN_END = 4,
    ETWAS_IMAGE_LOAD = 10,
};

#define ETWAS_PROCESS_EXEC UINT32_C(0x01000000)              /* it runs another program */
#define ETWAS_PROCESS_NO_COMMAND_LINE UINT32_C(0x02000000)   /* nobody knows it */
#define ETWAS_PROCESS_NO_EXIT_STATUS UINT32_C(0x04000000)    /* nobody knows it */
#define ETWAS_PROCESS_END_NOT_SEEN UINT32_C(0x08000000)      /* it ended earlier */
#define ETWAS_PROCESS_COMMAND_LINE_READ UINT32_C(0x10000000) /* in /proc, some time later */
#define ETWAS_PROCESS_COMMAND_LINE_CUT UINT32_C(0x20000000)
#define ETWAS_PROCESS_STILL_ACTIVE 259

struct etwas_process_class_event {
    enum etwas_process_class_type type;
    uint32_t flags; /* ETWAS_PROCESS_*, but for those of the command line */
    int32_t exit_status;
};

/* As etwas_record_builder_end returns it; nobody's yet. */
const void *etwas_process_class_make(struct etwas_record_builder *record,
                                     const struct etwas_process *process,
                                     const struct etwas_process_class_event *event);

const void *etwas_image_record_make(struct etwas_record_builder *record,
                                    enum etwas_image_record_type type, uint32_t process_id,
                                    const struct etwas_file_image *image);

/* Of a file that has a build id. */
const void *etwas_image_id_record_make(struct etwas_record_builder *record, uint32_t process_id,
                                       const struct etwas_file_image *image);

#endif
