/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Processes that have joined: they are notified, they answer, and they list their providers. */
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/fixture.h"
#include "registry/joined_process.h"
#include "registry/notification.h"
#include "registry/registry.h"
#include "registry/removal.h"

enum {
    GUESTS = 6,
    WAIT_MS = 60000,
};

static struct etwas_notification make_notification(uint32_t number)
{
    return (struct etwas_notification){
        .op = ETWAS_NOTIFY_CHANGED, .number = number, .session = guid_of(number)};
}

/* Receives the next notification; fails the test after a minute. */
static struct etwas_notification receive_next(const struct etwas_registry_process *process)
{
    struct pollfd what = {.fd = process->socket, .events = POLLIN};
    struct etwas_notification notification;

    do {
        assert_int_equal(poll(&what, 1, WAIT_MS), 1);
    } while (etwas_registry_receive(process, &notification) != ERROR_SUCCESS);
    return notification;
}

/* ---- notifications --------------------------------------------------------------------------- */

/* Acknowledges each notification, until one without a number ends it. */
static int guest(struct child *self, void *context)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    uint32_t code = etwas_registry_join(&process);
    struct etwas_notification notification;

    (void)context;
    say(self, (char)code);
    do {
        notification = receive_next(&process);
        if (notification.op == ETWAS_NOTIFY_CHANGED && notification.sender[0] != 0) {
            struct etwas_notification acknowledgement = notification;

            acknowledgement.op = ETWAS_NOTIFY_ACKNOWLEDGED;
            acknowledgement.sender[0] = 0;
            code = etwas_registry_notify(notification.sender, &acknowledgement, 0);
        }
    } while (notification.number != 0);
    etwas_registry_leave(&process);
    return code == ERROR_SUCCESS ? 0 : 1;
}

static void all_living_processes_are_notified_and_can_answer(void **state)
{
    struct etwas_registry_process own = ETWAS_REGISTRY_NO_PROCESS;
    struct child children[GUESTS];
    struct etwas_notification notification = make_notification(5);
    uint32_t notified;

    (void)state;
    for (uint32_t index = 0; index < GUESTS; index++) {
        children[index] = child_start(guest, NULL);
        assert_int_equal(receive_byte(&children[index]), ERROR_SUCCESS);
    }
    child_kill(&children[0]);
    assert_int_equal(etwas_registry_join(&own), ERROR_SUCCESS);
    (void)strcpy(notification.sender, own.name);
    assert_int_equal(etwas_registry_notify_all(&notification, &notified), ERROR_SUCCESS);
    assert_int_equal(notified, GUESTS); /* all but the dead one, and we */
    assert_int_equal(files_like("p."), 2 * GUESTS + 1);
    assert_int_equal(receive_next(&own).op, ETWAS_NOTIFY_CHANGED);
    for (uint32_t index = 1; index < GUESTS; index++) {
        struct etwas_notification acknowledgement = receive_next(&own);

        assert_int_equal(acknowledgement.op, ETWAS_NOTIFY_ACKNOWLEDGED);
        assert_int_equal(acknowledgement.number, 5);
        assert_memory_equal(&acknowledgement.session, &notification.session,
                            sizeof acknowledgement.session);
        assert_true(acknowledgement.process_id != (uint32_t)getpid() &&
                    acknowledgement.process_id != 0);
    }
    notification = make_notification(0);
    assert_int_equal(etwas_registry_notify_all(&notification, NULL), ERROR_SUCCESS);
    for (uint32_t index = 1; index < GUESTS; index++) {
        assert_int_equal(child_end(&children[index]), 0);
    }
    assert_int_equal(etwas_registry_clear_stale(), 1); /* the list of the dead one */
    etwas_registry_leave(&own);
    assert_int_equal(files_like(""), 0);
}

