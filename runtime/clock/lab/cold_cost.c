/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The cost of a reading while its code and data are not in the caches.
 *
 * What a reading is known to need is evicted from the caches line by line: the code of the source's
 * function, of clock_gettime and of the vDSO, which may survive in a cache of its own, the data of
 * the vDSO, and the stack. To remove everything else, such as page tables, from the caches, and
 * pages from the translation buffers, memory twice the size of the largest cache is read. Reading
 * as much as the cache holds would leave half of it there.
 *
 * The timing code is kept warm: it times an empty reading twice, right before.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "clock/lab/lab.h"
#include "clock/lab/read_timing.h"
#include "clock/lab/tally.h"
#include "platform/memory.h"

enum {
    LINE_BYTES = 64,
    CODE_BYTES = 128, /* how much of a function is evicted, from its beginning */
    STACK_BYTES = 1024,
    CACHES = 8,
    MOST_READINGS = 512,
    LOOPS = 64,
};

#define KIB ((size_t)1024)
#define SMALLEST_WALK (8 * KIB * KIB)
#define WALK_WHEN_UNKNOWN (32 * KIB * KIB)
#define LARGEST_WALK (64 * KIB * KIB)

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The largest cache of the first processor; 0: the kernel does not say. */
static size_t largest_cache_bytes(void)
{
    size_t largest = 0;

    for (int index = 0; index < CACHES; index++) {
        char path[80];
        FILE *file;
        unsigned kib;

        (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        file = fopen(path, "re");
        if (file == NULL) {
            break;
        }
        if (fscanf(file, "%9uK", &kib) == 1 && kib * KIB > largest) {
            largest = kib * KIB;
        }
        (void)fclose(file);
    }
    return largest;
}

static size_t cache_walk_bytes(void)
{
    size_t bytes = 2 * largest_cache_bytes();
    uint64_t share = etwas_memory_limit_bytes() / 8;

    if (bytes == 0) {
        bytes = WALK_WHEN_UNKNOWN;
    }
    bytes = bytes < LARGEST_WALK ? bytes : LARGEST_WALK;
    bytes = bytes < share ? bytes : (size_t)share;
    return bytes > SMALLEST_WALK ? bytes : SMALLEST_WALK;
}

/*
 * Returns whether the page may be read. Some pages of the vDSO's data do not exist, and touching
 * one of these kills the process; the kernel refuses to copy from it.
 */
static bool page_is_readable(uintptr_t page, int to)
{
    return write(to, (const void *)page, 1) == 1;
}

/* Stores the pages of one line of the process's map, if they are data of the vDSO. */
static void cache_walk_find_data_in(const char *line, int to, struct etwas_lab_cache_walk *walk)
{
    uintptr_t start;
    uintptr_t end;

    if (strstr(line, "[vvar") == NULL ||
        sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) != 2) {
        return;
    }
    for (; start < end && walk->data_pages < ETWAS_LAB_CACHE_WALK_PAGES; start += page_bytes()) {
        if (page_is_readable(start, to)) {
            walk->data[walk->data_pages++] = start;
        }
    }
}

/* Without a map or a pipe no page is found; then only the walk evicts the data. */
static void cache_walk_find_data(struct etwas_lab_cache_walk *walk)
{
    FILE *map = fopen("/proc/self/maps", "re");
    char line[512];
    int ends[2];

    if (map == NULL) {
        return;
    }
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        while (fgets(line, sizeof line, map) != NULL) {
            cache_walk_find_data_in(line, ends[1], walk);
        }
        (void)close(ends[0]);
        (void)close(ends[1]);
    }
    (void)fclose(map);
}

bool etwas_lab_cache_walk_begin(struct etwas_lab_cache_walk *walk)
{
    size_t bytes = cache_walk_bytes();
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        return false;
    }
    /* Small pages, so that the walk also replaces the translation buffers. It is only advice. */
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    *walk = (struct etwas_lab_cache_walk){.memory = memory, .bytes = bytes};
    cache_walk_find_data(walk);
    /* Pages that were never written are all the same page of zeroes. */
    for (size_t offset = 0; offset < bytes; offset += LINE_BYTES) {
        walk->memory[offset] = 1;
    }
    return true;
}

void etwas_lab_cache_walk_end(struct etwas_lab_cache_walk *walk)
{
    if (walk->memory != NULL) {
        (void)munmap(walk->memory, walk->bytes);
    }
    *walk = (struct etwas_lab_cache_walk){0};
}

