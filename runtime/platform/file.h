/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files as a trace writer needs them: opened for one session alone, written at a position, with
 * exact counts. Every system call on a log file is in file.c and file_open.c, so that tests can
 * make it fail.
 */
#ifndef ETWAS_PLATFORM_FILE_H
#define ETWAS_PLATFORM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* ---- failures made on purpose, for tests; nothing else sets them ---- */
/* The system calls on a log file. */
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
    ETWAS_FILE_SPACE,      /* free space */
    ETWAS_FILE_READ_AHEAD, /* reads a part that will be needed soon */
    ETWAS_FILE_OPERATIONS
};

/*
 * Called before each system call, in the thread that makes it, unless NULL. `bytes` is the length
 * of a read or a write, otherwise 0. If it returns `bytes` the call is made. If it returns less,
 * down to 0, a read or a write is made with that many bytes. If it returns a negative errno the
 * call is not made and fails with that error; but CLOSE still closes, and SPACE reports too little.
 * It may block.
 */
typedef long (*etwas_file_failure_hook)(enum etwas_log_file_call call, size_t bytes);
void etwas_file_set_failure_hook(etwas_file_failure_hook fail);

/*
 * The permissions of a new file, before umask. An existing file keeps its own, unless it is to be
 * private.
 */
enum etwas_file_permissions {
    ETWAS_FILE_SHARED = 0666,
    ETWAS_FILE_PRIVATE = 0600,
};

/*
 * Creates or replaces `path` (a symbolic link as last component is refused) and locks it against
 * every other session on the machine. On success *descriptor is open, close-on-exec, and the file
 * empty; *created, which may be NULL, says whether this call made the file. On failure a file that
 * did not exist before does not exist after.
 *
 * Returns a Win32 code: ERROR_PATH_NOT_FOUND for a missing folder, ERROR_ACCESS_DENIED (also for a
 * file that others may see and that cannot be made private), ERROR_BAD_PATHNAME for a file in use,
 * a folder, a link or anything else that is no regular file, ERROR_FILENAME_EXCED_RANGE,
 * ERROR_DISK_FULL, ERROR_NO_SYSTEM_RESOURCES, ERROR_WRITE_FAULT.
 */
uint32_t etwas_file_create(const char *path, enum etwas_file_permissions permissions,
                           int *descriptor, bool *created);

/*
 * Does the same, but a file that is not empty stays until etwas_file_replace replaces it. *beside
 * is then the name of the new file, which has the permissions of the old one; the caller frees it.
 * Otherwise *beside is NULL.
 */
uint32_t etwas_file_create_beside(const char *path, enum etwas_file_permissions permissions,
                                  int *descriptor, bool *created, char **beside);

/*
 * Renames `beside` to `path`. Returns false if a session writes the file at `path` by now, or the
 * system refuses.
 */
bool etwas_file_replace(const char *beside, const char *path);

/*
 * Opens a file as etwas_file_create does, but keeps the contents of an existing one. *bytes is its
 * length, 0 for a new one.
 */
uint32_t etwas_file_open(const char *path, enum etwas_file_permissions permissions, int *descriptor,
                         uint64_t *bytes, bool *created);

/*
 * Creates an empty file in memory, without a name, that can be sealed. Returns -1 and errno on
 * failure.
 */
int etwas_file_create_in_memory(const char *label);

/*
 * Reads up to `length` bytes from `position`. Returns the number of bytes read before the end, or
 * before the system refused; errno is not 0 then.
 */
size_t etwas_file_read(int descriptor, void *bytes, size_t length, uint64_t position);

/*
 * Writes the vector at `position`; continues after interruptions and short writes. Returns the
 * bytes that are in the file; if they are fewer than requested, *error is the errno. Changes the
 * vector, which has at most IOV_MAX (1,024) elements.
 *
 * If `direct` is not NULL, the write bypasses the page cache; memory, position and each element are
 * aligned. *direct says at the end whether it did. If the file refuses that, the rest is written
 * through the cache; nothing is lost by trying.
 */
uint64_t etwas_file_write(int descriptor, struct iovec *vector, int count, uint64_t position,
                          bool *direct, int *error);

/*
 * Writes in a signal handler, by the calls that POSIX permits there: lseek, which moves the
 * descriptor's position, and write. Returns false with *error; part of the data may be in the file.
 */
bool etwas_file_write_in_handler(int descriptor, const void *bytes, size_t length,
                                 uint64_t position, int *error);

/* Sets the length of the file in a signal handler, by ftruncate. */
bool etwas_file_truncate_in_handler(int descriptor, uint64_t bytes, int *error);

/*
 * Returns the alignment in bytes of memory, length and position of a direct write to this file; 0
 * if the system does not report that the file can be written past the page cache.
 */
uint32_t etwas_file_direct_alignment(int descriptor);

/*
 * Reserves space for this part in the file system. The file does not grow, and etwas_file_truncate
 * releases the space past its end. Returns false if there is too little space, or the file system
 * does not support it.
 */
bool etwas_file_reserve(int descriptor, uint64_t offset, uint64_t bytes);

/*
 * Makes the file `bytes` long and reserves space for all of it; new parts read as zeroes. Returns 0
 * or an errno; on failure the file may have grown in part.
 */
int etwas_file_allocate(int descriptor, uint64_t bytes);

/* Sets the length of the file. Returns false on failure. */
bool etwas_file_truncate(int descriptor, uint64_t bytes);

/*
 * Makes written data durable. Returns false with errno on failure. The system may have dropped data
 * that it could not write, and may not report it again.
 */
bool etwas_file_sync(int descriptor);

/* Starts writing this part to the disk, without waiting for it. */
void etwas_file_start_writing(int descriptor, uint64_t offset, uint64_t bytes);

/*
 * Starts reading this part into the page cache, without waiting for it and without reporting
 * errors. A reader of the part waits for it instead.
 */
void etwas_file_read_ahead(int descriptor, uint64_t offset, uint64_t bytes);

/* Drops written pages from the page cache, so that a trace does not evict the host's data. */
void etwas_file_drop_cached(int descriptor, uint64_t offset, uint64_t bytes);

/*
 * Opens a file in `folder` that has no name and ceases to exist with its last descriptor. Returns
 * the Win32 codes of etwas_file_create.
 */
uint32_t etwas_file_create_unnamed(const char *folder, int *descriptor);

/* Unlocks and closes. Returns false with errno when the system reports a late error. */
bool etwas_file_close(int descriptor);

/* Closes a fork's copy of a descriptor: the lock stays with the parent. */
void etwas_file_forget(int descriptor);

/* Removes `path` if it is still the open file, and not another one with its name. */
void etwas_file_remove(const char *path, int descriptor);

/*
 * Returns the length of the file at `path`; 0 if there is none, or the system does not report it.
 */
uint64_t etwas_file_length(const char *path);

/*
 * Whether `bytes` fit on the file system that will hold `path`, with `reserve_on_root_bytes` to
 * spare if it is that of "/". Returns true if the system does not report it, for example because
 * the folder is missing.
 */
bool etwas_file_has_space(const char *path, uint64_t bytes, uint64_t reserve_on_root_bytes);

/* Returns the Win32 code for an errno of a failed open. */
uint32_t etwas_file_open_error(int error);

/* Returns the Win32 code for an errno of a failed write. */
uint32_t etwas_file_write_error(int error);

#endif