static void one_that_is_gone_is_not_found_and_what_it_left_is_removed(void **state)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_notification notification = make_notification(1);

    (void)state;
    assert_int_equal(etwas_registry_join(&process), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_notify(process.name, &notification, 0), ERROR_SUCCESS);
    etwas_registry_process_forget(&process);
    assert_int_equal(files_like("p."), 2);
    assert_int_equal(etwas_registry_notify(process.name, &notification, 0), ERROR_NOT_FOUND);
    assert_int_equal(files_like("p."), 1);
    assert_int_equal(etwas_registry_notify(process.name, &notification, 0), ERROR_NOT_FOUND);
    assert_int_equal(etwas_registry_notify(process.guids.name, &notification, 0),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_registry_notify("../p.1.1.0000000000000000", &notification, 0),
                     ERROR_INVALID_PARAMETER);
    etwas_registry_leave(&process); /* once more does nothing */
}

/* A full queue is passed over, and so is what the stopped ones have not received yet. */
static void stopped_processes_hold_nobody_up(void **state)
{
    struct etwas_registry_process own = ETWAS_REGISTRY_NO_PROCESS;
    struct child children[GUESTS];
    struct etwas_notification notification = make_notification(1);
    uint32_t notified;

    (void)state;
    for (uint32_t index = 0; index < GUESTS; index++) {
        children[index] = child_start(guest, NULL);
        assert_int_equal(receive_byte(&children[index]), ERROR_SUCCESS);
        child_stop(&children[index]);
    }
    for (uint32_t round = 0; round < 1000; round++) {
        assert_int_equal(etwas_registry_notify_all(&notification, &notified), ERROR_SUCCESS);
        assert_int_equal(notified, GUESTS);
    }
    assert_int_equal(etwas_registry_join(&own), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_notify_all(&notification, &notified), ERROR_SUCCESS);
    assert_int_equal(notified, GUESTS + 1);
    assert_int_equal(receive_next(&own).op, ETWAS_NOTIFY_CHANGED);
    etwas_registry_leave(&own);
    for (uint32_t index = 0; index < GUESTS; index++) {
        child_kill(&children[index]);
    }
}

struct notifier {
    const char *name;
    uint64_t deadline_ns;
};

static int notify_in_time(struct child *self, void *context)
{
    const struct notifier *notifier = context;
    struct etwas_notification notification = make_notification(77);

    say(self, 'b');
    return (int)etwas_registry_notify(notifier->name, &notification, notifier->deadline_ns);
}

static void who_answers_waits_for_room_until_the_deadline(void **state)
{
    struct etwas_registry_process own = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_notification notification = make_notification(1);
    struct notifier notifier = {.name = own.name};
    uint32_t filled = 0;
    struct child child;

    (void)state;
    assert_int_equal(etwas_registry_join(&own), ERROR_SUCCESS);
    while (etwas_registry_notify(own.name, &notification, 0) == ERROR_SUCCESS) {
        filled++;
    }
    assert_true(filled > 0);
    notifier.deadline_ns = etwas_monotonic_ns() + 20000000;
    child = child_start(notify_in_time, &notifier);
    assert_int_equal(receive_byte(&child), 'b');
    assert_int_equal((uint8_t)child_end(&child), (uint8_t)ERROR_TIMEOUT);
    notifier.deadline_ns = etwas_monotonic_ns() + (uint64_t)WAIT_MS * 1000000;
    child = child_start(notify_in_time, &notifier);
    assert_int_equal(receive_byte(&child), 'b');
    for (uint32_t index = 0; index < filled; index++) {
        assert_int_equal(receive_next(&own).number, 1);
    }
    assert_int_equal(receive_next(&own).number, 77);
    assert_int_equal(child_end(&child), ERROR_SUCCESS);
    etwas_registry_leave(&own);
}

