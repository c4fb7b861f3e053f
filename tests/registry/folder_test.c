/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The registry's folder: which ones are refused, and what becomes of calls where there is none, or
 * it is full.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failures/private_mounts.h"
#include "registry/connection.h"
#include "registry/fixture.h"
#include "registry/joined_process.h"
#include "registry/notification.h"
#include "registry/registry.h"
#include "registry/removal.h"
#include "registry/sessions.h"

enum {
    THREADS = 8,
    NOBODY = 65534,
};

static const char *why_no_mounts;

/* Whatever is asked of it, says this code. */
static void expect_refused(uint32_t expected)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_notification notification = {.op = ETWAS_NOTIFY_CHANGED};
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;
    etwas_guid session = guid_of(1);
    etwas_guid *sessions;
    uint32_t count;
    int folder;

    assert_int_equal(etwas_registry_open(&folder), expected);
    assert_int_equal(open_session(&host, u"refused", 1), expected);
    assert_int_equal(host.listener, -1);
    assert_int_equal(etwas_registry_read(&session, &entry), expected);
    assert_null(entry);
    assert_int_equal(etwas_registry_find(u"refused", &entry), expected);
    assert_null(entry);
    assert_int_equal(etwas_registry_list(&sessions, &count), expected);
    assert_null(sessions);
    assert_int_equal(etwas_registry_join(&process), expected);
    assert_int_equal(process.socket, -1);
    assert_int_equal(etwas_registry_notify_all(&notification, NULL), expected);
    assert_int_equal(etwas_registry_clear_stale(), 0);
}

static void use_folder(const char *name)
{
    etwas_registry_forget();
    assert_int_equal(setenv("ETWAS_RUNTIME_DIR", name, 1), 0);
}

/* A session, and a process that is notified. */
static void expect_works(void)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_notification notification = {.op = ETWAS_NOTIFY_CHANGED, .number = 3};
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    uint32_t notified;
    int connection;

    assert_int_equal(open_session(&host, u"works", 1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_find(u"works", &entry), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_connect(entry, 0, &connection, &peer), ERROR_SUCCESS);
    assert_int_equal(close(connection), 0);
    free(entry);
    assert_int_equal(etwas_registry_join(&process), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_notify_all(&notification, &notified), ERROR_SUCCESS);
    assert_int_equal(notified, 1);
    assert_int_equal(etwas_registry_receive(&process, &notification), ERROR_SUCCESS);
    assert_int_equal(notification.number, 3);
    etwas_registry_leave(&process);
    etwas_registry_host_close(&host);
    assert_int_equal(files_like(""), 0);
}

/* ---- which folder ---------------------------------------------------------------------------- */

static void everything_in_it_is_the_users_alone(void **state)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_registry_host host;
    mode_t mask = umask(0);
    struct stat facts;
    int folder;

    (void)state;
    assert_int_equal(open_session(&host, u"private", 1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_join(&process), ERROR_SUCCESS);
    assert_int_equal(stat(registry_folder(), &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0700);
    assert_int_equal(etwas_registry_open(&folder), ERROR_SUCCESS);
    assert_int_equal(fcntl(folder, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fstatat(folder, process.name, &facts, 0), 0);
    assert_int_equal(facts.st_mode, S_IFSOCK | 0600);
    assert_int_equal(fstatat(folder, process.guids.name, &facts, 0), 0);
    assert_int_equal(facts.st_mode, S_IFREG | 0600);
    assert_int_equal(fstatat(folder, host.entry.name, &facts, 0), 0);
    assert_int_equal(facts.st_mode, S_IFREG | 0600);
    etwas_registry_leave(&process);
    etwas_registry_host_close(&host);
    (void)umask(mask);
}

static void one_that_others_may_enter_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(registry_folder(), 0750), 0);
    assert_int_equal(chmod(registry_folder(), 0710), 0);
    expect_refused(ERROR_ACCESS_DENIED);
}

static void a_link_and_a_file_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(folder_path("real"), 0700), 0);
    assert_int_equal(symlink(folder_path("real"), registry_folder()), 0);
    expect_refused(ERROR_ACCESS_DENIED);
    assert_int_equal(unlink(registry_folder()), 0);
    assert_int_equal(close(open(registry_folder(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)), 0);
    expect_refused(ERROR_ACCESS_DENIED);
}

static void one_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can make one\n");
        skip();
    }
    assert_int_equal(mkdir(registry_folder(), 0700), 0);
    assert_int_equal(chown(registry_folder(), NOBODY, NOBODY), 0);
    expect_refused(ERROR_ACCESS_DENIED);
}

