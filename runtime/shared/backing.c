/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shared/mapping.h"

#include <ck_pr.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "platform/wait.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* the same number on every architecture */
#endif

enum {
    PAGES_A_TURN = 16,
    TURN_NS = 100000000,
};

static const struct {
    uint32_t magic;
    bool in_memory;
    const char *name;
} known[] = {
    {0x01021994, true, "tmpfs"},      {0x858458f6, true, "ramfs"},  {0x958458f6, true, "hugetlbfs"},
    {0xEF53, false, "ext4"}, /* or 2 or 3 */
    {0x58465342, false, "xfs"},       {0x9123683E, false, "btrfs"}, {0xF2F52010, false, "f2fs"},
    {0x794C7630, false, "overlayfs"}, {0x6969, false, "nfs"},       {0x65735546, false, "fuse"},
    {0x2FC12FC1, false, "zfs"},
};

static size_t backing_index_of(uint64_t magic)
{
    size_t index = 0;

    while (index < sizeof known / sizeof known[0] && known[index].magic != magic) {
        index++;
    }
    return index;
}

/* If the file system is unknown the more expensive kind is assumed. */
void etwas_shared_backing_read(struct etwas_shared_backing *place, int file)
{
    struct statfs facts;
    size_t index;

    *place = (struct etwas_shared_backing){0};
    if (fstatfs(file, &facts) == 0) {
        place->magic = (uint32_t)facts.f_type;
    }
    index = backing_index_of(place->magic);
    place->in_memory = index < sizeof known / sizeof known[0] && known[index].in_memory;
}

void etwas_shared_backing_name(uint64_t magic, char *name)
{
    size_t index = backing_index_of(magic);

    if (index < sizeof known / sizeof known[0]) {
        (void)strcpy(name, known[index].name);
    } else {
        (void)sprintf(name, "0x%llx", (unsigned long long)magic);
    }
}

/* ---- touching -------------------------------------------------------------------------------- */

/* Changes nothing in the page, and only makes it writable. */
static uint64_t backing_touch_ns(uint8_t *page, size_t page_bytes)
{
    uint64_t before = etwas_monotonic_ns();

    (void)etwas_memory_populate(page, page_bytes);
    return etwas_monotonic_ns() - before;
}

static void backing_count(struct etwas_shared_backing *place, uint64_t took_ns)
{
    ck_pr_store_64(&place->touches, place->touches + 1);
    ck_pr_store_64(&place->touch_ns, place->touch_ns + took_ns);
    if (took_ns > place->longest_touch_ns) {
        ck_pr_store_64(&place->longest_touch_ns, took_ns);
    }
    if (took_ns >= ETWAS_SLOW_TOUCH_NS) {
        ck_pr_store_64(&place->slow_touches, place->slow_touches + 1);
    }
}

void etwas_shared_backing_touch(struct etwas_shared_backing *place, struct etwas_pool *pool)
{
    const uint64_t page_bytes = etwas_memory_page_bytes();
    uint64_t now_ns;
    uint64_t pages;

    if (place->in_memory || ck_pr_load_64(&pool->words->ticket) == place->touched_ticket) {
        return;
    }
    now_ns = etwas_monotonic_ns();
    if (now_ns - place->touched_ns < TURN_NS) {
        return;
    }
    place->touched_ns = now_ns;
    place->touched_ticket = ck_pr_load_64(&pool->words->ticket);
    pages = (uint64_t)etwas_pool_allocated(pool) * pool->buffer_bytes / page_bytes;
    for (uint32_t touched = 0; touched < PAGES_A_TURN; touched++) {
        place->next_page = place->next_page < pages ? place->next_page : 0;
        backing_count(place, backing_touch_ns(pool->memory.region + place->next_page * page_bytes,
                                              page_bytes));
        place->next_page++;
    }
}

/* ---- writeback ------------------------------------------------------------------------------- */

bool etwas_shared_backing_clean(int file, uint64_t *clean_bytes, uint64_t *writing_bytes)
{
    struct {
        uint64_t offset;
        uint64_t bytes; /* 0: to the end */
    } range = {0, 0};
    struct {
        uint64_t cached;
        uint64_t dirty;
        uint64_t writing;
        uint64_t evicted;
        uint64_t recently_evicted;
    } pages;
    uint64_t page_bytes = etwas_memory_page_bytes();

    if (syscall(SYS_cachestat, file, &range, &pages, 0) != 0) {
        return false;
    }
    *clean_bytes =
        (pages.cached - (pages.dirty < pages.cached ? pages.dirty : pages.cached)) * page_bytes;
    *writing_bytes = pages.writing * page_bytes;
    return true;
}
