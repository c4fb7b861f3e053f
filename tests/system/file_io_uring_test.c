/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Operations on files that are requested through io_uring: each is recorded once, with its file
 * where the kernel reports it, and its end.
 */
#include <ck_pr.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/file_events.h"
#include "system/stream/tracepoint.h"

enum {
    ENTRIES = 8,
    NOBODYS = 777, /* descriptor */
    AT_POSITION = -2,
    MUST_NOT_EXIST = 2 << 24,
    DIRECTORY = 1,
    MOST_OPENS = 100,
};

struct ring {
    int descriptor;
    struct io_uring_params parameters;
    uint8_t *submissions;
    uint8_t *completions;
    struct io_uring_sqe *entries;
};

static void *map(const struct ring *ring, size_t bytes, off_t offset)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->descriptor, offset);

    assert_true(mapped != MAP_FAILED);
    return mapped;
}

/* Skips where there is none, or where it says nothing. */
static void open_ring(struct ring *ring)
{
    struct etwas_tracepoint tracepoint;
    struct etwas_unavailability fault;

    *ring = (struct ring){0};
    ring->descriptor = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring->parameters);
    if (ring->descriptor < 0 ||
        !etwas_tracepoint_read(&tracepoint, "io_uring/io_uring_file_get", &fault)) {
        (void)printf("skipped: there is no io_uring, or none that says what it does\n");
        skip();
    }
    etwas_tracepoint_free(&tracepoint);
    ring->submissions = map(ring, 4096, IORING_OFF_SQ_RING);
    ring->completions = map(ring, 4096, IORING_OFF_CQ_RING);
    ring->entries = map(ring, ENTRIES * sizeof *ring->entries, IORING_OFF_SQES);
}

static void close_ring(const struct ring *ring)
{
    (void)munmap(ring->submissions, 4096);
    (void)munmap(ring->completions, 4096);
    (void)munmap(ring->entries, ENTRIES * sizeof *ring->entries);
    (void)close(ring->descriptor);
}

/* What became of it. */
static int32_t ask(const struct ring *ring, const struct io_uring_sqe *request)
{
    const struct io_sqring_offsets *in = &ring->parameters.sq_off;
    const struct io_cqring_offsets *out = &ring->parameters.cq_off;
    uint32_t *tail = (uint32_t *)(void *)(ring->submissions + in->tail);
    uint32_t *head = (uint32_t *)(void *)(ring->completions + out->head);
    const struct io_uring_cqe *results = (void *)(ring->completions + out->cqes);
    uint32_t mask = *(uint32_t *)(void *)(ring->submissions + in->ring_mask);
    uint32_t result_mask = *(uint32_t *)(void *)(ring->completions + out->ring_mask);
    uint32_t place = *tail & mask;
    int32_t result;

    ring->entries[place] = *request;
    ((uint32_t *)(void *)(ring->submissions + in->array))[place] = place;
    ck_pr_fence_memory();
    ck_pr_store_32(tail, *tail + 1);
    assert_int_equal(
        syscall(SYS_io_uring_enter, ring->descriptor, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0), 1);
    ck_pr_fence_memory();
    result = results[*head & result_mask].res;
    ck_pr_store_32(head, *head + 1);
    return result;
}

static struct io_uring_sqe transfer(uint8_t opcode, int file, void *bytes, uint32_t count)
{
    return (struct io_uring_sqe){
        .opcode = opcode, .fd = file, .addr = (uintptr_t)bytes, .len = count};
}

static struct io_uring_sqe of_path(uint8_t opcode, const char *path, uint32_t mode)
{
    return (struct io_uring_sqe){
        .opcode = opcode, .fd = AT_FDCWD, .addr = (uintptr_t)path, .len = mode};
}

/* ---- what is told ---------------------------------------------------------------------------- */

/*
 * A transfer says no position where io_uring was asked; what the session's flusher writes has one.
 */
static bool is_request(const struct event *event, uint8_t type, uint64_t file)
{
    return is_kernel_event(event, &file_class, type) &&
           event->record.EventHeader.ProcessId == (uint32_t)getpid() && file_of(event) == file &&
           ((type != READ && type != WRITE) || u64_at(event, 0) == (uint64_t)AT_POSITION);
}

/* The nth of this process and the file: a worker of the kernel's may do what a thread asks for. */
static const struct event *nth_of(const struct events *events, uint8_t type, uint64_t file,
                                  uint32_t number)
{
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_request(event, type, file) && number-- == 0) {
            return event;
        }
    }
    fail();
    return NULL;
}

/* Checks that there is one result, of whichever source. */
static void expect_result(const struct events *events, const struct event *begin, int32_t result)
{
    uint32_t found = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &file_class, OPERATION_END) &&
            u64_at(event, 0) == irp_of(begin)) {
            assert_true(event > begin);
            assert_int_equal(u64_at(event, 8), result < 0 ? 0 : result);
            assert_int_equal((int32_t)u32_at(event, 16), result < 0 ? result : 0);
            found++;
        }
    }
    assert_int_equal(found, 1);
}

