/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processes of one user in different folders: that of before the login, /dev/shm/etwas-UID, and
 * that behind it. Both are of mounts that the test alone sees.
 */
#include <ck_pr.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failures/private_mounts.h"
#include "platform/testpoint.h"
#include "registry/connection.h"
#include "registry/fixture.h"
#include "registry/joined_process.h"
#include "registry/notification.h"
#include "registry/registry.h"
#include "registry/removal.h"
#include "registry/sessions.h"
#include "shared/folder.h"

enum {
    ROUNDS = 300,
    TAKERS = 4,
};

static const char *why_no_mounts;
static struct child child;

/* ---- folders --------------------------------------------------------------------------------- */

static bool mount_both(void)
{
    return mount("tmpfs", "/run", "tmpfs", 0, "mode=755") == 0 &&
           mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") == 0;
}

static bool unmount_both(void)
{
    return umount2("/dev/shm", MNT_DETACH) == 0 && umount2("/run", MNT_DETACH) == 0;
}

static int setup(void **state)
{
    if (why_no_mounts != NULL) {
        return 0;
    }
    etwas_testpoint_set(NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    etwas_registry_forget();
    return folder_setup(state) != 0 || unsetenv("ETWAS_RUNTIME_DIR") != 0 ||
                   unsetenv("XDG_RUNTIME_DIR") != 0 || !mount_both()
               ? -1
               : 0;
}

static int teardown(void **state)
{
    if (why_no_mounts != NULL) {
        return 0;
    }
    etwas_registry_forget();
    return unmount_both() ? folder_teardown(state) : -1;
}

#define FOLDERS_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void skip_without_mounts(void)
{
    if (why_no_mounts != NULL) {
        print_message("skipped: %s\n", why_no_mounts);
        skip();
    }
}

/* A process that opens its folder from here on has another one. */
static void log_in(void)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/run/user/%u", (unsigned)geteuid());
    assert_true(mkdir("/run/user", 0755) == 0 && mkdir(path, 0700) == 0);
}

/* This process's folder is the one of before the login from here on. */
static void begin_early(void)
{
    int folder;

    skip_without_mounts();
    assert_int_equal(etwas_registry_open(&folder), ERROR_SUCCESS);
    log_in();
}

/* ---- a process behind the login, which has a session and providers --------------------------- */

static int be_there(struct child *self, void *context)
{
    struct etwas_registry_process process = ETWAS_REGISTRY_NO_PROCESS;
    struct etwas_notification notification = {.op = ETWAS_NOTIFY_CHANGED};
    struct etwas_registry_host host;

    (void)context;
    etwas_registry_forget();
    if (etwas_registry_join(&process) != ERROR_SUCCESS ||
        open_session(&host, u"late", 1) != ERROR_SUCCESS) {
        return 1;
    }
    say(self, 'o');
    (void)receive_byte(self);
    if (etwas_registry_receive(&process, &notification) != ERROR_SUCCESS ||
        notification.number != 7) {
        return 2;
    }
    etwas_registry_host_close(&host);
    etwas_registry_leave(&process);
    return 0;
}

static bool count_list(const struct etwas_registry_guid_list *list, void *count)
{
    *(uint32_t *)count += list->count == 0;
    return true;
}

