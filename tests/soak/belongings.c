/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the process owns, from /proc/self, and folders. */
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "soak.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static uint32_t entries_of(const char *path)
{
    DIR *folder = opendir(path);
    uint32_t entries = 0;

    if (folder == NULL) {
        return UINT32_MAX;
    }
    while (readdir(folder) != NULL) {
        entries++;
    }
    (void)closedir(folder);
    return entries;
}

static uint32_t count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uint32_t lines = 0;
    int character;

    if (maps == NULL) {
        return UINT32_MAX;
    }
    while ((character = fgetc(maps)) != EOF) {
        lines += character == '\n';
    }
    (void)fclose(maps);
    return lines;
}

struct soak_belongings soak_count_belongings(void)
{
    return (struct soak_belongings){
        .descriptors = entries_of("/proc/self/fd"),
        .threads = entries_of("/proc/self/task"),
        .mappings = count_mappings(),
        .sessions = soak_count_sessions(),
    };
}

void soak_expect_nothing_gained(const char *where, const struct soak_belongings *before)
{
    enum {
        ALLOCATOR_NOISE = 100, /* stacks and heaps of threads that ended */
        LOOKS = 5000
    };
    struct soak_belongings now = soak_count_belongings();

    /* A thread that ended may stay in the list for a moment. */
    for (int look = 0; look < LOOKS && now.threads > before->threads; look++) {
        soak_pause_us(1000);
        now = soak_count_belongings();
    }
    if (now.descriptors > before->descriptors || now.threads > before->threads ||
        now.sessions > before->sessions ||
        (!SANITIZED && now.mappings > before->mappings + ALLOCATOR_NOISE)) {
        soak_fault(where,
                   "left behind: descriptors %u, were %u; threads %u, were %u; mappings %u, were "
                   "%u; sessions %u, were %u",
                   now.descriptors, before->descriptors, now.threads, before->threads, now.mappings,
                   before->mappings, now.sessions, before->sessions);
    }
}

uint32_t soak_count_files(const char *folder)
{
    return entries_of(folder) - 2;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void soak_remove_folder(const char *folder)
{
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