static void expect_request(const struct events *events, uint8_t type, uint64_t file, int32_t result)
{
    const struct event *event = nth_of(events, type, file, 0);

    if (type == READ || type == WRITE) {
        assert_int_equal(u32_at(event, 36), 0);
    }
    expect_result(events, event, result);
}

static void each_request_is_recorded_with_its_file(void **state)
{
    char bytes[100] = "x";
    struct io_uring_sqe request;
    struct ring ring;
    etwas_trace_handle session;
    struct events events;
    uint64_t file;
    int opened;

    (void)state;
    open_ring(&ring);
    session = start_files();
    opened = open_file("f", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC);
    request = transfer(IORING_OP_WRITE, opened, bytes, 100);
    assert_int_equal(ask(&ring, &request), 100);
    request = transfer(IORING_OP_READ, opened, bytes, 70);
    assert_int_equal(ask(&ring, &request), 70);
    request = transfer(IORING_OP_FSYNC, opened, NULL, 0);
    assert_int_equal(ask(&ring, &request), 0);
    request = transfer(IORING_OP_READ, NOBODYS, bytes, 70);
    assert_int_equal(ask(&ring, &request), -EBADF);
    read_and_account(session, &events);

    file = file_of(nth(&events, CREATE, 0));
    expect_request(&events, WRITE, file, 100);
    expect_request(&events, READ, file, 70);
    expect_request(&events, FLUSH, file, 0);
    assert_int_equal(count_files(&events, READ), 2);
    expect_end(&events, nth(&events, READ, 1), -EBADF);
    free_events(&events);
    (void)close(opened);
    close_ring(&ring);
}

/* Whose file or path the kernel does not say. */
static void a_request_without_a_file_has_none(void **state)
{
    char bytes[100] = "x";
    char path[64];
    struct io_uring_sqe request;
    struct ring ring;
    etwas_trace_handle session;
    struct events events;
    const struct event *made;
    int opened;

    (void)state;
    open_ring(&ring);
    (void)snprintf(path, sizeof path, "%s", folder_path("folder"));
    session = start_files();
    opened = open_file("f", O_RDWR | O_CREAT | O_CLOEXEC);
    assert_int_equal(
        syscall(SYS_io_uring_register, ring.descriptor, IORING_REGISTER_FILES, &opened, 1), 0);
    request = transfer(IORING_OP_WRITE, 0, bytes, 100);
    request.flags = IOSQE_FIXED_FILE;
    assert_int_equal(ask(&ring, &request), 100);
    request = of_path(IORING_OP_MKDIRAT, path, 0700);
    assert_int_equal(ask(&ring, &request), 0);
    request = of_path(IORING_OP_UNLINKAT, path, 0);
    request.unlink_flags = AT_REMOVEDIR;
    assert_int_equal(ask(&ring, &request), 0);
    request = transfer(IORING_OP_CLOSE, opened, NULL, 0);
    assert_int_equal(ask(&ring, &request), 0);
    read_and_account(session, &events);

    expect_request(&events, WRITE, 0, 100);
    made = nth(&events, CREATE, 1);
    assert_int_equal(u32_at(made, 20), MUST_NOT_EXIST | DIRECTORY);
    expect_result(&events, made, 0);
    expect_request(&events, DELETE, 0, 0);
    expect_request(&events, CLOSE, 0, 0);
    assert_int_equal(irp_of(nth_of(&events, CLOSE, 0, 0)), irp_of(nth_of(&events, CLEANUP, 0, 0)));
    free_events(&events);
    close_ring(&ring);
}

/* One that a request has closed, and another that has its descriptor. */
static void what_a_request_closes_has_no_name_any_more(void **state)
{
    struct io_uring_sqe request;
    struct ring ring;
    etwas_trace_handle session;
    struct events events;
    int pipes[2] = {-1, -1};
    int opened;
    uint32_t opens = 0;

    (void)state;
    open_ring(&ring);
    session = start_files();
    do { /* the logger opens files in between */
        (void)close(pipes[0]);
        (void)close(pipes[1]);
        assert_in_range(opens++, 0, MOST_OPENS);
        opened = open_file("f", O_RDWR | O_CREAT | O_CLOEXEC);
        request = transfer(IORING_OP_CLOSE, opened, NULL, 0);
        assert_int_equal(ask(&ring, &request), 0);
        assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    } while (pipes[0] != opened);
    assert_int_equal(write(pipes[1], "x", 1), 1);
    assert_int_equal(read(pipes[0], &(char){0}, 1), 1);
    read_and_account(session, &events);
    assert_int_equal(count_files(&events, CREATE), opens);
    assert_non_null(nth(&events, READ, 0));
    assert_int_not_equal(file_of(nth(&events, READ, 0)), file_of(nth(&events, CREATE, opens - 1)));
    free_events(&events);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    close_ring(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_request_is_recorded_with_its_file),
        FOLDER_TEST(a_request_without_a_file_has_none),
        FOLDER_TEST(what_a_request_closes_has_no_name_any_more),
    };

    return RUN_KERNEL_TESTS("system file uring", tests);
}
