/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the file with user and password. Its content is never printed. */

#include "ship/wire/secret.h"

#include "ship/lines.h"
#include "ship/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char option[] = "--credentials";
static const char credential[] = "etwas-ship";

/* The value becomes part of an HTTP header line, so control characters are refused. */
static bool keep_line(char *kept, const struct etwas_ship_line *line)
{
    for (size_t at = 0; at < line->value_bytes; at++) {
        unsigned char byte = (unsigned char)line->value[at];

        if (byte < ' ' || byte == 0x7F) {
            return false;
        }
    }
    if (line->value_bytes >= ETWAS_SHIP_SECRET_BYTES) {
        return false;
    }
    memcpy(kept, line->value, line->value_bytes);
    kept[line->value_bytes] = '\0';
    return true;
}

const char *etwas_ship_secret_parse(const char *text, size_t bytes,
                                    struct etwas_ship_secret *secret)
{
    struct etwas_ship_lines lines = {text, text + bytes, 0};
    struct etwas_ship_line line;
    bool has_user = false;
    bool has_password = false;

    while (etwas_ship_lines_next(&lines, &line)) {
        bool is_user = etwas_ship_line_is(&line, "user");
        bool *has = is_user ? &has_user : &has_password;

        if (!is_user && !etwas_ship_line_is(&line, "password")) {
            return "has a line that is neither 'user = NAME' nor 'password = WORD'";
        }
        if (*has) {
            return "has two users or two passwords";
        }
        *has = keep_line(is_user ? secret->user : secret->password, &line);
        if (!*has) {
            return "has a value that is too long, or with control characters in it";
        }
    }
    return has_user && secret->user[0] != '\0' ? NULL : "names no user: 'user = NAME'";
}

/*
 * Returns what is unsafe about the file, or NULL. A service's credential is readable by its user
 * only, whatever its mode says of the group.
 */
static const char *unsafe(const struct stat *status, bool is_credential)
{
    mode_t others = is_credential ? S_IRWXO : S_IRWXG | S_IRWXO;

    if (!S_ISREG(status->st_mode)) {
        return "is not a file";
    }
    if (status->st_uid != geteuid() && status->st_uid != 0) {
        return "belongs to another user";
    }
    if ((status->st_mode & others) != 0) {
        return "may be read by others: its mode has to be 0600 or 0400";
    }
    return NULL;
}

static const char *read_all(int descriptor, char text[ETWAS_SHIP_SECRET_FILE_BYTES], size_t *used)
{
    ssize_t bytes = 1;

    *used = 0;
    while (bytes > 0 && *used < ETWAS_SHIP_SECRET_FILE_BYTES) {
        bytes = read(descriptor, text + *used, ETWAS_SHIP_SECRET_FILE_BYTES - *used);
        if (bytes < 0 && errno == EINTR) {
            bytes = 1;
        } else if (bytes > 0) {
            *used += (size_t)bytes;
        }
    }
    if (bytes < 0) {
        return strerror(errno);
    }
    return *used < ETWAS_SHIP_SECRET_FILE_BYTES ? NULL : "is too long";
}

static const char *read_file(int descriptor, bool is_credential, struct etwas_ship_secret *secret)
{
    char text[ETWAS_SHIP_SECRET_FILE_BYTES];
    struct stat status;
    const char *wrong;
    size_t bytes;

    if (fstat(descriptor, &status) != 0) {
        return strerror(errno);
    }
    wrong = unsafe(&status, is_credential);
    if (wrong == NULL) {
        wrong = read_all(descriptor, text, &bytes);
        wrong = wrong != NULL ? wrong : etwas_ship_secret_parse(text, bytes, secret);
        explicit_bzero(text, sizeof text);
    }
    return wrong;
}

/*
 * Prevents core dumps, which would contain the password. If the limit were 0, the kernel would
 * still pipe a core to a program; if it is 1, it does not. No core file is that short.
 */
static void leave_no_core(void)
{
    const struct rlimit no_core = {1, 1};

    (void)setrlimit(RLIMIT_CORE, &no_core);
}

bool etwas_ship_secret_read(const char *path, struct etwas_ship_secret *secret)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    bool is_credential = path == NULL && folder != NULL;
    const char *wrong;
    int descriptor;

    memset(secret, 0, sizeof *secret);
    if (path == NULL && folder == NULL) {
        return true;
    }
    if ((size_t)snprintf(secret->path, sizeof secret->path, "%s%s%s", is_credential ? folder : path,
                         is_credential ? "/" : "",
                         is_credential ? credential : "") >= sizeof secret->path) {
        etwas_ship_message(option, "the name of the file of credentials is too long");
        return false;
    }
    descriptor = open(secret->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0 && is_credential && errno == ENOENT) {
        return true;
    }
    wrong = descriptor < 0 ? strerror(errno) : read_file(descriptor, is_credential, secret);
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
    if (wrong != NULL) {
        etwas_ship_message(option, "the file of credentials '%s': %s", secret->path, wrong);
        etwas_ship_secret_forget(secret);
        return false;
    }
    secret->is_there = true;
    leave_no_core();
    return true;
}

void etwas_ship_secret_forget(struct etwas_ship_secret *secret)
{
    explicit_bzero(secret->user, sizeof secret->user);
    explicit_bzero(secret->password, sizeof secret->password);
    secret->is_there = false;
}