static void processes_of_different_folders_find_tell_and_reach_each_other(void **state)
{
    const struct etwas_notification notification = {.op = ETWAS_NOTIFY_CHANGED, .number = 7};
    struct etwas_registry_entry *entry;
    char path[ETWAS_FOLDER_BYTES];
    etwas_guid *sessions;
    struct etwas_peer peer;
    uint32_t before;
    uint32_t count = 0;
    int connection;

    (void)state;
    begin_early();
    assert_int_equal(etwas_registry_find(u"late", &entry), ERROR_NOT_FOUND);
    child = child_start(be_there, NULL);
    assert_int_equal(receive_byte(&child), 'o');
    before = count_descriptors();
    assert_int_equal(etwas_registry_each_process(count_list, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(etwas_registry_list(&sessions, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(etwas_registry_folder_of(sessions, path), ERROR_SUCCESS);
    assert_non_null(strstr(path, "/run/user/"));
    free(sessions);
    assert_int_equal(etwas_registry_find(u"LATE", &entry), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_connect(entry, 0, &connection, &peer), ERROR_SUCCESS);
    assert_int_equal(peer.process_id, child.process);
    assert_int_equal(close(connection), 0);
    free(entry);
    assert_int_equal(etwas_registry_notify_all(&notification, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(etwas_registry_clear_stale(), 0);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(child_end(&child), 0);
    assert_int_equal(etwas_registry_list(&sessions, &count), ERROR_SUCCESS);
    assert_int_equal(count, 0);
    free(sessions);
}

static bool find_any(int folder, const char *name, void *found)
{
    (void)folder;
    *(bool *)found = *(bool *)found || name[0] != '.';
    return true;
}

static void what_a_dead_process_left_in_another_folder_is_removed(void **state)
{
    bool is_left = false;

    (void)state;
    begin_early();
    child = child_start(be_there, NULL);
    assert_int_equal(receive_byte(&child), 'o');
    child_kill(&child);
    while (etwas_registry_clear_stale() != 0) {
    }
    assert_int_equal(etwas_registry_each(find_any, &is_left), ERROR_SUCCESS);
    assert_false(is_left);
}

/* An answer that is empty would be wrong. */
static void a_folder_that_cannot_be_opened_for_want_of_descriptors_is_said(void **state)
{
    struct etwas_registry_walk walk;
    struct rlimit before;
    struct rlimit few;
    int spare;

    (void)state;
    begin_early();
    child = child_start(be_there, NULL);
    assert_int_equal(receive_byte(&child), 'o');
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    spare = dup(STDOUT_FILENO);
    assert_int_equal(close(spare), 0);
    few = (struct rlimit){.rlim_cur = (rlim_t)spare, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(etwas_registry_walk(&walk), ERROR_SUCCESS);
    assert_false(etwas_registry_walk_on(&walk));
    assert_int_equal(walk.code, ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(etwas_registry_walk_to("p.1.1.1", &walk), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(etwas_registry_walk_to("p.1.1.1", &walk), ERROR_NOT_FOUND);
    child_kill(&child);
}

/* ---- folders that the environment of some alone names ---------------------------------------- */

/* The name of the only note; empty: there is none. */
static void find_note(char path[PATH_MAX])
{
    char folder[64];
    const struct dirent *found;
    uint32_t count = 0;
    DIR *notes;

    (void)snprintf(folder, sizeof folder, "/dev/shm/etwas-%u/folders", (unsigned)geteuid());
    notes = opendir(folder);
    assert_non_null(notes);
    path[0] = 0;
    while ((found = readdir(notes)) != NULL) {
        if (found->d_name[0] != '.') {
            (void)snprintf(path, PATH_MAX, "%s/%s", folder, found->d_name);
            count++;
        }
    }
    assert_true(count <= 1);
    assert_int_equal(closedir(notes), 0);
}

static void open_elsewhere(void)
{
    int folder;

    assert_true(mkdir("/run/elsewhere", 0700) == 0 || errno == EEXIST);
    assert_int_equal(setenv("XDG_RUNTIME_DIR", "/run/elsewhere", 1), 0);
    etwas_registry_forget();
    assert_int_equal(etwas_registry_open(&folder), ERROR_SUCCESS);
    assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
}

static void a_folder_is_noted_while_it_is_there_whatever_stops_who_notes_or_clears(void **state)
{
    char note[PATH_MAX];
    char found[PATH_MAX];
    char taken[PATH_MAX];

    (void)state;
    skip_without_mounts();
    open_elsewhere();
    find_note(note);
    assert_int_equal(truncate(note, 5), 0); /* as if it had not been finished */
    open_elsewhere();
    assert_int_equal(etwas_listed_folders_clear(), 0);
    find_note(found);
    assert_string_equal(found, note);
    (void)strcpy(taken, note);
    strrchr(taken, '/')[1] = 't'; /* as if the process that clears had been killed */
    assert_int_equal(rename(note, taken), 0);
    assert_int_equal(etwas_listed_folders_clear(), 1);
    find_note(found);
    assert_string_equal(found, note);
    assert_true(etwas_listed_folders_name(2, found));
    assert_string_equal(found, "/run/elsewhere/etwas");
    assert_false(etwas_listed_folders_name(3, found));
    etwas_registry_forget();
    assert_int_equal(rmdir("/run/elsewhere/etwas"), 0);
    assert_int_equal(etwas_listed_folders_clear(), 1);
    find_note(found);
    assert_string_equal(found, "");
}

/* ---- names ----------------------------------------------------------------------------------- */

static void let_it_take(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_REGISTRY_FOUND_FREE) {
        etwas_testpoint_set(NULL);
        say(&child, 't');
        assert_int_equal(receive_byte(&child), 'o');
    }
}

static int take_when_asked(struct child *self, void *context)
{
    (void)receive_byte(self);
    return be_there(self, context);
}

/*
 * Between the search of all folders and the link in the own one another process takes it, in a
 * folder that was not there then.
 */
static void a_name_that_is_taken_in_another_folder_meanwhile_is_not_taken_twice(void **state)
{
    const struct etwas_notification notification = {.op = ETWAS_NOTIFY_CHANGED, .number = 7};
    struct etwas_registry_host host;

    (void)state;
    begin_early();
    child = child_start(take_when_asked, NULL);
    etwas_testpoint_set(let_it_take);
    assert_int_equal(open_session(&host, u"Late", 2), ERROR_ALREADY_EXISTS);
    assert_int_equal(open_session(&host, u"other", 1), ERROR_ALREADY_EXISTS); /* its GUID */
    assert_int_equal(etwas_registry_notify_all(&notification, NULL), ERROR_SUCCESS);
    assert_int_equal(child_end(&child), 0);
    assert_int_equal(open_session(&host, u"Late", 1), ERROR_SUCCESS);
    etwas_registry_host_close(&host);
}

/* What processes take in turn, each of them in one of two folders. */
struct contest {
    uint32_t holders;
    uint32_t taken;
    uint32_t twice;
};

static int contend(struct child *self, void *context)
{
    struct contest *contest = context;
    struct etwas_registry_host host;
    int folder;

    etwas_registry_forget();
    if (etwas_registry_open(&folder) != ERROR_SUCCESS) {
        return 1;
    }
    say(self, 'o');
    (void)receive_byte(self);
    for (int round = 0; round < ROUNDS; round++) {
        if (open_session(&host, u"contended", 1) == ERROR_SUCCESS) {
            if (ck_pr_faa_32(&contest->holders, 1) != 0) {
                ck_pr_inc_32(&contest->twice);
            }
            ck_pr_inc_32(&contest->taken);
            ck_pr_dec_32(&contest->holders);
            etwas_registry_host_close(&host);
        }
    }
    return 0;
}

static void processes_of_two_folders_never_have_one_name_at_once(void **state)
{
    struct contest *contest =
        mmap(NULL, sizeof *contest, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct child takers[TAKERS];

    (void)state;
    skip_without_mounts();
    assert_ptr_not_equal(contest, MAP_FAILED);
    for (int index = 0; index < TAKERS; index++) {
        if (index == TAKERS / 2) {
            log_in();
        }
        takers[index] = child_start(contend, contest);
        assert_int_equal(receive_byte(&takers[index]), 'o');
    }
    for (int index = 0; index < TAKERS; index++) {
        say(&takers[index], 'g');
    }
    for (int index = 0; index < TAKERS; index++) {
        assert_int_equal(child_end(&takers[index]), 0);
    }
    assert_int_equal(contest->twice, 0);
    assert_true(contest->taken > 0);
    assert_int_equal(munmap(contest, sizeof *contest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDERS_TEST(processes_of_different_folders_find_tell_and_reach_each_other),
        FOLDERS_TEST(what_a_dead_process_left_in_another_folder_is_removed),
        FOLDERS_TEST(a_folder_that_cannot_be_opened_for_want_of_descriptors_is_said),
        FOLDERS_TEST(a_folder_is_noted_while_it_is_there_whatever_stops_who_notes_or_clears),
        FOLDERS_TEST(a_name_that_is_taken_in_another_folder_meanwhile_is_not_taken_twice),
        FOLDERS_TEST(processes_of_two_folders_never_have_one_name_at_once),
    };

    why_no_mounts = enter_private_mounts();
    if (why_no_mounts == NULL && (!mount_both() || !unmount_both())) {
        why_no_mounts = "nothing can be mounted on /run and /dev/shm";
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
