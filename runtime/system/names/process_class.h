/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes records of ETW's Process class, version 4, and of its Image class, version 3. An image with
 * a build id also gets a record of its debug identifier.
 *
 *     DCStart     a process as it is from now on: at a session's start, and when it runs another
 *                 program (exec), for which ETW has no event
 *     UserSID     S-1-22-1-USER, as in Samba
 *     ExitStatus  259 while the process lives; its exit code; the negative number of the
 *                 signal that ended it
 *
 * Flags beside ETW's say what is not known, which an empty text or a 0 would not.
 */
#ifndef ETWAS_SYSTEM_NAMES_PROCESS_CLASS_H
#define ETWAS_SYSTEM_NAMES_PROCESS_CLASS_H

#include <stdint.h>

#include "system/names/image_list.h"
#include "system/names/process_table.h"
#include "system/stream/kernel_record.h"

#define ETWAS_PROCESS_EXEC UINT32_C(0x01000000)            /* the process runs another program */
#define ETWAS_PROCESS_NO_COMMAND_LINE UINT32_C(0x02000000) /* the command line is not known */
#define ETWAS_PROCESS_NO_EXIT_STATUS UINT32_C(0x04000000)  /* the exit status is not known */
#define ETWAS_PROCESS_END_NOT_SEEN                                                                 \
    UINT32_C(0x08000000) /* the process ended earlier; its end was lost */
#define ETWAS_PROCESS_COMMAND_LINE_READ UINT32_C(0x10000000) /* from /proc, some time later */
#define ETWAS_PROCESS_COMMAND_LINE_CUT UINT32_C(0x20000000)
#define ETWAS_PROCESS_STILL_ACTIVE 259

struct etwas_process_class_event {
    uint8_t type;
    uint32_t flags; /* ETWAS_PROCESS_*, except for those of the command line */
    int32_t exit_status;
};

/* Returns the record as etwas_record_builder_end does; its thread is not set yet. */
const void *etwas_process_class_make(struct etwas_record_builder *record,
                                     const struct etwas_process *process,
                                     const struct etwas_process_class_event *event);

const void *etwas_image_record_make(struct etwas_record_builder *record, uint8_t type,
                                    uint32_t process_id, const struct etwas_file_image *image);

/* The image's file has a build id. */
const void *etwas_image_id_record_make(struct etwas_record_builder *record, uint32_t process_id,
                                       const struct etwas_file_image *image);

#endif
