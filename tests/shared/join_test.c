/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processes that join another's session by its descriptor: what they log is in its file, whatever
 * becomes of them; and what they are shown instead of a mapping. Guests are killed for five
 * seconds, so many at most as ETWAS_TEST_KILLS says, or 300; where it says so, for as long as it
 * takes.
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/slot.h"
#include "platform/wait.h"
#include "session/session.h"
#include "shared/guests.h"
#include "shared/layout.h"

enum {
    EVENTS = 20000,
    KILLS = 300,
    LIVING = 4,
    MOST_KILLS = GUEST_LIVES - LIVING,
    MUTATIONS = 4000,
    PAUSE_US = 1000,
    LONGEST_LIFE_US = 8000,
};

#define KILLING_NS (UINT64_C(5) * 1000000000)

static const etwas_session_options to_file = {
    .buffer_size_kb = 64,
    .minimum_buffers = 16,
    .maximum_buffers = 64,
    .flush_timer = 1,
    .log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
};

/* ---- logging --------------------------------------------------------------------------------- */

static int receive_descriptor(int from)
{
    char byte;
    struct iovec data = {&byte, 1};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int descriptor;

    CHECK_IN_CHILD(recvmsg(from, &message, MSG_CMSG_CLOEXEC) == 1);
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

static void send_descriptor(int to, int descriptor)
{
    char byte = 0;
    struct iovec data = {&byte, 1};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    memset(&control, 0, sizeof control);
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    assert_int_equal(sendmsg(to, &message, 0), 1);
}

/* It was there before the session. */
static int early_guest(struct guest_board *board, uint32_t life, int *its_end)
{
    int ends[2];
    int child;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    child = fork_child();
    if (child == 0) {
        struct etwas_shared_guest guest;
        etwas_trace_handle session = guest_join(receive_descriptor(ends[1]), life, &guest);

        guest_log(session, board, life, 0, EVENTS);
        guest_unregister();
        guest_log(session, board, life, 1, EVENTS);
        _exit(0);
    }
    (void)close(ends[1]);
    *its_end = ends[0];
    return child;
}

static void what_guests_log_is_in_the_hosts_file(void **state)
{
    struct guest_board *board = guest_board_new();
    struct hosted hosted;
    etwas_session_counts counts;
    struct guest_sum sum;
    int children[GUESTS];
    int ends[GUESTS];

    (void)state;
    host_or_skip();
    for (uint32_t life = 1; life < GUESTS; life++) {
        children[life] = early_guest(board, life, &ends[life]);
    }
    host_start(&hosted, "host", folder_path("log.etl"), &to_file);
    for (uint32_t life = 1; life < GUESTS; life++) {
        while (host_take_slot(&hosted) != life) {
        }
        send_descriptor(ends[life], hosted.descriptor);
        (void)close(ends[life]);
    }
    guest_log(hosted.session, board, 0, 0, EVENTS); /* the host's own, beside them */
    for (uint32_t life = 1; life < GUESTS; life++) {
        assert_int_equal(exit_code_of(children[life]), 0);
    }
    host_stop(&hosted, &counts);
    sum = guest_sum(board, GUESTS);
    assert_int_equal(sum.recorded, (2 * GUESTS - 1) * EVENTS);
    assert_int_equal(counts.recorded, sum.recorded);
    assert_int_equal(counts.lost_no_buffer, sum.lost);
    assert_int_equal(guest_expect_file(folder_path("log.etl"), board, GUESTS, false, 0),
                     counts.recorded);
    guest_board_free(board);
}

/* What it overwrites is the host's; its own is overwritten in its turn. */
static void a_recorder_keeps_buffers_for_its_guests(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 32};
    struct guest_board *board = guest_board_new();
    struct etwas_shared_guest guest;
    struct hosted hosted;
    etwas_session_counts counts;
    struct guest_sum sum;
    uint32_t number;
    int child;

    (void)state;
    host_or_skip();
    host_start(&hosted, "host", NULL, &options);
    number = host_take_slot(&hosted);
    guest_log(hosted.session, board, 0, 0, EVENTS); /* there is nothing free any more */
    child = fork_child();
    if (child == 0) {
        etwas_trace_handle session = guest_join(hosted.descriptor, number, &guest);

        guest_unregister();
        guest_log(session, board, 1, 1, EVENTS);
        _exit(0);
    }
    while (ck_pr_load_64(&board->lives[1].threads[1].recorded) != EVENTS &&
           waitpid(child, NULL, WNOHANG) == 0) {
        guest_log(hosted.session, board, 0, 0, 1);
    }
    guest_log(hosted.session, board, 0, 0, EVENTS);
    host_reap(&hosted, number);
    host_stop(&hosted, &counts);
    sum = guest_sum(board, 2);
    assert_int_equal(board->lives[1].threads[1].recorded, EVENTS);
    assert_int_equal(counts.recorded + counts.overwritten, sum.recorded);
    assert_int_equal(counts.lost_no_buffer, sum.lost);
    assert_true(counts.overwritten > 2 * (uint64_t)EVENTS);
    guest_board_free(board);
}

