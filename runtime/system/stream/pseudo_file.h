/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files of procfs, sysfs and tracefs. They have no size before they are read.
 */
#ifndef ETWAS_SYSTEM_STREAM_PSEUDO_FILE_H
#define ETWAS_SYSTEM_STREAM_PSEUDO_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Reads the beginning of the file and closes it. -1: it was not open, or could not be read. */
ssize_t etwas_pseudo_file_read(int file, char *text, size_t room);

#endif