static void among_another_users_none_is_made(void **state)
{
    char path[ETWAS_FOLDER_BYTES];

    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can give a folder to another user\n");
        skip();
    }
    assert_int_equal(mkdir(folder_path("place"), 0700), 0);
    assert_int_equal(setenv("XDG_RUNTIME_DIR", folder_path("place"), 1), 0);
    assert_int_equal(unsetenv("ETWAS_RUNTIME_DIR"), 0);
    assert_true(etwas_shared_folder_name(0, path));
    assert_string_equal(path, folder_path("place/etwas"));
    assert_int_equal(chown(folder_path("place"), NOBODY, NOBODY), 0);
    assert_true(etwas_shared_folder_name(0, path));
    assert_string_equal(path, "/run/user/0/etwas");
    assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
}

static void a_path_longer_than_a_sockets_address_will_do(void **state)
{
    char path[ETWAS_FOLDER_BYTES];
    int folder;

    (void)state;
    (void)snprintf(path, sizeof path, "%s", folder_path("far"));
    for (int depth = 0; depth < 3; depth++) {
        assert_int_equal(mkdir(path, 0700), 0);
        (void)strcat(path, "/a-folder-whose-name-is-quite-a-bit-longer-than-it-has-to-be");
    }
    assert_true(strlen(path) > 108);
    use_folder(path);
    expect_works();
    assert_int_equal(etwas_registry_open(&folder), ERROR_SUCCESS);
    etwas_registry_path(folder, path);
    assert_string_equal(path, registry_folder());
}

/*
 * A process that needs the folder makes it anew, under the descriptor that it has. What is
 * published next is there again.
 */
static void one_that_is_removed_under_us_is_made_anew(void **state)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_registry_entry *entry;
    struct etwas_registry_host host;
    uint32_t before;
    char command[512];

    (void)state;
    assert_int_equal(open_session(&host, u"homeless", 1), ERROR_SUCCESS);
    before = count_descriptors();
    (void)snprintf(command, sizeof command, "rm -r '%s'", registry_folder());
    assert_int_equal(system(command), 0);
    assert_int_equal(etwas_registry_host_publish(&host, entry_of(u"homeless", 1)), ERROR_SUCCESS);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(etwas_registry_read(&entry_of(u"homeless", 1)->session, &entry),
                     ERROR_SUCCESS);
    free(entry);
    assert_int_equal(etwas_registry_join(&process), ERROR_SUCCESS);
    etwas_registry_leave(&process);
    etwas_registry_host_close(&host);
    expect_works();
}

static void who_leaves_one_that_is_removed_makes_none(void **state)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_registry_host host;
    char command[512];

    (void)state;
    assert_int_equal(etwas_registry_join(&process), ERROR_SUCCESS);
    assert_int_equal(open_session(&host, u"homeless", 1), ERROR_SUCCESS);
    (void)snprintf(command, sizeof command, "rm -r '%s'", registry_folder());
    assert_int_equal(system(command), 0);
    etwas_registry_host_close(&host);
    etwas_registry_leave(&process);
    assert_int_equal(access(registry_folder(), F_OK), -1);
    expect_works();
}

static void *open_it(void *folder)
{
    return (void *)(uintptr_t)etwas_registry_open(folder);
}

static void threads_that_open_it_at_once_have_the_same_one(void **state)
{
    pthread_t threads[THREADS];
    int folders[THREADS];
    uint32_t before = count_descriptors();

    (void)state;
    for (int round = 0; round < 50; round++) {
        for (int index = 0; index < THREADS; index++) {
            assert_int_equal(pthread_create(&threads[index], NULL, open_it, &folders[index]), 0);
        }
        for (int index = 0; index < THREADS; index++) {
            void *code;

            assert_int_equal(pthread_join(threads[index], &code), 0);
            assert_null(code);
            assert_int_equal(folders[index], folders[0]);
        }
        etwas_registry_forget();
        assert_int_equal(count_descriptors(), before);
    }
}

/* ---- mounts ---------------------------------------------------------------------------------- */

static void skip_without_mounts(void)
{
    if (why_no_mounts != NULL) {
        print_message("skipped: %s\n", why_no_mounts);
        skip();
    }
}

static void mount_registry(const char *options)
{
    assert_int_equal(mkdir(registry_folder(), 0700), 0);
    assert_int_equal(mount("tmpfs", registry_folder(), "tmpfs", 0, options), 0);
    assert_int_equal(chmod(registry_folder(), 0700), 0);
}

static void one_that_cannot_be_written_to_is_refused(void **state)
{
    (void)state;
    skip_without_mounts();
    mount_registry("size=64k");
    assert_int_equal(mount(NULL, registry_folder(), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL),
                     0);
    expect_refused(ERROR_ACCESS_DENIED);
    assert_int_equal(umount(registry_folder()), 0);
}

static void fill(void)
{
    static const char page[4096];
    char path[512];
    int file;

    (void)snprintf(path, sizeof path, "%s/filled", registry_folder());
    file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    while (write(file, page, sizeof page) > 0) {
    }
    assert_int_equal(close(file), 0);
}

/* What is the first folder to a program, asked in that program itself. */
static int ask_program(struct child *self, void *context)
{
    char *const arguments[] = {context, (char *)(uintptr_t) "--first-folder", NULL};
    int to = self->to;

    return dup2(to, STDOUT_FILENO) < 0 || execv(context, arguments) != 0;
}

