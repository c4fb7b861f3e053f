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
/* What is asked of the system about a log file. */
enum etwas_log_file_call {
    ETWAS_FILE_OPEN, /* also creates */
    ETWAS_FILE_STAT,
    ETWAS_FILE_LOCK,
    ETWAS_FILE_READ,
    ETWAS_FILE_WRITE,
    ETWAS_FILE_RESERVE,  /* space past the end */
    ETWAS_FILE_ALLOCATE, /* space in the file */
    ETWAS_FILE_TRUNCATE,
    ETWAS_FILE_SYNC,
    ETWAS_FILE_CLOSE,
    ETWAS_FILE_REMOVE,
    ETWAS_FILE_SPACE,      /* how much is free */
    ETWAS_FILE_READ_AHEAD, /* a part that will be needed */
    ETWAS_FILE_OPERATIONS
};

/*
 * Asked before each call, in the thread that makes it, when not NULL. `bytes` is what a read or a
 * write is about, else 0. Returns `bytes`: the call is made. Less, down to 0: a read or a write is
 * made with so many bytes. A negative errno: the call is not made and fails with it; but CLOSE
 * closes all the same, and SPACE answers that there is too little. It may take its time.
 */
typedef long (*etwas_file_failure_hook)(enum etwas_log_file_call call, size_t bytes);
void etwas_file_set_failure_hook(etwas_file_failure_hook fail);
#endif

/* What umask leaves of it. A file that is there already keeps what it has, unless it is to be private. */
enum etwas_file_permissions {
    ETWAS_FILE_SHARED = 0666,
    ETWAS_FILE_PRIVATE = 0600,
};

/*
 * Creates or replaces `path` (a symbolic link as last component is refused) and
 * locks it against every other session on the machine. On success *descriptor is open,
 * close-on-exec, and the file empty; *created, which may be NULL, says whether this call made the
 * file. Returns a Win32 code: ERROR_PATH_NOT_FOUND for a missing folder, ERROR_ACCESS_DENIED (also for
 * a file that others may see and that cannot be made private),
 * ERROR_BAD_PATHNAME for a file in use, a folder, a link or another odd thing,
 * ERROR_FILENAME_EXCED_RANGE, ERROR_DISK_FULL, ERROR_NO_SYSTEM_RESOURCES, ERROR_WRITE_FAULT. On
 * failure a file that was not there before is not there after.
 */
uint32_t etwas_file_create(const char *path, enum etwas_file_permissions permissions,
                           int *descriptor, bool *created);

/*
 * The same, but a file with something in it stays there until etwas_file_replace replaces it: *beside is the name of the
 * one that was made then, with the permissions of the other, to be freed; else NULL.
 */
uint32_t etwas_file_create_beside(const char *path, enum etwas_file_permissions permissions,
                                  int *descriptor, bool *created, char **beside);

/* `beside` becomes `path`. False: a session writes what is there by now, or the system refuses. */
bool etwas_file_replace(const char *beside, const char *path);

/*
 * The same, but what is in an existing file stays there. *bytes is its length, 0 for a new one.
 */
uint32_t etwas_file_open(const char *path, enum etwas_file_permissions permissions, int *descriptor,
                         uint64_t *bytes, bool *created);

/* A file of no bytes in memory that has no name, and can be sealed. -1: there can be none, as errno says. */
int etwas_file_create_in_memory(const char *label);

/*
 * Reads up to `length` bytes from `position`. Returns how many there were before the end, or before
 * the system refused: then errno is not 0.
 */
size_t etwas_file_read(int descriptor, void *bytes, size_t length, uint64_t position);

/*
 * Writes the vector at `position`; goes on after interruptions and short writes. Returns the bytes
 * that are in the file; fewer than asked for means *error holds the errno. Changes the vector,
 * which has at most IOV_MAX (1,024) elements.
 *
 * With `direct`, which may be NULL, past the page cache, from memory and at a position that are
 * aligned, each element too. Where the file refuses that after all, *direct becomes false and what is
 * left is written through the cache; nothing is lost by trying.
 */
uint64_t etwas_file_write(int descriptor, struct iovec *vector, int count, uint64_t position,
                          bool *direct, int *error);

/*
 * The same in a signal handler, by the calls alone that POSIX permits there: lseek, which moves the
 * descriptor's position, and write. False: *error says why, and part of it may be in the file.
 */
bool etwas_file_write_in_handler(int descriptor, const void *bytes, size_t length,
                                 uint64_t position, int *error);

/* Likewise, by ftruncate: makes the file `bytes` long. */
bool etwas_file_truncate_in_handler(int descriptor, uint64_t bytes, int *error);

/*
 * What the memory, the length and the position of a direct write to this file must be multiples of,
 * in bytes; 0 when the system does not say that the file can be written past the page cache.
 */
uint32_t etwas_file_direct_alignment(int descriptor);

/*
 * Has the file system set space aside for this part; the file does not grow, and what lies past its
 * end is given back by etwas_file_truncate. False when there is not so much, or it cannot.
 */
bool etwas_file_reserve(int descriptor, uint64_t offset, uint64_t bytes);

/*
 * Makes the file `bytes` long and has the file system set aside all of it; what is new reads as
 * zeroes. Returns 0 or an errno: then the file may have grown in part.
 */
int etwas_file_allocate(int descriptor, uint64_t bytes);

/* Cuts the file. False on failure. */
bool etwas_file_truncate(int descriptor, uint64_t bytes);

/*
 * Makes written data durable. False on failure: errno says why. The system may have dropped what it
 * could not write, and say nothing of it the next time.
 */
bool etwas_file_sync(int descriptor);

/* Has the kernel begin to write this part to the disk. Does not wait for it. */
void etwas_file_start_writing(int descriptor, uint64_t offset, uint64_t bytes);

/*
 * Has the kernel begin to read this part into the page cache. Does not wait for it, and says
 * nothing of a refusal: whoever needs the part waits for it then.
 */
void etwas_file_read_ahead(int descriptor, uint64_t offset, uint64_t bytes);

/* Drops written pages from the page cache, so that a trace does not evict the host's data. */
void etwas_file_drop_cached(int descriptor, uint64_t offset, uint64_t bytes);

/*
 * Opens a file that has no name and goes with its last descriptor, in `folder`. Win32 codes of
 * etwas_file_create.
 */
uint32_t etwas_file_create_unnamed(const char *folder, int *descriptor);

/* Unlocks and closes. False when the system reports a late error: errno says why. */
bool etwas_file_close(int descriptor);

/* Closes a fork's copy of a descriptor: the lock stays with the parent. */
void etwas_file_forget(int descriptor);

/* Removes `path` if that is the open file still, and not another one that took its name. */
void etwas_file_remove(const char *path, int descriptor);

/* How long the file at `path` is; 0 when there is none, or the system does not say. */
uint64_t etwas_file_length(const char *path);

/*
 * Whether `bytes` fit on the file system that will hold `path`; `reserve_on_root_bytes` more are
 * asked for when it is the one of "/". True when the system does not say, also because the folder
 * is missing.
 */
bool etwas_file_has_space(const char *path, uint64_t bytes, uint64_t reserve_on_root_bytes);

/* The Win32 code for an errno of a failed open. */
uint32_t etwas_file_open_error(int error);

/* The Win32 code for an errno of a failed write. */
uint32_t etwas_file_write_error(int error);

#endif
