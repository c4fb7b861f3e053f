/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files of procfs, sysfs and tracefs, which have no size before they are read.
 */
#ifndef ETWAS_SYSTEM_STREAM_PSEUDO_FILE_H
#define ETWAS_SYSTEM_STREAM_PSEUDO_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Its beginning; the file is closed. -1: it was not open, or an error. */
ssize_t etwas_pseudo_file_read(int file, char *text, size_t room);

#endif
