/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Sessions as other processes find them: taken, read, listed, and gone with their host. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/identity.h"
#include "platform/testpoint.h"
#include "registry/fixture.h"
#include "registry/registry.h"
#include "registry/removal.h"
#include "registry/sessions.h"

enum {
    STARTERS = 16,
};

static uint32_t count_sessions(void)
{
    etwas_guid *sessions;
    uint32_t count;

    assert_int_equal(etwas_registry_list(&sessions, &count), ERROR_SUCCESS);
    free(sessions);
    return count;
}

static uint32_t find(const etwas_wchar *name)
{
    struct etwas_registry_entry *entry;
    uint32_t code = etwas_registry_find(name, &entry);

    assert_true((code == ERROR_SUCCESS) == (entry != NULL));
    free(entry);
    return code;
}

static uint32_t read_session(uint32_t number)
{
    const etwas_guid session = guid_of(number);
    struct etwas_registry_entry *entry;
    uint32_t code = etwas_registry_read(&session, &entry);

    assert_true((code == ERROR_SUCCESS) == (entry != NULL));
    free(entry);
    return code;
}

/* ---- one process ----------------------------------------------------------------------------- */

static void a_session_can_be_found_read_and_listed_until_it_is_closed(void **state)
{
    const etwas_guid session = guid_of(1);
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;
    etwas_guid *sessions;
    uint32_t count;

    (void)state;
    assert_int_equal(open_session(&host, u"Straße", 1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_find(u"STRAßE", &entry), ERROR_SUCCESS);
    assert_memory_equal(&entry->session, &session, sizeof session);
    assert_memory_equal(entry->name, u"Straße", sizeof u"Straße");
    assert_int_equal(entry->state, ETWAS_REGISTRY_OPEN);
    assert_int_equal(entry->process_id, getpid());
    assert_true(entry->process_start == etwas_identity_start_ticks());
    free(entry);
    assert_int_equal(read_session(1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_list(&sessions, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    assert_memory_equal(sessions, &session, sizeof session);
    free(sessions);
    etwas_registry_host_close(&host);
    assert_int_equal(find(u"Straße"), ERROR_NOT_FOUND);
    assert_int_equal(read_session(1), ERROR_NOT_FOUND);
    assert_int_equal(count_sessions(), 0);
    assert_int_equal(files_like(""), 0);
    etwas_registry_host_close(&host); /* once more does nothing */
}

static void a_change_is_read_whole_and_the_session_stays_living(void **state)
{
    struct etwas_registry_host host;
    struct etwas_registry_enablement enablement = {.provider = guid_of(7), .level = 5, .number = 2};
    struct etwas_registry_entry *entry = entry_of(u"changing", 2);
    const etwas_guid session = guid_of(2);
    struct etwas_registry_entry *found;

    (void)state;
    host = ETWAS_REGISTRY_NO_HOST;
    assert_int_equal(etwas_registry_host_open(&host, entry), ERROR_SUCCESS);
    entry->number = 2;
    entry->state = ETWAS_REGISTRY_CLOSING;
    entry->enablements = &enablement;
    entry->enablement_count = 1;
    assert_int_equal(etwas_registry_host_publish(&host, entry), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_clear_stale(), 0);
    assert_int_equal(etwas_registry_read(&session, &found), ERROR_SUCCESS);
    assert_int_equal(found->state, ETWAS_REGISTRY_CLOSING);
    assert_int_equal(found->number, 2);
    assert_int_equal(found->enablement_count, 1);
    assert_int_equal(found->enablements[0].level, 5);
    assert_true(found->socket == host.socket);
    free(found);
    etwas_registry_host_close(&host);
    assert_int_equal(files_like(""), 0);
}

static void a_name_and_a_guid_are_taken_once_and_refusal_leaves_nothing(void **state)
{
    struct etwas_registry_host first;
    struct etwas_registry_host second;

    (void)state;
    assert_int_equal(open_session(&first, u"one", 1), ERROR_SUCCESS);
    assert_int_equal(open_session(&second, u"ONE", 2), ERROR_ALREADY_EXISTS);
    assert_int_equal(open_session(&second, u"two", 1), ERROR_ALREADY_EXISTS);
    assert_int_equal(second.listener, -1);
    assert_int_equal(find(u"two"), ERROR_NOT_FOUND);
    assert_int_equal(open_session(&second, u"two", 2), ERROR_SUCCESS);
    assert_int_equal(count_sessions(), 2);
    etwas_registry_host_close(&first);
    etwas_registry_host_close(&second);
    assert_int_equal(files_like(""), 0);
}

static uint32_t files_made; /* while a session is opened */

/* What belongs to a session that nobody else sees is living all the same. */
static bool clear_socket(int folder, const char *name, void *context)
{
    (void)context;
    assert_false(etwas_registry_clear_socket(folder, name));
    return true;
}

/* Files are made for its name, for its entry, and for the entry when the host listens. */
static void look_in_between(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_REGISTRY_CREATED) {
        files_made++;
        assert_int_equal(find(u"not yet"), ERROR_NOT_FOUND);
        assert_int_equal(read_session(5), ERROR_NOT_FOUND);
        assert_int_equal(count_sessions(), 0);
        assert_int_equal(etwas_registry_each(clear_socket, NULL), ERROR_SUCCESS);
    }
}

static void a_session_is_not_seen_before_its_host_listens(void **state)
{
    struct etwas_registry_host host;

    (void)state;
    etwas_testpoint_set(look_in_between);
    assert_int_equal(open_session(&host, u"not yet", 5), ERROR_SUCCESS);
    etwas_testpoint_set(NULL);
    assert_true(files_made >= 3);
    assert_int_equal(read_session(5), ERROR_SUCCESS);
    assert_int_equal(find(u"not yet"), ERROR_SUCCESS);
    assert_int_equal(files_like("s."), 2);
    etwas_registry_host_close(&host);
}

static struct etwas_registry_host successor;

static void succeed_in_between(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_REGISTRY_REMOVES) {
        etwas_testpoint_set(NULL);
        assert_int_equal(open_session(&successor, u"again", 6), ERROR_SUCCESS);
        assert_true(files_like("s.") > 2); /* the dead one's, too */
        assert_int_equal(count_sessions(), 1);
    }
}

static void a_session_is_listed_once_though_a_dead_one_of_its_guid_is_there(void **state)
{
    struct etwas_registry_host host;

    (void)state;
    assert_int_equal(open_session(&host, u"again", 6), ERROR_SUCCESS);
    etwas_registry_host_forget(&host);
    etwas_testpoint_set(succeed_in_between);
    assert_true(clear_file(host.entry.name));
    assert_int_equal(count_sessions(), 1);
    (void)etwas_registry_clear_stale();
    assert_int_equal(find(u"again"), ERROR_SUCCESS);
    assert_int_equal(files_like(""), 3);
    etwas_registry_host_close(&successor);
}

/* The file of the only name that is taken; its content, which is the caller's to free. */
static void read_name_file(char name[ETWAS_REGISTRY_FILE_BYTES], void **bytes, size_t *size)
{
    struct etwas_held_request request = {.stem = name};
    DIR *folder = opendir(registry_folder());
    const struct dirent *found;

    assert_non_null(folder);
    while ((found = readdir(folder)) != NULL) {
        if (strncmp(found->d_name, "n.", 2) == 0) {
            (void)snprintf(name, ETWAS_REGISTRY_FILE_BYTES, "%.32s", found->d_name);
        }
    }
    (void)closedir(folder);
    assert_int_equal(etwas_held_read(&request, bytes, size), ERROR_SUCCESS);
}

/* As if both names had one hash. */
static void a_name_is_not_mistaken_for_another_whose_file_is_in_its_place(void **state)
{
    char name[ETWAS_REGISTRY_FILE_BYTES] = "";
    char others_name[ETWAS_REGISTRY_FILE_BYTES] = "";
    struct etwas_held_file other = {.lock = -1};
    struct etwas_held_request request = {.stem = name};
    struct etwas_registry_host host;
    struct etwas_registry_host second;
    void *bytes;
    void *own_bytes;

    (void)state;
    assert_int_equal(open_session(&host, u"another", 1), ERROR_SUCCESS);
    read_name_file(others_name, &bytes, &request.size);
    request.bytes = bytes;
    etwas_registry_host_close(&host);
    assert_int_equal(open_session(&host, u"name", 2), ERROR_SUCCESS);
    read_name_file(name, &own_bytes, &(size_t){0});
    free(own_bytes);
    assert_string_not_equal(name, others_name);
    etwas_registry_host_close(&host);

    assert_int_equal(etwas_held_acquire(&other, &request), ERROR_SUCCESS);
    free(bytes);
    assert_int_equal(find(u"name"), ERROR_NOT_FOUND);
    assert_int_equal(open_session(&host, u"name", 2), ERROR_SUCCESS);
    assert_string_not_equal(host.name.name, name);
    assert_int_equal(find(u"NAME"), ERROR_SUCCESS);
    assert_int_equal(open_session(&second, u"Name", 3), ERROR_ALREADY_EXISTS);
    etwas_held_release(&other);
    assert_int_equal(find(u"NAME"), ERROR_SUCCESS);
    assert_int_equal(open_session(&second, u"Name", 3), ERROR_ALREADY_EXISTS);
    etwas_registry_host_close(&host);
    assert_int_equal(find(u"NAME"), ERROR_NOT_FOUND);
    assert_int_equal(files_like(""), 0);
}

static void a_name_has_one_unit_or_more_and_not_too_many(void **state)
{
    static etwas_wchar longest[ETWAS_REGISTRY_NAME_UNITS + 2];
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;

    (void)state;
    assert_int_equal(open_session(&host, u"", 1), ERROR_INVALID_PARAMETER);
    for (size_t index = 0; index < ETWAS_REGISTRY_NAME_UNITS; index++) {
        longest[index] = (etwas_wchar)(0x100 + index);
    }
    assert_int_equal(open_session(&host, longest, 1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_find(longest, &entry), ERROR_SUCCESS);
    assert_memory_equal(entry->name, longest,
                        (ETWAS_REGISTRY_NAME_UNITS + 1) * sizeof(etwas_wchar));
    free(entry);
    longest[ETWAS_REGISTRY_NAME_UNITS] = u'!';
    assert_int_equal(find(longest), ERROR_NOT_FOUND);
    etwas_registry_host_close(&host);
    assert_int_equal(files_like(""), 0);
}

/* A session of a build that writes what this one does not understand. */
static void an_entry_that_cannot_be_read_is_reported_and_stays(void **state)
{
    static const char bytes[] = "of another build";
    const etwas_guid session = guid_of(0xABC);
    struct etwas_held_file held = {.lock = -1};
    struct etwas_held_request request = {
        .stem = "s.00000abc-00e7-0000-0102-030405060708", .bytes = bytes, .size = sizeof bytes};
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;
    etwas_guid *sessions;
    uint32_t count;

    (void)state;
    assert_int_equal(etwas_held_acquire(&held, &request), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_read(&session, &entry), ERROR_INVALID_DATA);
    assert_null(entry);
    assert_int_equal(etwas_registry_list(&sessions, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    assert_memory_equal(sessions, &session, sizeof session);
    free(sessions);
    assert_int_equal(open_session(&host, u"same GUID", 0xABC), ERROR_ALREADY_EXISTS);
    assert_int_equal(etwas_registry_clear_stale(), 0);
    etwas_held_forget(&held);
    assert_int_equal(etwas_registry_read(&session, &entry), ERROR_NOT_FOUND);
    assert_int_equal(etwas_registry_clear_stale(), 1);
}

/* Pool files that wait for recovery, and what others put there. */
static void what_is_not_the_registrys_is_left_alone(void **state)
{
    static const char *const names[] = {
        "s.00000001-00e7-0000-0102-030405060708.pool",
        "s.00000001-00e7-0000-0102-030405060708.12",
        "s.00000001-00e7-0000-0102-030405060708.0123456789abcdef",
        "s.0000001-00e7-0000-0102-030405060708",
        "s.00000001-00E7-0000-0102-030405060708",
        "s.00000001-00e7-0000-0102-03040506070",
        "s.00000001-00e7-0000-01020304-05060708",
        "n.12",
        "n.0123456789abcdef.",
        "n.0123456789abcdef.0",
        "t.0",
        "t.0123456789abcdef.1",
        "p.1",
        "p..2.0123456789abcdef.guids",
        "p.4294967296.2.0123456789abcdef.guids",
        "p.1.99999999999999999999.0123456789abcdef.guids",
        "p.1.2.0123456789abcde.guids",
        "p.1.2.0123456789abcdef.guid",
        "notes",
    };
    struct etwas_registry_host host;
    int folder;

    (void)state;
    assert_int_equal(etwas_registry_open(&folder), ERROR_SUCCESS);
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        int file = openat(folder, names[index], O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

        assert_true(file >= 0);
        assert_int_equal(close(file), 0);
    }
    assert_int_equal(etwas_registry_clear_stale(), 0);
    assert_int_equal(count_sessions(), 0);
    assert_int_equal(open_session(&host, u"beside them", 1), ERROR_SUCCESS);
    assert_int_equal(count_sessions(), 1);
    etwas_registry_host_close(&host);
    assert_int_equal(files_like(""), sizeof names / sizeof names[0]);
}

/* ---- several processes ----------------------------------------------------------------------- */

static int host_until_asked(struct child *self, void *context)
{
    struct etwas_registry_host host;
    const uint32_t *number = context;
    uint32_t code = open_session(&host, u"the one", *number);

    say(self, (char)code);
    (void)receive_byte(self);
    etwas_registry_host_close(&host);
    return 0;
}

static void exactly_one_of_many_starters_gets_a_name(void **state)
{
    struct child children[STARTERS];
    uint32_t winners = 0;

    (void)state;
    for (uint32_t round = 0; round < 20; round++) {
        winners = 0;
        for (uint32_t index = 0; index < STARTERS; index++) {
            children[index] = child_start(host_until_asked, &index);
        }
        for (uint32_t index = 0; index < STARTERS; index++) {
            int code = receive_byte(&children[index]);

            assert_true(code == ERROR_SUCCESS || code == ERROR_ALREADY_EXISTS);
            winners += code == ERROR_SUCCESS;
        }
        assert_int_equal(winners, 1);
        assert_int_equal(find(u"The One"), ERROR_SUCCESS);
        for (uint32_t index = 0; index < STARTERS; index++) {
            if (round % 2 == 0) {
                child_kill(&children[index]);
            } else {
                assert_int_equal(child_end(&children[index]), 0);
            }
        }
        assert_int_equal(find(u"the one"), ERROR_NOT_FOUND);
    }
}

static void a_host_that_is_killed_gives_its_name_and_its_guid_back(void **state)
{
    struct etwas_registry_host host;
    uint32_t number = 1;
    struct child child = child_start(host_until_asked, &number);

    (void)state;
    assert_int_equal(receive_byte(&child), ERROR_SUCCESS);
    assert_int_equal(open_session(&host, u"the one", 1), ERROR_ALREADY_EXISTS);
    assert_int_equal(find(u"the one"), ERROR_SUCCESS);
    child_kill(&child);
    assert_int_equal(files_like(""), 3);
    assert_int_equal(find(u"the one"), ERROR_NOT_FOUND);
    assert_int_equal(read_session(1), ERROR_NOT_FOUND);
    assert_int_equal(count_sessions(), 0);
    assert_int_equal(open_session(&host, u"the one", 1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_clear_stale(), 1); /* its socket, which is in nobody's way */
    assert_int_equal(files_like(""), 3);
    etwas_registry_host_close(&host);
    assert_int_equal(files_like(""), 0);
}

/* In its child the parent's session ends with the parent. */
static int forget_and_wait(struct child *self, void *context)
{
    etwas_registry_host_forget(context);
    etwas_registry_forget();
    say(self, 'f');
    return receive_byte(self) < 0;
}

static int host_and_fork(struct child *self, void *context)
{
    struct etwas_registry_host host;
    struct child grandchild;

    (void)context;
    if (open_session(&host, u"forks", 1) != ERROR_SUCCESS) {
        return 1;
    }
    grandchild = child_start(forget_and_wait, &host);
    (void)receive_byte(&grandchild);
    say(self, 'h');
    (void)receive_byte(self);
    return 0;
}

static void a_session_does_not_outlive_its_host_in_a_forks_child(void **state)
{
    struct child child = child_start(host_and_fork, NULL);

    (void)state;
    assert_int_equal(receive_byte(&child), 'h');
    assert_int_equal(find(u"forks"), ERROR_SUCCESS);
    child_kill(&child);
    assert_int_equal(find(u"forks"), ERROR_NOT_FOUND);
    assert_int_equal(etwas_registry_clear_stale(), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(a_session_can_be_found_read_and_listed_until_it_is_closed),
        REGISTRY_TEST(a_change_is_read_whole_and_the_session_stays_living),
        REGISTRY_TEST(a_name_and_a_guid_are_taken_once_and_refusal_leaves_nothing),
        REGISTRY_TEST(a_session_is_not_seen_before_its_host_listens),
        REGISTRY_TEST(a_session_is_listed_once_though_a_dead_one_of_its_guid_is_there),
        REGISTRY_TEST(a_name_is_not_mistaken_for_another_whose_file_is_in_its_place),
        REGISTRY_TEST(a_name_has_one_unit_or_more_and_not_too_many),
        REGISTRY_TEST(an_entry_that_cannot_be_read_is_reported_and_stays),
        REGISTRY_TEST(what_is_not_the_registrys_is_left_alone),
        REGISTRY_TEST(exactly_one_of_many_starters_gets_a_name),
        REGISTRY_TEST(a_session_does_not_outlive_its_host_in_a_forks_child),
        REGISTRY_TEST(a_host_that_is_killed_gives_its_name_and_its_guid_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
