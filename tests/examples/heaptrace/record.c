/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A shared library that `known` links, so that its constructor runs before heaptrace's own and its
 * destructor after the program's. It keeps its notes in static memory and writes them without
 * stdio.
 */

#include "record.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Class.Type of heaptrace's events. */
enum type {
    MALLOC = 10,
    CALLOC,
    REALLOC,
    REALLOCARRAY,
    FREE,
    POSIX_MEMALIGN,
    ALIGNED_ALLOC,
    MEMALIGN,
    VALLOC,
    PVALLOC
};

enum {
    SECTIONS = 128,
    NOTES_A_ROUND = 40,
    FIRST_MARK = 1000003, /* the size of a section's first call, plus its number */
};

struct note {
    int type;
    uint64_t size;
    uint64_t address;
    uint64_t third;
};

struct section {
    const char *name;
    pid_t thread;
    int count;
    struct note notes[MOST_ROUNDS * NOTES_A_ROUND + 2];
};

static struct section sections[SECTIONS];
static atomic_int section_count;
static int rounds = 1;
static const char *path;

void record_rounds(int count)
{
    rounds = count < MOST_ROUNDS ? count : MOST_ROUNDS;
}

void record_to(const char *file)
{
    path = file;
}

static void note(struct section *section, enum type type, uint64_t size, const void *address,
                 uint64_t third)
{
    section->notes[section->count++] =
        (struct note){(int)type, size, (uint64_t)(uintptr_t)address, third};
}

static void drop(struct section *section, void *address)
{
    note(section, FREE, 0, address, 0);
    free(address);
}

static void allocate_plainly(struct section *section, size_t size)
{
    uint64_t old;
    char *first = malloc(size);
    char *second;

    note(section, MALLOC, size, first, 0);
    second = calloc(3, size);
    note(section, CALLOC, 3 * size, second, 0);
    old = (uint64_t)(uintptr_t)first;
    first = realloc(first, 20 * size);
    note(section, REALLOC, 20 * size, first, old);
    old = (uint64_t)(uintptr_t)second;
    second = reallocarray(second, 7, size);
    note(section, REALLOCARRAY, 7 * size, second, old);
    drop(section, first);
    drop(section, second);
    first = realloc(NULL, size);
    note(section, REALLOC, size, first, 0);
    old = (uint64_t)(uintptr_t)first;
    first = realloc(first, 0);
    note(section, REALLOC, 0, first, old);
    first = malloc(0);
    note(section, MALLOC, 0, first, 0);
    drop(section, first);
    drop(section, NULL);
}

static void allocate_aligned(struct section *section, size_t size)
{
    void *addresses[5] = {NULL};

    if (posix_memalign(&addresses[0], 64, size) != 0) {
        abort();
    }
    note(section, POSIX_MEMALIGN, size, addresses[0], 64);
    addresses[1] = aligned_alloc(128, 128 * size);
    note(section, ALIGNED_ALLOC, 128 * size, addresses[1], 128);
    addresses[2] = memalign(256, size);
    note(section, MEMALIGN, size, addresses[2], 256);
    addresses[3] = valloc(size);
    note(section, VALLOC, size, addresses[3], 0);
    addresses[4] = pvalloc(size);
    note(section, PVALLOC, size, addresses[4], 0);
    for (int index = 0; index < 5; index++) {
        drop(section, addresses[index]);
    }
}

/* Calls that fail are calls. volatile: the compiler knows these functions and what they refuse. */
static void allocate_in_vain(struct section *section)
{
    volatile size_t most = SIZE_MAX;
    volatile size_t no_alignment = 3;
    void *address = NULL;

    address = malloc(most / 2 + 1);
    note(section, MALLOC, most / 2 + 1, address, 0);
    address = calloc(most, 2);
    note(section, CALLOC, UINT64_MAX, address, 0);
    address = reallocarray(NULL, most, 2);
    note(section, REALLOCARRAY, UINT64_MAX, address, 0);
    if (posix_memalign(&address, no_alignment, 100) == 0) {
        abort();
    }
    note(section, POSIX_MEMALIGN, 100, NULL, no_alignment);
}

void record_section(const char *name)
{
    int number = atomic_fetch_add(&section_count, 1);
    struct section *section = &sections[number];
    void *mark;

    if (number >= SECTIONS) {
        abort();
    }
    section->name = name;
    section->thread = gettid();
    mark = malloc((size_t)(FIRST_MARK + number));
    note(section, MALLOC, (uint64_t)(FIRST_MARK + number), mark, 0);
    for (int round = 0; round < rounds; round++) {
        allocate_plainly(section, (size_t)(round + 17));
        allocate_aligned(section, (size_t)(round + 17));
        allocate_in_vain(section);
    }
    drop(section, mark);
}

static void write_section(int file, const struct section *section)
{
    char line[160];
    int length = snprintf(line, sizeof line, "section %s %d %d\n", section->name,
                          (int)section->thread, section->count);

    if (write(file, line, (size_t)length) != length) {
        abort();
    }
    for (int index = 0; index < section->count; index++) {
        const struct note *call = &section->notes[index];

        length = snprintf(line, sizeof line, "%d %llu %llu %llu\n", call->type,
                          (unsigned long long)call->size, (unsigned long long)call->address,
                          (unsigned long long)call->third);
        if (write(file, line, (size_t)length) != length) {
            abort();
        }
    }
}

void record_write(void)
{
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

    if (file < 0) {
        return;
    }
    for (int index = 0; index < atomic_load(&section_count); index++) {
        write_section(file, &sections[index]);
    }
    (void)close(file);
}

static void *run_early_thread(void *argument)
{
    record_section(argument);
    return NULL;
}

__attribute__((constructor)) static void library_constructor(void)
{
    static char name[] = "thread-of-library-constructor";
    pthread_t thread;

    record_section("library-constructor");
    if (pthread_create(&thread, NULL, run_early_thread, name) != 0) {
        abort();
    }
    (void)pthread_join(thread, NULL);
}

__attribute__((destructor)) static void library_destructor(void)
{
    record_section("library-destructor");
    record_write();
}
