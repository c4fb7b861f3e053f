/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files as a trace writer needs them: opened for one session alone, written at a position, whole or
 * counted. Every system call on a log file is in this file's source, so that tests can make it
 * fail.
 */
#ifndef ETWAS_PLATFORM_FILE_H
#define ETWAS_PLATFORM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* ---- failures made on purpose, for tests; nothing else sets them ---- */
#ifdef ETWAS_TESTPOINTS
/*
 * What the next writes do. Each write calls `fail` (when not NULL) with the bytes asked for: it
 * returns how many bytes to write really (short writes) or a negative errno. The same for syncs,
 * with 0 bytes.
 */
typedef long (*etwas_file_failure)(size_t bytes, bool is_sync);
void etwas_file_fail(etwas_file_failure fail);
#endif

/*
 * Creates or replaces `path` (0666 and umask; a symbolic link as last component is refused) and
 * locks it against every other session on the machine. On success *descriptor is open,
 * close-on-exec, and the file empty. Returns a Win32 code: ERROR_PATH_NOT_FOUND for a missing
 * folder, ERROR_ACCESS_DENIED, ERROR_BAD_PATHNAME for a file in use, a folder, a link or another
 * odd thing, ERROR_FILENAME_EXCED_RANGE, ERROR_DISK_FULL, ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_file_create(const char *path, int *descriptor);

/*
 * Writes the vector at `position`; goes on after interruptions and short writes. Returns the bytes
 * that are in the file; fewer than asked for means *error holds the errno. Changes the vector,
 * which has at most IOV_MAX (1,024) elements.
 */
uint64_t etwas_file_write(int descriptor, struct iovec *vector, int count, uint64_t position,
                          int *error);

/*
 * What the memory, the length and the position of a direct write to this file must be multiples of,
 * in bytes; 0 when the system does not say that the file can be written past the page cache.
 */
uint32_t etwas_file_direct_alignment(int descriptor);

/*
 * etwas_file_write past the page cache, from memory and at a position that are aligned, each
 * element too. Where the file refuses that after all, *direct becomes false and what is left is
 * written as etwas_file_write does; nothing is lost by trying.
 */
uint64_t etwas_file_write_direct(int descriptor, struct iovec *vector, int count, uint64_t position,
                                 bool *direct, int *error);

/*
 * Has the file system set space aside for this part; the file does not grow, and what lies past its
 * end is given back by etwas_file_truncate. False when there is not so much, or it cannot.
 */
bool etwas_file_reserve(int descriptor, uint64_t offset, uint64_t bytes);

/* Cuts the file. False on failure. */
bool etwas_file_truncate(int descriptor, uint64_t bytes);

/* Makes written data durable. False on failure. */
bool etwas_file_sync(int descriptor);

/* Has the kernel begin to write this part to the disk. Does not wait for it. */
void etwas_file_start_writing(int descriptor, uint64_t offset, uint64_t bytes);

/* Drops written pages from the page cache, so that a trace does not evict the host's data. */
void etwas_file_drop_cached(int descriptor, uint64_t offset, uint64_t bytes);

/* Unlocks and closes. False when the system reports a late error. */
bool etwas_file_close(int descriptor);

/*
 * Whether `bytes` fit on the file system that will hold `path`; `reserve_on_root_bytes` more are
 * asked for when it is the one of "/". True when the system does not say, also because the folder
 * is missing.
 */
bool etwas_file_has_space(const char *path, uint64_t bytes, uint64_t reserve_on_root_bytes);

/* The Win32 code for an errno of a failed write. */
uint32_t etwas_file_write_error(int error);

#endif
