/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DISK_IO, _DISK_IO_INIT and _SPLIT_IO, on a disk of our own, a loop device: every
 * request is recorded once, with its offset, its size and the thread that made it.
 */
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "system/kernel_count.h"
#include "system/kernel_fixture.h"

enum {
    TRANSFERS = 9,
    BLOCK = 4096,
    STRIDE = 16 * BLOCK, /* between two transfers, and the largest request */
    SECTOR = 512,
    DISK_BYTES = 1 << 20,
    READ = 10,
    WRITE = 11,
    READ_INIT = 12,
    WRITE_INIT = 13,
    FLUSH = 14,
    FLUSH_INIT = 15,
    SPLIT = 32,
    IRP_READ = 0x100,
    IRP_WRITE = 0x200,
};

static const etwas_guid disk_class = {
    0x3d6fa8d4, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const etwas_guid split_class = {
    0xd837ca92, 0x12b9, 0x44a5, {0xad, 0x6a, 0x3a, 0x65, 0xb3, 0x57, 0x8a, 0xa8}};

/* ---- a disk of our own ----------------------------------------------------------------------- */

struct disk {
    int descriptor; /* without a cache */
    uint32_t number;
};

static void set_largest_request(int number)
{
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof path, "/sys/block/loop%d/queue/max_sectors_kb", number);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%d", STRIDE / 1024) > 0);
    assert_int_equal(fclose(file), 0);
}