/* More than one socket may have on its way. */
static void many_are_notified_at_once(void **state)
{
    enum {
        MANY = 450
    };
    static struct etwas_registry_process processes[MANY];
    struct rlimit limit;
    struct etwas_notification notification = make_notification(1);
    uint32_t notified;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (uint32_t index = 0; index < MANY; index++) {
        processes[index] = ETWAS_REGISTRY_NO_PROCESS;
        assert_int_equal(etwas_registry_join(&processes[index]), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_registry_notify_all(&notification, &notified), ERROR_SUCCESS);
    assert_int_equal(notified, MANY);
    for (uint32_t index = 0; index < MANY; index++) {
        assert_int_equal(etwas_registry_receive(&processes[index], &notification), ERROR_SUCCESS);
        assert_int_equal(etwas_registry_receive(&processes[index], &notification), ERROR_NOT_FOUND);
        etwas_registry_leave(&processes[index]);
    }
    assert_int_equal(files_like(""), 0);
}

/* ---- what is not believed -------------------------------------------------------------------- */

static void send_raw(const struct etwas_registry_process *process, const void *bytes, size_t size,
                     int descriptor)
{
    struct sockaddr_un address;
    union etwas_ancillary_room room;
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr whole = {
        .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1};
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int folder;

    assert_int_equal(etwas_registry_open(&folder), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_address(folder, process->name, &address), ERROR_SUCCESS);
    if (descriptor >= 0) {
        whole.msg_control = &room;
        etwas_ancillary_append(&whole, SCM_RIGHTS, &descriptor, sizeof descriptor);
    }
    assert_int_equal(sendmsg(sender, &whole, 0), size);
    assert_int_equal(close(sender), 0);
}

/* What a process really sends, to be sent again with a change. */
static size_t record(const struct etwas_registry_process *process, uint8_t bytes[512])
{
    struct etwas_notification notification = make_notification(1);
    ssize_t size;

    (void)strcpy(notification.sender, process->name);
    assert_int_equal(etwas_registry_notify(process->name, &notification, 0), ERROR_SUCCESS);
    size = recv(process->socket, bytes, 512, 0);
    assert_true(size > 64 && size < 500);
    return (size_t)size;
}

static void what_is_ill_formed_is_passed_over(void **state)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    uint32_t before;
    uint8_t bytes[512] = {0};
    struct etwas_notification notification;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_join(&process), ERROR_SUCCESS);
    size = record(&process, bytes);
    before = count_descriptors();
    for (size_t cut = 0; cut < size; cut++) {
        send_raw(&process, bytes, cut, -1);
        assert_int_equal(etwas_registry_receive(&process, &notification), ERROR_NOT_FOUND);
    }
    send_raw(&process, bytes, size + 1, -1);
    assert_int_equal(etwas_registry_receive(&process, &notification), ERROR_NOT_FOUND);
    for (size_t at = 0; at < 6; at++) { /* magic, version */
        bytes[at] ^= 1;
        send_raw(&process, bytes, size, -1);
        assert_int_equal(etwas_registry_receive(&process, &notification), ERROR_NOT_FOUND);
        bytes[at] ^= 1;
    }
    send_raw(&process, bytes, size, process.socket); /* nobody wants a descriptor */
    assert_int_equal(etwas_registry_receive(&process, &notification), ERROR_SUCCESS);
    assert_int_equal(count_descriptors(), before);
    assert_string_equal(notification.sender, process.name);
    memset(bytes + size - ETWAS_REGISTRY_FILE_BYTES, 'x', ETWAS_REGISTRY_FILE_BYTES);
    send_raw(&process, bytes, size, -1);
    assert_int_equal(etwas_registry_receive(&process, &notification), ERROR_SUCCESS);
    assert_string_equal(notification.sender, ""); /* that is no name of a socket */
    etwas_registry_leave(&process);
}

static int notify_as_another_user(struct child *self, void *context)
{
    const struct etwas_registry_process *process = context;
    struct etwas_notification notification = make_notification(1);

    (void)self;
    become_another_user();
    return (int)etwas_registry_notify(process->name, &notification, 0);
}