/* ---- killing --------------------------------------------------------------------------------- */

static bool is_logging(const struct guest_board *board, uint32_t life)
{
    return ck_pr_load_32(&board->lives[life].inside) != 0 &&
           ck_pr_load_64(&board->lives[life].threads[0].recorded) != 0;
}

/* In the midst of a burst, if it comes to one soon. */
static void kill_in_burst(const struct guest_board *board, uint32_t life, int child)
{
    int status;

    for (uint32_t wait = 0; wait < PAUSE_US && !is_logging(board, life); wait++) {
        (void)usleep((useconds_t)(rand() % 10));
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

struct living {
    int child;
    uint32_t life;
    uint32_t slot;
};

static void bear(const struct hosted *hosted, struct guest_board *board, struct living *living,
                 uint32_t life)
{
    living->life = life;
    living->slot = host_take_slot(hosted);
    living->child = guest_process(hosted, board, life, living->slot);
}

static void kill_and_stop(const struct hosted *hosted, struct guest_board *board,
                          struct living living[LIVING], uint32_t life)
{
    struct living *victim = &living[rand() % LIVING];
    const struct living *stopped = &living[rand() % LIVING];

    assert_int_equal(kill(stopped->child, SIGSTOP), 0);
    (void)usleep((useconds_t)(rand() % LONGEST_LIFE_US));
    kill_in_burst(board, victim->life, victim->child);
    if (stopped != victim) {
        assert_int_equal(kill(stopped->child, SIGCONT), 0);
    }
    host_reap(hosted, victim->slot);
    bear(hosted, board, victim, life);
}

static long kills_wanted(void)
{
    const char *asked = getenv("ETWAS_TEST_KILLS");
    long kills = asked != NULL ? strtol(asked, NULL, 10) : KILLS;

    return kills < MOST_KILLS ? kills : MOST_KILLS;
}

static void whoever_is_killed_harms_no_other(void **state)
{
    struct guest_board *board = guest_board_new();
    struct living living[LIVING];
    const uint64_t end_ns =
        getenv("ETWAS_TEST_KILLS") != NULL ? UINT64_MAX : etwas_monotonic_ns() + KILLING_NS;
    uint32_t next = 0;
    struct hosted hosted;
    etwas_session_counts counts;
    struct guest_sum sum;

    (void)state;
    host_or_skip();
    host_start(&hosted, "host", folder_path("log.etl"), &to_file);
    for (; next < LIVING; next++) {
        bear(&hosted, board, &living[next], next);
    }
    for (long kills = kills_wanted(); kills > 0 && etwas_monotonic_ns() < end_ns; kills--) {
        kill_and_stop(&hosted, board, living, next++);
    }
    ck_pr_store_32(&board->quit, 1);
    for (uint32_t index = 0; index < LIVING; index++) {
        assert_int_equal(exit_code_of(living[index].child), 0);
        host_reap(&hosted, living[index].slot);
    }
    host_stop(&hosted, &counts);
    sum = guest_sum(board, next);
    assert_true(sum.recorded != 0);
    assert_in_range(counts.recorded + counts.lost_no_buffer, sum.attempted - sum.threads,
                    sum.attempted);
    assert_in_range(counts.recorded, sum.recorded, sum.recorded + sum.threads);
    assert_int_equal(guest_expect_file(folder_path("log.etl"), board, next, true, 0),
                     counts.recorded);
    guest_board_free(board);
}

/* ---- leaving --------------------------------------------------------------------------------- */

/*
 * What a guest of two sessions, one after the other in the same entry, receives. It runs in a
 * child.
 */
static void leave_and_join_again(int first, int second, int reported, int wait)
{
    struct etwas_shared_guest guest;
    etwas_trace_handle session = guest_join(first, 0, &guest);
    etwas_trace_handle before = session;
    char byte = 0;

    CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
    CHECK_IN_CHILD(!etwas_shared_leave(&guest)); /* it runs */
    CHECK_IN_CHILD(log_number(session, 2) == ERROR_SUCCESS);
    CHECK_IN_CHILD(write(reported, &byte, 1) == 1);
    CHECK_IN_CHILD(read(wait, &byte, 1) == 1);
    CHECK_IN_CHILD(log_number(session, 3) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(etwas_shared_leave(&guest));
    CHECK_IN_CHILD(log_number(session, 4) == ERROR_INVALID_HANDLE);
    session = guest_join(second, 0, &guest);
    CHECK_IN_CHILD(log_number(before, 5) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(log_number(session, 6) == ERROR_SUCCESS);
    etwas_shared_close_gates(&guest); /* as if its host were dead */
    CHECK_IN_CHILD(log_number(session, 7) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(etwas_shared_leave(&guest));
}

static void a_guest_leaves_once_the_session_has_ended(void **state)
{
    etwas_session_options larger = to_file;
    struct hosted first;
    struct hosted second;
    etwas_session_counts counts;
    int reported[2];
    int wait[2];
    char byte;
    int child;

    (void)state;
    host_or_skip();
    larger.maximum_buffers *= 4; /* and so laid out otherwise */
    host_start(&first, "first", folder_path("first.etl"), &to_file);
    host_start(&second, "second", folder_path("second.etl"), &larger);
    assert_int_equal(host_take_slot(&first), 0);
    assert_int_equal(host_take_slot(&second), 0);
    assert_int_equal(pipe(reported), 0);
    assert_int_equal(pipe(wait), 0);
    child = fork_child();
    if (child == 0) {
        leave_and_join_again(first.descriptor, second.descriptor, reported[1], wait[0]);
        _exit(0);
    }
    assert_int_equal(read(reported[0], &byte, 1), 1);
    host_stop(&first, &counts);
    assert_int_equal(counts.recorded, 2);
    assert_int_equal(write(wait[1], &byte, 1), 1);
    assert_int_equal(exit_code_of(child), 0);
    host_stop(&second, &counts);
    assert_int_equal(counts.recorded, 1);
    for (int end = 0; end < 2; end++) {
        (void)close(reported[end]);
        (void)close(wait[end]);
    }
}

/* ---- forks ----------------------------------------------------------------------------------- */

static void fork_as_guest(int descriptor)
{
    struct etwas_shared_guest guest;
    etwas_trace_handle session = guest_join(descriptor, 0, &guest);
    int child = fork_child();

    if (child == 0) {
        CHECK_IN_CHILD(log_number(session, 1) == ERROR_INVALID_HANDLE);
        CHECK_IN_CHILD(fcntl(guest.descriptor, F_GETFD) == -1);
        session = guest_join(descriptor, 1, &guest); /* it may be one itself */
        CHECK_IN_CHILD(log_number(session, 2) == ERROR_SUCCESS);
        _exit(0);
    }
    CHECK_IN_CHILD(exit_code_of(child) == 0);
    CHECK_IN_CHILD(log_number(session, 3) == ERROR_SUCCESS);
}

static void a_guests_child_is_no_guest(void **state)
{
    struct hosted hosted;
    etwas_session_counts counts;
    int child;

    (void)state;
    host_or_skip();
    host_start(&hosted, "host", folder_path("log.etl"), &to_file);
    assert_int_equal(host_take_slot(&hosted), 0);
    assert_int_equal(host_take_slot(&hosted), 1);
    child = fork_child();
    if (child == 0) {
        fork_as_guest(hosted.descriptor);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    host_stop(&hosted, &counts);
    assert_int_equal(counts.recorded, 2);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static void some_sessions_are_their_processs_own(void **state)
{
    etwas_session_options options = to_file;

    (void)state;
    host_or_skip();
    options.protocol = ETWAS_PROTOCOL_SHARED;
    assert_int_equal(host_refusal(&options), ERROR_NOT_SUPPORTED);
    options = to_file;
    options.log_file_mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    assert_int_equal(host_refusal(&options), ERROR_NOT_SUPPORTED);
    options.log_file_mode = EVENT_TRACE_USE_LOCAL_SEQUENCE;
    assert_int_equal(host_refusal(&options), ERROR_NOT_SUPPORTED);
}

/* What a running session's mapping holds, in a file whose gates are closed: nobody logs into it. */
static int copy_mapping(const struct hosted *hosted, struct etwas_shared_head *head)
{
    int copy = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct etwas_shared_table slots;
    uint8_t *bytes;

    assert_int_equal(pread(hosted->descriptor, head, sizeof *head, 0), sizeof *head);
    slots = head->tables[ETWAS_SHARED_SLOTS];
    bytes = malloc(head->total_bytes);
    assert_non_null(bytes);
    assert_int_equal(pread(hosted->descriptor, bytes, head->total_bytes, 0), head->total_bytes);
    for (uint32_t slot = 0; slot < slots.count; slot++) {
        memset(bytes + slots.offset + (size_t)slot * slots.stride +
                   offsetof(struct etwas_slot, gate),
               0, sizeof(uint32_t));
    }
    assert_int_equal(pwrite(copy, bytes, head->total_bytes, 0), head->total_bytes);
    free(bytes);
    return copy;
}

static uint32_t join_and_leave(int descriptor)
{
    struct etwas_shared_guest guest = {.gate = 0}; /* any */
    uint32_t code = etwas_shared_join(descriptor, ETWAS_SESSION_ENTRIES, 0, &guest);

    if (code == ERROR_SUCCESS) {
        assert_int_equal(
            log_number(etwas_session_handle((struct etwas_session_key){guest.entry, guest.gate}),
                       1),
            ERROR_INVALID_HANDLE);
        assert_true(etwas_shared_leave(&guest));
    }
    return code;
}

static void what_could_be_truncated_is_not_joined(void **state)
{
    struct etwas_shared_head head;
    struct hosted hosted;
    int copy;
    int reading;
    char path[64];

    (void)state;
    host_or_skip();
    host_start(&hosted, "host", folder_path("log.etl"), &to_file);
    copy = copy_mapping(&hosted, &head);
    assert_int_equal(join_and_leave(copy), ERROR_INVALID_DATA);
    assert_int_equal(fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    assert_int_equal(join_and_leave(copy), ERROR_SUCCESS);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
    reading = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(reading >= 0);
    assert_int_equal(join_and_leave(reading), ERROR_ACCESS_DENIED);
    assert_int_equal(fallocate(copy, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                               (off_t)head.tables[ETWAS_SHARED_REGION].offset, 1 << 16),
                     0);
    assert_int_equal(join_and_leave(copy), ERROR_SUCCESS); /* it gets space when it is touched */
    (void)close(reading);
    (void)close(copy);
    assert_int_equal(join_and_leave(-1), ERROR_INVALID_DATA);
    host_stop(&hosted, NULL);
}

static void expect_refusal(int copy, const struct etwas_shared_head *head, uint32_t code)
{
    assert_int_equal(pwrite(copy, head, sizeof *head, 0), sizeof *head);
    assert_int_equal(join_and_leave(copy), code);
}

static void another_layout_is_told_apart(int copy, const struct etwas_shared_head *sound)
{
    struct etwas_shared_head head = *sound;

    head.major++;
    expect_refusal(copy, &head, ERROR_NOT_SUPPORTED);
    head = *sound;
    head.gate = 0;
    expect_refusal(copy, &head, ERROR_NOT_SUPPORTED);
    head = *sound;
    head.minor = 1;
    expect_refusal(copy, &head, ERROR_NOT_SUPPORTED);
    head = *sound;
    head.tables[ETWAS_SHARED_SLOTS].stride *= 2;
    expect_refusal(copy, &head, ERROR_NOT_SUPPORTED);
    head = *sound;
    head.rseq_slots++;
    expect_refusal(copy, &head, ERROR_NOT_SUPPORTED);
    head = *sound;
    head.state = ETWAS_SHARED_CLOSED;
    expect_refusal(copy, &head, ERROR_WMI_INSTANCE_NOT_FOUND);
    head = *sound;
    head.boot_id[0] ^= 1;
    expect_refusal(copy, &head, ERROR_INVALID_DATA);
    head = *sound;
    head.tables[ETWAS_SHARED_REGION].offset = UINT64_MAX - UINT64_C(4095);
    expect_refusal(copy, &head, ERROR_INVALID_DATA);
    head = *sound;
    head.buffers = UINT32_MAX;
    expect_refusal(copy, &head, ERROR_INVALID_DATA);
}

/* The head but for names and paths. */
static size_t place_of_a_number(void)
{
    size_t tables = offsetof(struct etwas_shared_head, name);
    size_t rest =
        sizeof(struct etwas_shared_head) - offsetof(struct etwas_shared_head, newest_path);
    size_t place = (size_t)rand() % (tables + rest) / 4 * 4;

    return place < tables ? place
                          : place - tables + offsetof(struct etwas_shared_head, newest_path);
}

static uint32_t mutated(uint32_t value)
{
    const uint32_t values[] = {0,         1,           UINT32_MAX,       value + 1,
                               value - 1, value << 12, (uint32_t)rand(), value ^ 1u << rand() % 32};

    return values[(size_t)rand() % (sizeof values / sizeof values[0])];
}

static void any_head_is_joined_or_refused(void **state)
{
    static const uint32_t codes[] = {ERROR_SUCCESS, ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED,
                                     ERROR_WMI_INSTANCE_NOT_FOUND};
    struct etwas_shared_head sound;
    struct hosted hosted;
    uint32_t seen[sizeof codes / sizeof codes[0]] = {0};
    int copy;

    (void)state;
    host_or_skip();
    host_start(&hosted, "host", folder_path("log.etl"), &to_file);
    copy = copy_mapping(&hosted, &sound);
    assert_int_equal(fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    another_layout_is_told_apart(copy, &sound);
    for (uint32_t turn = 0; turn < MUTATIONS; turn++) {
        struct etwas_shared_head head = sound;
        size_t place = place_of_a_number();
        uint32_t value;
        uint32_t code;
        size_t index = 0;

        memcpy(&value, (uint8_t *)&head + place, sizeof value);
        value = mutated(value);
        memcpy((uint8_t *)&head + place, &value, sizeof value);
        assert_int_equal(pwrite(copy, &head, sizeof head, 0), sizeof head);
        code = join_and_leave(copy);
        while (index < sizeof codes / sizeof codes[0] && codes[index] != code) {
            index++;
        }
        assert_true(index < sizeof codes / sizeof codes[0]);
        seen[index]++;
    }
    for (size_t index = 0; index < sizeof codes / sizeof codes[0]; index++) {
        assert_true(seen[index] != 0);
    }
    (void)close(copy);
    host_stop(&hosted, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_guests_log_is_in_the_hosts_file),
        FOLDER_TEST(a_recorder_keeps_buffers_for_its_guests),
        FOLDER_TEST(whoever_is_killed_harms_no_other),
        FOLDER_TEST(a_guest_leaves_once_the_session_has_ended),
        FOLDER_TEST(a_guests_child_is_no_guest),
        FOLDER_TEST(some_sessions_are_their_processs_own),
        FOLDER_TEST(what_could_be_truncated_is_not_joined),
        FOLDER_TEST(any_head_is_joined_or_refused),
    };

    return cmocka_run_group_tests_name("guests of a session", tests, hosts_setup, hosts_teardown);
}
