/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The library's side of the settings. It allocates nothing, because it runs during the program's
 * start.
 */

#include "settings.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NUMBERS = 9
};

/* Like getenv, but without const: the text is edited in place. */
static char *find(const char *name)
{
    size_t length = strlen(name);

    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            return *entry + length + 1;
        }
    }
    return NULL;
}

static bool parse(const char *text, uint32_t numbers[NUMBERS])
{
    for (int index = 0; index < NUMBERS; index++) {
        char *end = NULL;
        unsigned long number;

        errno = 0;
        number = strtoul(text, &end, 10);
        if (end == text || errno != 0 || number > UINT32_MAX ||
            *end != (index + 1 < NUMBERS ? ' ' : '\0')) {
            return false;
        }
        numbers[index] = (uint32_t)number;
        text = end + 1;
    }
    return true;
}

static bool copy(char *path, const char *text)
{
    size_t bytes = text != NULL ? strlen(text) + 1 : SIZE_MAX;

    if (bytes > HEAPTRACE_PATH_BYTES - HEAPTRACE_SUFFIX_BYTES) {
        return false;
    }
    memcpy(path, text, bytes);
    return true;
}

/* The launcher put this library first: LD_PRELOAD=OURS or LD_PRELOAD=OURS:REST. */
static void leave_preload(void)
{
    char *value = find("LD_PRELOAD");
    Dl_info own;
    size_t length;

    if (value == NULL || dladdr((void *)(uintptr_t)&heaptrace_settings_take, &own) == 0) {
        return;
    }
    length = strlen(own.dli_fname);
    if (strncmp(value, own.dli_fname, length) != 0) {
        return;
    }
    if (value[length] == '\0') {
        (void)unsetenv("LD_PRELOAD");
    } else if (value[length] == ':') {
        memmove(value, value + length + 1, strlen(value + length + 1) + 1);
    }
}

bool heaptrace_settings_take(struct heaptrace_settings *settings)
{
    char *text = find(HEAPTRACE_ENV_SETTINGS);
    uint32_t numbers[NUMBERS];
    const char *counts = find(HEAPTRACE_ENV_COUNTS);

    if (text == NULL || !parse(text, numbers) ||
        !copy(settings->output, find(HEAPTRACE_ENV_OUTPUT)) ||
        !copy(settings->counts, counts != NULL ? counts : "")) {
        return false;
    }
    settings->first_process_id = numbers[0];
    settings->follow = numbers[1];
    settings->clock = numbers[2];
    settings->buffer_size_kb = numbers[3];
    settings->minimum_buffers = numbers[4];
    settings->maximum_buffers = numbers[5];
    settings->flush_timer_s = numbers[6];
    settings->frames = numbers[7];
    settings->is_shared = numbers[8];
    if (settings->follow != 0) {
        /* "1234 1 …" becomes "0000 1 …": a program that this one executes is not the first. */
        memset(text, '0', strspn(text, "0123456789"));
    } else {
        (void)unsetenv(HEAPTRACE_ENV_SETTINGS);
        (void)unsetenv(HEAPTRACE_ENV_OUTPUT);
        (void)unsetenv(HEAPTRACE_ENV_COUNTS);
        leave_preload();
    }
    return true;
}