static void what_another_user_tells_is_passed_over(void **state)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct pollfd what = {.events = POLLIN};
    struct child child;
    struct etwas_notification notification;

    (void)state;
    assert_int_equal(etwas_registry_join(&process), ERROR_SUCCESS);
    if (!let_others_in()) {
        etwas_registry_leave(&process);
        print_message("skipped: only root can become another user\n");
        skip();
    }
    child = child_start(notify_as_another_user, &process);
    assert_int_equal(child_end(&child), ERROR_SUCCESS);
    what.fd = process.socket;
    assert_int_equal(poll(&what, 1, 0), 1); /* it has come */
    assert_int_equal(etwas_registry_receive(&process, &notification), ERROR_NOT_FOUND);
    assert_int_equal(poll(&what, 1, 0), 0);
    etwas_registry_leave(&process);
}

/* ---- lists of providers ---------------------------------------------------------------------- */

static int have_a_provider(struct child *self, void *context)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_registry_guid guid = {.guid = guid_of(*(uint32_t *)context), .name = "shop"};
    struct etwas_registry_guid_list list = {.count = 1, .guids = &guid};
    bool is_good = etwas_registry_join(&process) == ERROR_SUCCESS;

    is_good = is_good && etwas_registry_publish_guids(&process, &list) == ERROR_SUCCESS;
    say(self, is_good ? 'y' : 'n');
    (void)receive_byte(self);
    etwas_registry_leave(&process);
    return 0;
}

struct acknowledgement {
    uint32_t lists;
    uint32_t providers;
    uint32_t sum; /* of the numbers in their GUIDs */
};

static bool see(const struct etwas_registry_guid_list *list, void *context)
{
    struct acknowledgement *acknowledgement = context;

    acknowledgement->lists++;
    for (uint32_t index = 0; index < list->count; index++) {
        acknowledgement->providers++;
        acknowledgement->sum += list->guids[index].guid.Data1;
        assert_string_equal(list->guids[index].name, "shop");
        assert_true(list->process_id != (uint32_t)getpid() && list->process_start != 0);
    }
    return true;
}

static bool see_one(const struct etwas_registry_guid_list *list, void *context)
{
    (void)see(list, context);
    return false;
}

static void the_providers_of_all_living_processes_are_listed(void **state)
{
    struct etwas_registry_process own = ETWAS_REGISTRY_NO_PROCESS;
    struct child children[GUESTS];
    struct acknowledgement acknowledgement = {0};

    (void)state;
    assert_int_equal(etwas_registry_join(&own), ERROR_SUCCESS);
    for (uint32_t index = 0; index < GUESTS; index++) {
        children[index] = child_start(have_a_provider, &index);
        assert_int_equal(receive_byte(&children[index]), 'y');
    }
    child_stop(&children[2]); /* it is still there */
    child_kill(&children[3]);
    assert_int_equal(etwas_registry_each_process(see, &acknowledgement), ERROR_SUCCESS);
    assert_int_equal(acknowledgement.lists, GUESTS);
    assert_int_equal(acknowledgement.providers, GUESTS - 1);
    assert_int_equal(acknowledgement.sum, GUESTS * (GUESTS - 1) / 2 - 3);
    acknowledgement.lists = 0;
    assert_int_equal(etwas_registry_each_process(see_one, &acknowledgement), ERROR_SUCCESS);
    assert_int_equal(acknowledgement.lists, 1);
    for (uint32_t index = 0; index < GUESTS; index++) {
        if (index != 3) {
            child_kill(&children[index]);
        }
    }
    etwas_registry_leave(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(all_living_processes_are_notified_and_can_answer),
        REGISTRY_TEST(one_that_is_gone_is_not_found_and_what_it_left_is_removed),
        REGISTRY_TEST(stopped_processes_hold_nobody_up),
        REGISTRY_TEST(who_answers_waits_for_room_until_the_deadline),
        REGISTRY_TEST(many_are_notified_at_once),
        REGISTRY_TEST(what_is_ill_formed_is_passed_over),
        REGISTRY_TEST(what_another_user_tells_is_passed_over),
        REGISTRY_TEST(the_providers_of_all_living_processes_are_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