static void expect_first_folder(char *program, const char *expected)
{
    struct child child = child_start(ask_program, program);
    char folder[ETWAS_FOLDER_BYTES] = "";
    size_t length = 0;

    for (int byte = receive_byte(&child); byte > 0; byte = receive_byte(&child)) {
        folder[length++] = (char)byte;
    }
    assert_string_equal(folder, expected);
    assert_int_equal(child_end(&child), 0);
}

/* Ends at once: a sanitizer that looks for leaks may not trace such a program. */
static void print_first_folder(void)
{
    char path[ETWAS_FOLDER_BYTES];
    bool is_good = etwas_shared_folder_name(0, path) && printf("%s", path) > 0;

    _exit(is_good && fflush(stdout) == 0 ? 0 : 1);
}

/* Otherwise the user that starts it could have it make files anywhere. */
static void a_program_with_anothers_rights_takes_no_folder_from_the_environment(void **state)
{
    char program[512];
    char command[1024];

    (void)state;
    skip_without_mounts();
    if (getuid() != 0) {
        print_message("skipped: only root can give a program another's rights\n");
        skip();
    }
    mount_registry("size=256m");
    (void)snprintf(program, sizeof program, "%s/program", registry_folder());
    (void)snprintf(command, sizeof command, "cp /proc/%d/exe '%s'", (int)getpid(), program);
    assert_int_equal(system(command), 0);
    expect_first_folder(program, registry_folder());
    assert_int_equal(chown(program, NOBODY, NOBODY), 0);
    assert_int_equal(chmod(program, 04755), 0);
    expect_first_folder(program, "/run/user/65534/etwas");
    assert_int_equal(umount(registry_folder()), 0);
}

/* What is there already stays as it is. */
static void a_full_one_refuses_what_is_new_and_keeps_what_there_is(void **state)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_registry_host host;
    struct etwas_registry_host other;
    struct etwas_registry_entry *entry;
    struct etwas_held_file held = {.lock = -1};
    const struct etwas_held_request request = {
        .stem = "n.0000000000000001", .bytes = "1", .size = 1};

    (void)state;
    skip_without_mounts();
    mount_registry("size=64k");
    assert_int_equal(open_session(&host, u"full", 1), ERROR_SUCCESS);
    fill();
    entry = entry_of(u"full", 1);
    entry->number = 2;
    assert_int_equal(etwas_registry_host_publish(&host, entry), ERROR_DISK_FULL);
    assert_int_equal(etwas_registry_join(&process), ERROR_DISK_FULL);
    assert_int_equal(open_session(&other, u"more", 2), ERROR_DISK_FULL);
    assert_int_equal(etwas_held_acquire(&held, &request), ERROR_DISK_FULL);
    assert_int_equal(held.lock, -1);
    assert_int_equal(etwas_registry_find(u"full", &entry), ERROR_SUCCESS);
    assert_int_equal(entry->number, 1);
    free(entry);
    assert_int_equal(files_like(""), 4); /* and what fills it */
    etwas_registry_host_close(&host);
    assert_int_equal(files_like(""), 1);
    etwas_registry_forget();
    assert_int_equal(umount(registry_folder()), 0);
}

/* Sockets are reached by it, so there is nothing without it. */
static void without_proc_nothing_is_shared(void **state)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_registry_host host;

    (void)state;
    skip_without_mounts();
    assert_int_equal(mount("tmpfs", "/proc", "tmpfs", 0, "size=4k"), 0);
    assert_int_equal(etwas_registry_join(&process), ERROR_NOT_SUPPORTED);
    assert_int_equal(open_session(&host, u"blind", 1), ERROR_NOT_SUPPORTED);
    assert_int_equal(files_like(""), 0);
    assert_int_equal(umount("/proc"), 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(everything_in_it_is_the_users_alone),
        REGISTRY_TEST(one_that_others_may_enter_is_refused),
        REGISTRY_TEST(a_link_and_a_file_are_refused),
        REGISTRY_TEST(one_of_another_user_is_refused),
        REGISTRY_TEST(among_another_users_none_is_made),
        REGISTRY_TEST(a_path_longer_than_a_sockets_address_will_do),
        REGISTRY_TEST(one_that_is_removed_under_us_is_made_anew),
        REGISTRY_TEST(who_leaves_one_that_is_removed_makes_none),
        REGISTRY_TEST(threads_that_open_it_at_once_have_the_same_one),
        REGISTRY_TEST(one_that_cannot_be_written_to_is_refused),
        REGISTRY_TEST(a_program_with_anothers_rights_takes_no_folder_from_the_environment),
        REGISTRY_TEST(a_full_one_refuses_what_is_new_and_keeps_what_there_is),
        REGISTRY_TEST(without_proc_nothing_is_shared),
    };

    if (count == 2 && strcmp(arguments[1], "--first-folder") == 0) {
        print_first_folder();
    }
    why_no_mounts = enter_private_mounts();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
