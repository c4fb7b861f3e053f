/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/own_descriptor.h"

#include <ck_pr.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LEAST = 512, /* half of the usual limit of a process */
    FILES_OF_A_SESSION = 3,
};

/* The notes, by descriptor. Only the owner of a descriptor changes its note. */
static struct note {
    uint64_t device;
    uint64_t inode; /* 0: the descriptor is not protected */
} notes[ETWAS_OWN_DESCRIPTORS];

static struct note *descriptor_note_of(int descriptor)
{
    return descriptor >= 0 && descriptor < ETWAS_OWN_DESCRIPTORS ? &notes[descriptor] : NULL;
}

static void descriptor_take_note(int descriptor)
{
    struct note *note = descriptor_note_of(descriptor);
    struct stat status;

    if (note != NULL && fstat(descriptor, &status) == 0) {
        ck_pr_store_64(&note->device, status.st_dev);
        ck_pr_store_64(&note->inode, status.st_ino);
    }
}

int etwas_descriptor_protect(int descriptor)
{
    int high = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, LEAST) : -1;

    if (high >= 0) {
        (void)close(descriptor);
        descriptor = high;
    }
    descriptor_take_note(descriptor);
    return descriptor;
}

int etwas_descriptor_reopen(int descriptor)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return open(path, O_RDWR | O_CLOEXEC);
}

bool etwas_descriptors_leave_room(void)
{
    int opened[FILES_OF_A_SESSION];
    int count = 0;
    bool are_all;

    while (count < FILES_OF_A_SESSION && (opened[count] = eventfd(0, EFD_CLOEXEC)) >= 0) {
        count++;
    }
    are_all = count == FILES_OF_A_SESSION;
    while (count > 0) {
        (void)close(opened[--count]);
    }
    return are_all;
}

bool etwas_descriptor_replace(int descriptor, int other)
{
    bool is_replaced = dup3(other, descriptor, O_CLOEXEC) == descriptor;

    (void)close(other);
    if (is_replaced) {
        descriptor_take_note(descriptor);
    }
    return is_replaced;
}

bool etwas_descriptor_is_own(int descriptor)
{
    const struct note *note = descriptor_note_of(descriptor);
    uint64_t inode = note != NULL ? ck_pr_load_64(&note->inode) : 0;
    struct stat status;

    return descriptor >= 0 &&
           (inode == 0 || (fstat(descriptor, &status) == 0 && status.st_ino == inode &&
                           status.st_dev == ck_pr_load_64(&note->device)));
}

void etwas_descriptor_close(int descriptor)
{
    struct note *note = descriptor_note_of(descriptor);
    bool is_ours = etwas_descriptor_is_own(descriptor);

    if (note != NULL) {
        ck_pr_store_64(&note->inode, 0);
    }
    if (is_ours) {
        (void)close(descriptor);
    }
}
