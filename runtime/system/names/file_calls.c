/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/file_calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>

enum {
    CONTROL_GET_LINK = 0x900A8, /* FSCTL_GET_REPARSE_POINT */
};

#define READS .type = ETWAS_FILE_READ, .descriptor = 1
#define WRITES .type = ETWAS_FILE_WRITE, .descriptor = 1
#define OPENS .type = ETWAS_FILE_CREATE, .effect = ETWAS_FILE_OPENS
#define MAKES(flags_) .type = ETWAS_FILE_CREATE, .given_flags = O_CREAT | O_EXCL | (flags_)
#define SETS .type = ETWAS_FILE_SET_INFO
#define ASKS .type = ETWAS_FILE_QUERY_INFO, .info_class = ETWAS_FILE_INFO_ALL
#define DELETES .type = ETWAS_FILE_DELETE, .info_class = ETWAS_FILE_INFO_DISPOSITION
#define RENAMES .type = ETWAS_FILE_RENAME, .info_class = ETWAS_FILE_INFO_RENAME
#define LISTS                                                                                      \
    .type = ETWAS_FILE_DIR_ENUM, .descriptor = 1, .bytes = 3,                                      \
    .info_class = ETWAS_FILE_INFO_DIRECTORY
#define FLUSHES .type = ETWAS_FILE_FLUSH, .descriptor = 1
#define READS_LINK .type = ETWAS_FILE_FS_CONTROL, .info_class = CONTROL_GET_LINK

