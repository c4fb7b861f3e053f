/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The calls on files and sockets that the library makes. Each ends the process if a lock is held
 * under which no such call is allowed (platform/testpoint.h). Every test is linked with --wrap of
 * each (CMakeLists.txt). Calls in signal handlers are not checked: a handler may interrupt the
 * thread that has the lock. The wrappers are weak: a test may wrap one of the calls itself.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/testpoint.h"

#define LOOK(name)                                                                                 \
    (etwas_files_are_forbidden                                                                     \
         ? etwas_invariant_broken("no file is touched under the control lock", name, 0)            \
         : (void)0)
#define CALL(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    __attribute__((weak)) type __wrap_##name parameters                                            \
    {                                                                                              \
        LOOK(#name);                                                                               \
        return __real_##name arguments;                                                            \
    }
/*
 * Calls with an optional last argument. If it is missing, the real function does not read it
 * either.
 */
#define CALL_WITH_MORE(name, parameters, arguments, last)                                          \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters;                                                                  \
    __attribute__((weak)) int __wrap_##name parameters                                             \
    {                                                                                              \
        va_list list;                                                                              \
        long more;                                                                                 \
                                                                                                   \
        LOOK(#name);                                                                               \
        va_start(list, last);                                                                      \
        more = va_arg(list, long);                                                                 \
        va_end(list);                                                                              \
        return __real_##name arguments;                                                            \
    }

CALL_WITH_MORE(open, (const char *path, int flags, ...), (path, flags, more), flags)
CALL_WITH_MORE(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, more),
               flags)
CALL_WITH_MORE(fcntl, (int descriptor, int command, ...), (descriptor, command, more), command)
CALL_WITH_MORE(ioctl, (int descriptor, unsigned long request, ...), (descriptor, request, more),
               request)
CALL(int, close, (int descriptor), (descriptor))
CALL(int, dup3, (int from, int to, int flags), (from, to, flags))
CALL(ssize_t, read, (int descriptor, void *bytes, size_t length), (descriptor, bytes, length))
CALL(ssize_t, pread, (int descriptor, void *bytes, size_t length, off_t at),
     (descriptor, bytes, length, at))
CALL(ssize_t, pwrite, (int descriptor, const void *bytes, size_t length, off_t at),
     (descriptor, bytes, length, at))
CALL(ssize_t, pwritev, (int descriptor, const struct iovec *vector, int count, off_t at),
     (descriptor, vector, count, at))
CALL(int, fstat, (int descriptor, struct stat *status), (descriptor, status))
CALL(int, stat, (const char *path, struct stat *status), (path, status))
CALL(int, lstat, (const char *path, struct stat *status), (path, status))
CALL(int, fstatat, (int folder, const char *path, struct stat *status, int flags),
     (folder, path, status, flags))
CALL(int, fstatfs, (int descriptor, struct statfs *status), (descriptor, status))
CALL(int, fchmod, (int descriptor, mode_t mode), (descriptor, mode))
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(int, unlink, (const char *path), (path))
CALL(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
CALL(int, linkat, (int from, const char *old, int to, const char *path, int flags),
     (from, old, to, path, flags))
CALL(int, renameat, (int from, const char *old, int to, const char *path), (from, old, to, path))
CALL(int, fdatasync, (int descriptor), (descriptor))
CALL(int, fallocate, (int descriptor, int mode, off_t at, off_t length),
     (descriptor, mode, at, length))
CALL(char *, getcwd, (char *path, size_t room), (path, room))
CALL(ssize_t, readlink, (const char *path, char *target, size_t room), (path, target, room))
CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode))
CALL(DIR *, opendir, (const char *path), (path))
CALL(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
CALL(int, connect, (int socket, const struct sockaddr *address, socklen_t length),
     (socket, address, length))
CALL(int, accept4, (int socket, struct sockaddr *address, socklen_t *length, int flags),
     (socket, address, length, flags))
CALL(ssize_t, send, (int socket, const void *bytes, size_t length, int flags),
     (socket, bytes, length, flags))
CALL(ssize_t, sendto,
     (int socket, const void *bytes, size_t length, int flags, const struct sockaddr *to,
      socklen_t size),
     (socket, bytes, length, flags, to, size))
CALL(ssize_t, sendmsg, (int socket, const struct msghdr *message, int flags),
     (socket, message, flags))
CALL(ssize_t, recv, (int socket, void *bytes, size_t length, int flags),
     (socket, bytes, length, flags))
CALL(ssize_t, recvmsg, (int socket, struct msghdr *message, int flags), (socket, message, flags))
CALL(int, poll, (struct pollfd * polls, nfds_t count, int timeout), (polls, count, timeout))