/* It goes when it is closed. Skips the test where there is none to be had. */
static struct disk make_disk(void)
{
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    int number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
    int file = open(folder_path("disk"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct loop_config config = {.fd = (uint32_t)file, .info.lo_flags = LO_FLAGS_AUTOCLEAR};
    struct disk disk = {.descriptor = -1};
    struct stat status;
    char path[32];

    (void)snprintf(path, sizeof path, "/dev/loop%d", number);
    assert_int_equal(ftruncate(file, DISK_BYTES), 0);
    if (number >= 0) {
        disk.descriptor = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
    }
    if (disk.descriptor < 0 || ioctl(disk.descriptor, LOOP_CONFIGURE, &config) != 0) {
        (void)printf("skipped: no loop device\n");
        skip();
    }
    (void)close(control);
    (void)close(file);
    set_largest_request(number);
    assert_int_equal(fstat(disk.descriptor, &status), 0);
    disk.number = major(status.st_rdev) << 20 | minor(status.st_rdev);
    return disk;
}

static uint8_t *aligned_bytes(void)
{
    uint8_t *bytes = aligned_alloc(BLOCK, 4 * STRIDE);

    assert_non_null(bytes);
    memset(bytes, 7, 4 * STRIDE);
    return bytes;
}

/* Each a block longer than the one before, at a place of its own; a flush in the end. */
static void use_disk(const struct disk *disk)
{
    uint8_t *bytes = aligned_bytes();

    for (int index = 0; index < TRANSFERS; index++) {
        size_t size = (size_t)(index + 1) * BLOCK;

        assert_int_equal(pwrite(disk->descriptor, bytes, size, (off_t)index * STRIDE), size);
    }
    assert_int_equal(fsync(disk->descriptor), 0);
    for (int index = 0; index < TRANSFERS; index++) {
        size_t size = (size_t)(index + 1) * BLOCK;

        assert_int_equal(pread(disk->descriptor, bytes, size, (off_t)index * STRIDE), size);
    }
    free(bytes);
}

/*
 * Linux 6.18 counts completions of other disks in interrupts without handing over each one; they
 * are then counted lost. Our disk's are completed by a thread.
 */
static void read_what_came(etwas_trace_handle session, struct events *events)
{
    etwas_session_counts counts;

    stop_session(session, &counts);
    assert_int_equal(counts.lost, counts.lost_in_kernel);
    read_events(folder_path("k.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, events);
    assert_int_equal(events->header.EventsLost, counts.lost);
}

/* ---- what is told of it ---------------------------------------------------------------------- */

static bool is_of_disk(const struct event *event, uint8_t type, uint32_t number)
{
    return is_kernel_event(event, &disk_class, type) && u32_at(event, 0) == number;
}

/*
 * This thread, or one of the kernel's, to which older kernels leave what is asked of a disk without
 * a plug.
 */
static bool may_issue(uint32_t thread)
{
    char path[64];
    char name[16] = "";
    FILE *file;

    if (thread == (uint32_t)syscall(SYS_gettid)) {
        return true;
    }
    (void)snprintf(path, sizeof path, "/proc/%u/comm", thread);
    file = fopen(path, "re");
    if (file != NULL) {
        (void)fgets(name, sizeof name, file);
        (void)fclose(file);
    }
    return strncmp(name, "kworker/", 8) == 0;
}

/* Once; returns it. */
static const struct event *expect_transfer(const struct events *events, const struct disk *disk,
                                           uint8_t type, int index)
{
    const struct event *found = NULL;

    for (size_t place = 0; place < events->count; place++) {
        const struct event *event = &events->items[place];

        if (is_of_disk(event, type, disk->number) &&
            u64_at(event, 16) == (uint64_t)index * STRIDE) {
            assert_null(found);
            found = event;
        }
    }
    assert_non_null(found);
    assert_int_equal(found->record.EventHeader.EventDescriptor.Version, 3);
    assert_int_equal(found->record.UserDataLength, 52);
    assert_int_equal(u32_at(found, 4) & (IRP_READ | IRP_WRITE),
                     type == READ ? IRP_READ : IRP_WRITE);
    assert_int_equal(u32_at(found, 8), (index + 1) * BLOCK);
    assert_int_equal(u64_at(found, 24), 0);
    assert_true(may_issue(u32_at(found, 48)));
    return found;
}

/* The last with this Irp before the completion; its response time is from there. */
static void expect_issue(const struct events *events, const struct event *completion, uint8_t type,
                         uint64_t irp, uint64_t response)
{
    const struct event *found = NULL;

    for (const struct event *event = events->items; event < completion; event++) {
        if (is_kernel_event(event, &disk_class, type) && u64_at(event, 0) == irp) {
            found = event;
        }
    }
    assert_non_null(found);
    assert_int_equal(found->record.UserDataLength, 12);
    assert_int_equal(u32_at(found, 8), u32_at(completion, 48));
    assert_int_equal(found->record.EventHeader.ThreadId, u32_at(completion, 48));
    assert_int_equal(completion->record.EventHeader.TimeStamp.QuadPart -
                         found->record.EventHeader.TimeStamp.QuadPart,
                     response);
}

static void every_request_is_recorded_once(void **state)
{
    struct disk disk = make_disk();
    const struct event *flush = NULL;
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_DISK_IO_INIT |
                           EVENT_TRACE_FLAG_NO_SYSCONFIG);
    use_disk(&disk);
    /* What was before an update is recorded by what was asked for then. */
    update_kernel_flags(session, EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_NO_SYSCONFIG,
                        ERROR_SUCCESS);
    read_what_came(session, &events);
    for (int index = 0; index < TRANSFERS; index++) {
        const struct event *write = expect_transfer(&events, &disk, WRITE, index);
        const struct event *read = expect_transfer(&events, &disk, READ, index);

        expect_issue(&events, write, WRITE_INIT, u64_at(write, 32), u64_at(write, 40));
        expect_issue(&events, read, READ_INIT, u64_at(read, 32), u64_at(read, 40));
    }
    for (size_t index = 0; index < events.count; index++) {
        if (is_of_disk(&events.items[index], FLUSH, disk.number)) {
            assert_null(flush);
            flush = &events.items[index];
        }
    }
    assert_non_null(flush);
    assert_int_equal(flush->record.UserDataLength, 28);
    assert_int_equal(u32_at(flush, 4) & (IRP_READ | IRP_WRITE), 0);
    assert_int_not_equal(u32_at(flush, 24), 0);
    assert_int_not_equal(u64_at(flush, 8), 0);
    free_events(&events);
    (void)close(disk.descriptor);
}

static uint32_t count_of_disk(const struct events *events, const struct disk *disk)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        count += is_of_disk(&events->items[index], READ, disk->number) ||
                 is_of_disk(&events->items[index], WRITE, disk->number) ||
                 is_of_disk(&events->items[index], FLUSH, disk->number);
    }
    return count;
}

/* And without _DISK_IO_INIT nothing of when they began. */
static void the_kernel_counts_as_many(void **state)
{
    static struct kernel_count counter;
    struct disk disk = make_disk();
    etwas_trace_handle session;
    struct events events;
    char filter[64];

    (void)state;
    (void)snprintf(filter, sizeof filter, "dev == %u && (nr_sector != 0 || rwbs ~ \"FF*\")",
                   disk.number);
    session = start_kernel(EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    begin_counting(&counter, "block/block_rq_complete", filter);
    use_disk(&disk);
    read_what_came(session, &events);
    assert_int_equal(count_of_disk(&events, &disk), 2 * TRANSFERS + 1);
    assert_int_equal(count_of_disk(&events, &disk), end_counting(&counter));
    for (size_t index = 0; index < events.count; index++) {
        for (uint8_t type = READ_INIT; type <= FLUSH_INIT; type++) {
            assert_true(type == FLUSH || !is_kernel_event(&events.items[index], &disk_class, type));
        }
    }
    free_events(&events);
    (void)close(disk.descriptor);
}

/*
 * A write becomes four requests of the largest size: the second to fourth are split off, each from
 * the one before.
 */
static void what_is_too_large_is_split(void **state)
{
    struct disk disk = make_disk();
    uint8_t *bytes = aligned_bytes();
    uint64_t irps[4] = {0};
    etwas_trace_handle session;
    struct events events;
    uint32_t splits = 0;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_SPLIT_IO |
                           EVENT_TRACE_FLAG_NO_SYSCONFIG);
    assert_int_equal(pwrite(disk.descriptor, bytes, 4 * STRIDE, 0), 4 * STRIDE);
    read_what_came(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_of_disk(event, WRITE, disk.number)) {
            assert_int_equal(u32_at(event, 8), STRIDE);
            irps[u64_at(event, 16) / STRIDE % 4] = u64_at(event, 32);
        }
    }
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        for (int part = 1; is_kernel_event(event, &split_class, SPLIT) && part < 4; part++) {
            splits += u64_at(event, 0) == irps[part - 1] && u64_at(event, 8) == irps[part];
        }
    }
    assert_int_equal(splits, 3);
    free_events(&events);
    free(bytes);
    (void)close(disk.descriptor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_request_is_recorded_once),
        FOLDER_TEST(the_kernel_counts_as_many),
        FOLDER_TEST(what_is_too_large_is_split),
    };

    return RUN_KERNEL_TESTS("system disk", tests);
}
