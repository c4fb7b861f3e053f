/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "registry/registry.h"

enum {
    SILENCE_S = 120,
    NOBODY = 65534,
};

int registry_setup(void **state)
{
    int failed = folder_in_memory(state) != 0 || folder_setup(state) != 0;

    etwas_registry_forget();
    etwas_testpoint_set(NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* a killed child may still be written to */
    return failed ? -1 : setenv("ETWAS_RUNTIME_DIR", folder_path("registry"), 1);
}

int registry_teardown(void **state)
{
    etwas_registry_forget();
    return folder_teardown(state);
}

bool clear_file(const char *name)
{
    int folder;

    assert_int_equal(etwas_registry_open(&folder), ERROR_SUCCESS);
    return etwas_held_clear(folder, name);
}

const char *registry_folder(void)
{
    return getenv("ETWAS_RUNTIME_DIR");
}

uint32_t files_like(const char *beginning)
{
    DIR *folder = opendir(registry_folder());
    const struct dirent *found;
    uint32_t count = 0;

    while (folder != NULL && (found = readdir(folder)) != NULL) {
        count +=
            found->d_name[0] != '.' && strncmp(found->d_name, beginning, strlen(beginning)) == 0;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

/* ---- other processes ------------------------------------------------------------------------- */

struct child child_start(int (*body)(struct child *self, void *context), void *context)
{
    struct child child;
    int up[2];
    int down[2];

    assert_int_equal(pipe2(up, O_CLOEXEC), 0);
    assert_int_equal(pipe2(down, O_CLOEXEC), 0);
    (void)fflush(NULL);
    child = (struct child){.process = fork(), .from = up[0], .to = down[1]};
    assert_true(child.process >= 0);
    if (child.process == 0) {
        struct child self = {.process = getpid(), .from = down[0], .to = up[1]};

        (void)alarm(SILENCE_S);
        (void)close(up[0]);
        (void)close(down[1]);
        _exit(body(&self, context));
    }
    (void)close(up[1]);
    (void)close(down[0]);
    return child;
}

void say(const struct child *other, char byte)
{
    (void)(write(other->to, &byte, 1) == 1); /* fails if the child has gone */
}

int receive_byte(const struct child *other)
{
    unsigned char byte;

    return read(other->from, &byte, 1) == 1 ? byte : -1;
}

int child_end(struct child *child)
{
    int status = 0;

    say(child, 'e'); /* its siblings have the pipe, too: that it is closed says nothing */
    (void)close(child->to);
    assert_int_equal(waitpid(child->process, &status, 0), child->process);
    (void)close(child->from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void child_kill(struct child *child)
{
    assert_int_equal(kill(child->process, SIGKILL), 0);
    assert_int_equal(child_end(child), -SIGKILL);
}

void child_stop(const struct child *child)
{
    int status = 0;

    assert_int_equal(kill(child->process, SIGSTOP), 0);
    assert_int_equal(waitpid(child->process, &status, WUNTRACED), child->process);
    assert_true(WIFSTOPPED(status));
}

static bool open_to_all(int folder, const char *name, void *context)
{
    (void)context;
    return name[0] == '.' || fchmodat(folder, name, 0666, 0) == 0;
}

bool let_others_in(void)
{
    int folder;

    if (geteuid() != 0) {
        print_message("only root's processes can become another user's\n");
        return false;
    }
    assert_int_equal(etwas_registry_open(&folder), ERROR_SUCCESS);
    assert_int_equal(fchmod(folder, 0777), 0);
    assert_int_equal(etwas_registry_each(open_to_all, NULL), ERROR_SUCCESS);
    return true;
}

/* Dumpable: else what /proc says of it is root's alone. */
void become_another_user(void)
{
    if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0 ||
        prctl(PR_SET_DUMPABLE, 1) != 0) {
        _exit(99);
    }
}

uint32_t count_descriptors(void)
{
    uint32_t count = 0;

    for (int descriptor = 0; descriptor < 2048; descriptor++) {
        count += fcntl(descriptor, F_GETFD) >= 0;
    }
    return count;
}

/* ---- sessions -------------------------------------------------------------------------------- */

etwas_guid guid_of(uint32_t number)
{
    return (etwas_guid){.Data1 = number, .Data2 = 0xE7, .Data4 = {1, 2, 3, 4, 5, 6, 7, 8}};
}

struct etwas_registry_entry *entry_of(const etwas_wchar *name, uint32_t number)
{
    static struct etwas_registry_entry entry;
    size_t units = 0;

    entry = (struct etwas_registry_entry){
        .session = guid_of(number), .number = 1, .state = ETWAS_REGISTRY_OPEN, .clock = 1};
    for (; name[units] != 0; units++) {
        entry.name[units] = name[units];
    }
    return &entry;
}

uint32_t open_session(struct etwas_registry_host *host, const etwas_wchar *name, uint32_t number)
{
    *host = ETWAS_REGISTRY_NO_HOST;
    return etwas_registry_host_open(host, entry_of(name, number));
}
