/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/identity.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    START_TIME_FIELD = 22, /* of a process's stat line, counted from 1 */
    FLAGS_FIELD = 9,
    SIGNALS_FIELD = 31, /* pending signals */
    EXITING = 0x4,      /* the kernel's PF_EXITING */
    KILL_PENDING = 1 << (SIGKILL - 1),
    PROCESS_ID_BITS = 22, /* the kernel's ids have no more bits */
};

#define NO_LOGIN UINT32_MAX

static bool identity_read_line(const char *path, char *line, size_t bytes)
{
    FILE *file = fopen(path, "re");
    bool found;

    if (file == NULL) {
        return false;
    }
    found = fgets(line, (int)bytes, file) != NULL;
    (void)fclose(file);
    return found;
}

/*
 * Returns the number in a field of a stat line, from the third field on; 0: there is none. Field 2,
 * the program's name, may contain blanks and parentheses.
 */
static uint64_t identity_parse_number(const char *line, int field_number)
{
    const char *at = strrchr(line, ')');
    unsigned long long number = 0;

    for (int field = 2; at != NULL && field < field_number; field++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL && sscanf(at, "%llu", &number) == 1 ? number : 0;
}

uint64_t etwas_identity_start_ticks(void)
{
    char line[1024];

    return identity_read_line("/proc/self/stat", line, sizeof line)
               ? identity_parse_number(line, START_TIME_FIELD)
               : 0;
}

/* The first thread of a process is also a zombie if it has ended before the others. */
bool etwas_identity_is_dying(uint32_t process_id, uint64_t start_ticks)
{
    char path[64];
    char line[1024];
    const char *state;

    (void)snprintf(path, sizeof path, "/proc/%u/stat", process_id);
    if (!identity_read_line(path, line, sizeof line) ||
        identity_parse_number(line, START_TIME_FIELD) != start_ticks) {
        return false;
    }
    state = strrchr(line, ')');
    return (state != NULL && strlen(state) > 2 && strchr("ZX", state[2]) != NULL) ||
           (identity_parse_number(line, FLAGS_FIELD) & EXITING) != 0 ||
           (identity_parse_number(line, SIGNALS_FIELD) & KILL_PENDING) != 0;
}

static uint32_t identity_session_id(void)
{
    char line[32];
    unsigned int login = NO_LOGIN;

    if (!identity_read_line("/proc/self/sessionid", line, sizeof line) ||
        sscanf(line, "%u", &login) != 1 || login == NO_LOGIN) {
        login = (unsigned int)getsid(0);
    }
    return login;
}

/* ---- containers ------------------------------------------------------------------------------ */

const char *etwas_container_id_in_path(const char *path)
{
    size_t digits = 0;

    for (const char *at = path;; at++) {
        if ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f')) {
            digits++;
            continue;
        }
        if (digits == ETWAS_CONTAINER_BYTES) {
            return at - digits;
        }
        if (*at == '\0') {
            return NULL;
        }
        digits = 0;
    }
}

/* Finds a container's id in the first line that has one and contains `word`. */
static bool identity_find_container(const char *path, const char *word,
                                    char id[ETWAS_CONTAINER_BYTES])
{
    FILE *file = fopen(path, "re");
    const char *found = NULL;
    char line[4096];

    while (file != NULL && found == NULL && fgets(line, sizeof line, file) != NULL) {
        found = strstr(line, word) != NULL ? etwas_container_id_in_path(line) : NULL;
    }
    if (found != NULL) {
        memcpy(id, found, ETWAS_CONTAINER_BYTES);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found != NULL;
}

/*
 * Engines name a container's control group after it. If the container sees itself as the root of
 * all groups, its /etc/hostname is mounted from a folder with that name.
 */
void etwas_identity_read(struct etwas_identity *identity)
{
    identity->start_key = etwas_identity_start_ticks() << PROCESS_ID_BITS | (uint32_t)getpid();
    identity->user_id = (uint32_t)geteuid();
    identity->session_id = identity_session_id();
    identity->container_bytes =
        identity_find_container("/proc/self/cgroup", "", identity->container) ||
                identity_find_container("/proc/self/mountinfo", " /etc/hostname ",
                                        identity->container)
            ? ETWAS_CONTAINER_BYTES
            : 0;
}