/* Newer architectures have only the calls with a folder's descriptor. */
#ifdef SYS_open
#define OLD_CALLS(CALL)                                                                            \
    CALL(open, OPENS, .flags = 2, .path = 1)                                                       \
    CALL(creat, OPENS, .given_flags = O_CREAT | O_TRUNC, .path = 1)                                \
    CALL(mkdir, MAKES(O_DIRECTORY), .path = 1)                                                     \
    CALL(mknod, MAKES(0), .path = 1)                                                               \
    CALL(symlink, MAKES(0), .path = 2)                                                             \
    CALL(link, SETS, .info_class = ETWAS_FILE_INFO_LINK, .path = 1, .second_path = 2)              \
    CALL(readlink, READS_LINK)                                                                     \
    CALL(access, ASKS)                                                                             \
    CALL(utime, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                         \
    CALL(utimes, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                        \
    CALL(futimesat, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                     \
    CALL(stat, ASKS)                                                                               \
    CALL(lstat, ASKS)                                                                              \
    CALL(unlink, DELETES, .path = 1)                                                               \
    CALL(rmdir, DELETES, .path = 1)                                                                \
    CALL(rename, RENAMES, .path = 1, .second_path = 2)                                             \
    CALL(chmod, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                         \
    CALL(chown, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                         \
    CALL(lchown, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                        \
    CALL(getdents, LISTS)                                                                          \
    CALL(dup2, .effect = ETWAS_FILE_DUPLICATES)
#else
#define OLD_CALLS(CALL)
#endif

#define CALLS(CALL)                                                                                \
    CALL(read, READS, .bytes = 3, .moves = 1)                                                      \
    CALL(write, WRITES, .bytes = 3, .moves = 1)                                                    \
    CALL(close, .type = ETWAS_FILE_CLOSE, .effect = ETWAS_FILE_CLOSES, .descriptor = 1)            \
    CALL(openat, OPENS, .flags = 3, .path = 2)                                                     \
    CALL(newfstatat, ASKS, .flags = 4)                                                             \
    CALL(fstat, ASKS, .descriptor = 1)                                                             \
    CALL(lseek, .effect = ETWAS_FILE_SEEKS)                                                        \
    CALL(pread64, READS, .bytes = 3, .offset = 4)                                                  \
    CALL(pwrite64, WRITES, .bytes = 3, .offset = 4)                                                \
    CALL(fcntl, .effect = ETWAS_FILE_SHARES)                                                       \
    CALL(readv, READS, .moves = 1)                                                                 \
    CALL(writev, WRITES, .moves = 1)                                                               \
    CALL(preadv, READS, .offset = 4)                                                               \
    CALL(pwritev, WRITES, .offset = 4)                                                             \
    CALL(preadv2, READS, .offset = 4)                                                              \
    CALL(pwritev2, WRITES, .offset = 4)                                                            \
    CALL(statx, ASKS, .flags = 3)                                                                  \
    CALL(getdents64, LISTS)                                                                        \
    CALL(fsync, FLUSHES)                                                                           \
    CALL(fdatasync, FLUSHES)                                                                       \
    CALL(openat2, OPENS, .path = 2)                                                                \
    CALL(unlinkat, DELETES, .path = 2)                                                             \
    CALL(renameat, RENAMES, .path = 2, .second_path = 4)                                           \
    CALL(renameat2, RENAMES, .path = 2, .second_path = 4)                                          \
    CALL(ftruncate, SETS, .descriptor = 1, .extra = 2, .info_class = ETWAS_FILE_INFO_END_OF_FILE)  \
    CALL(truncate, SETS, .extra = 2, .info_class = ETWAS_FILE_INFO_END_OF_FILE)                    \
    CALL(fallocate, SETS, .descriptor = 1, .extra = 4, .info_class = ETWAS_FILE_INFO_ALLOCATION)   \
    CALL(fchmod, SETS, .descriptor = 1, .info_class = ETWAS_FILE_INFO_BASIC)                       \
    CALL(fchmodat, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                      \
    CALL(fchown, SETS, .descriptor = 1, .info_class = ETWAS_FILE_INFO_BASIC)                       \
    CALL(fchownat, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                      \
    CALL(utimensat, SETS, .info_class = ETWAS_FILE_INFO_BASIC)                                     \
    CALL(sendfile, .type = ETWAS_FILE_READ, .descriptor = 2, .second = 1, .bytes = 4)              \
    CALL(copy_file_range, .type = ETWAS_FILE_READ, .descriptor = 1, .second = 3, .bytes = 5)       \
    CALL(splice, .type = ETWAS_FILE_READ, .descriptor = 1, .second = 3, .bytes = 5)                \
    CALL(sync_file_range, FLUSHES)                                                                 \
    CALL(open_by_handle_at, OPENS, .flags = 3)                                                     \
    CALL(mkdirat, MAKES(O_DIRECTORY), .path = 2)                                                   \
    CALL(mknodat, MAKES(0), .path = 2)                                                             \
    CALL(symlinkat, MAKES(0), .path = 3)                                                           \
    CALL(linkat, SETS, .info_class = ETWAS_FILE_INFO_LINK, .path = 2, .second_path = 4)            \
    CALL(readlinkat, READS_LINK)                                                                   \
    CALL(faccessat, ASKS)                                                                          \
    CALL(faccessat2, ASKS)                                                                         \
    CALL(dup, .effect = ETWAS_FILE_SHARES)                                                         \
    CALL(dup3, .effect = ETWAS_FILE_DUPLICATES)                                                    \
    CALL(close_range, .effect = ETWAS_FILE_CLOSES_RANGE)                                           \
    CALL(execve, .effect = ETWAS_FILE_EXECUTES)                                                    \
    CALL(execveat, .effect = ETWAS_FILE_EXECUTES)                                                  \
    OLD_CALLS(CALL)

#define CALL_PLACE(name, ...) PLACE_##name,
#define PLACE_ROW(name, ...) [SYS_##name] = PLACE_##name,
#define CALL_ROW(name, ...) [PLACE_##name] = {__VA_ARGS__},

enum {
    NOWHERE,
    CALLS(CALL_PLACE) PLACES
};
_Static_assert(PLACES <= UINT8_MAX, "a place is a byte");

/* Indices into the calls by number; most numbers have none. */
static const uint8_t call_indices[] = {CALLS(PLACE_ROW)};
static const struct etwas_file_call calls[] = {CALLS(CALL_ROW)};

const struct etwas_file_call *etwas_file_call_of(int64_t number)
{
    if (number < 0 || (uint64_t)number >= sizeof call_indices || call_indices[number] == NOWHERE) {
        return NULL;
    }
    return &calls[call_indices[number]];
}

/* ---- the filter ------------------------------------------------------------------------------ */

/* Numbers that follow each other. */
struct run {
    uint32_t first;
    uint32_t last;
};

enum {
    CALLS_ROOM = sizeof call_indices
};

struct text {
    char *at;
    size_t room;
};

char etwas_file_calls_filter[ETWAS_FILE_CALLS_FILTER_BYTES];

static __attribute__((format(printf, 2, 3))) void append_text(struct text *text, const char *format,
                                                              ...)
{
    va_list values;
    int length;

    va_start(values, format);
    length = vsnprintf(text->at, text->room, format, values);
    va_end(values);
    if (length > 0 && (size_t)length < text->room) {
        text->at += length;
        text->room -= (size_t)length;
    }
}

/* Writes a binary search: each half is tested by its range first, then by its own halves. */
static void put_runs(struct text *text, const struct run *runs, uint32_t count)
{
    uint32_t half = count / 2;

    if (count == 1 && runs->first == runs->last) {
        append_text(text, "id == %u", runs->first);
    } else if (count == 1) {
        append_text(text, "id >= %u && id <= %u", runs->first, runs->last);
    } else {
        append_text(text, "(id < %u && (", runs[half].first);
        put_runs(text, runs, half);
        append_text(text, ")) || (id >= %u && (", runs[half].first);
        put_runs(text, runs + half, count - half);
        append_text(text, "))");
    }
}

static void file_calls_make_filter(void)
{
    struct text text = {etwas_file_calls_filter, sizeof etwas_file_calls_filter};
    struct run runs[CALLS_ROOM];
    uint32_t count = 0;

    for (uint32_t number = 0; number < CALLS_ROOM; number++) {
        if (call_indices[number] == NOWHERE) {
            continue;
        }
        if (count != 0 && runs[count - 1].last + 1 == number) {
            runs[count - 1].last = number;
        } else {
            runs[count++] = (struct run){number, number};
        }
    }
    put_runs(&text, runs, count);
}

void etwas_file_calls_make_filter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, file_calls_make_filter);
}