static void cache_walk_run(const struct etwas_lab_cache_walk *walk)
{
    const volatile uint8_t *memory = walk->memory;

    for (size_t offset = 0; offset < walk->bytes; offset += LINE_BYTES) {
        (void)memory[offset];
    }
}

static void evict_line(uintptr_t address)
{
#if defined(__x86_64__)
    __asm__ volatile("clflush (%0)" : : "r"(address) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("dc civac, %0\n\tic ivau, %0\n\tdsb ish" : : "r"(address) : "memory");
#else
#error "etwas needs to know how this architecture puts a line out of its caches"
#endif
}

static void evict_range(uintptr_t start, size_t bytes)
{
    for (uintptr_t line = start & ~(uintptr_t)(LINE_BYTES - 1); line < start + bytes;
         line += LINE_BYTES) {
        evict_line(line);
    }
}

/* Evicts no further than its page, because the next one need not exist. */
static void evict_function(uintptr_t start)
{
    const size_t page = page_bytes();
    size_t left = page - start % page;

    evict_range(start, left < CODE_BYTES ? left : CODE_BYTES);
}

/* Evicts the kernel's code in the process: everything that its program headers have loaded. */
static void evict_vdso(void)
{
    uintptr_t base = getauxval(AT_SYSINFO_EHDR);
    const Elf64_Ehdr *header;
    const Elf64_Phdr *parts;

    if (base == 0) {
        return;
    }
    header = (const Elf64_Ehdr *)base;
    parts = (const Elf64_Phdr *)(base + header->e_phoff);
    for (unsigned index = 0; index < header->e_phnum; index++) {
        if (parts[index].p_type == PT_LOAD) {
            evict_range(base + parts[index].p_offset, parts[index].p_filesz);
        }
    }
}

static void evict_vdso_data(const struct etwas_lab_cache_walk *walk)
{
    for (uint32_t page = 0; page < walk->data_pages; page++) {
        evict_range(walk->data[page], page_bytes());
    }
}

/* Evicts the memory where the reading will have its stack, below the caller's. */
static __attribute__((noinline)) void evict_stack(void)
{
    uint8_t stack[STACK_BYTES];

    evict_range((uintptr_t)stack, sizeof stack);
}

/* Warms the timing code, which is the same as for a reading. */
static int64_t read_nothing(void)
{
    return 0;
}

/*
 * Returns the ticks of one reading whose code and data are not in the caches, including the timing.
 */
static int64_t read_cold(int64_t (*read)(void), const struct etwas_lab_cache_walk *walk)
{
    int64_t ticks;

    evict_stack();
    evict_vdso_data(walk);
    evict_vdso();
    evict_function((uintptr_t)clock_gettime);
    evict_function((uintptr_t)read);
    /* Last, because evicting a line looks up its page and leaves that in the caches. */
    cache_walk_run(walk);
    etwas_lab_time_each(read_nothing, &ticks, 1);
    etwas_lab_time_each(read_nothing, &ticks, 1);
    etwas_lab_time_each(read, &ticks, 1);
    return ticks;
}

static double cold_timing_ns(void)
{
    int64_t ticks[LOOPS];
    double values[LOOPS];
    etwas_clock_distribution timing;

    etwas_lab_time_each(read_nothing, ticks, LOOPS);
    for (int loop = 0; loop < LOOPS; loop++) {
        values[loop] = (double)ticks[loop];
    }
    etwas_lab_distribution_of(values, LOOPS, &timing);
    return timing.median * etwas_lab_counter_tick_ns();
}

void etwas_lab_cost_cold(uint32_t source, const struct etwas_lab_cache_walk *walk,
                         uint64_t budget_ns, etwas_clock_source_report *report)
{
    int64_t (*read)(void) = etwas_lab_source(source)->read;
    const double loop_ns = cold_timing_ns();
    uint64_t end_ns = etwas_lab_now_ns() + budget_ns;
    double values[MOST_READINGS];
    uint32_t count = 0;

    do {
        double ns = (double)read_cold(read, walk) * etwas_lab_counter_tick_ns() - loop_ns;

        values[count++] = ns > 0 ? ns : 0;
    } while (count < ETWAS_LAB_COLD_READINGS ||
             (count < MOST_READINGS && etwas_lab_now_ns() < end_ns));
    etwas_lab_distribution_of(values, count, &report->cold_ns);
}
