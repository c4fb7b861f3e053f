/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/system_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

enum {
    LINE_BYTES = 2048 /* what a log should take (RFC 5424) */
};

void etwas_system_log(const char *text)
{
    const struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "<%d>%s[%ld]: etwas: %s", LOG_USER | LOG_WARNING,
                          program_invocation_short_name, (long)getpid(), text);
    size_t bytes = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (descriptor >= 0) {
        (void)sendto(descriptor, line, bytes, MSG_NOSIGNAL, (const struct sockaddr *)&log,
                     sizeof log);
        (void)close(descriptor);
    }
}
