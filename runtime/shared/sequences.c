/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shared/folder.h"

#include <etwas/winerror.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shared/mapping.h"

#define FILE_NAME "rseq"

struct stored {
    uint8_t boot_id[16];
    uint8_t state; /* of etwas_rseq_state */
};
_Static_assert(sizeof(struct stored) == 17, "without gaps");

/* Reads the id of this boot. Returns false if there is none, so no answer can be kept. */
static bool sequences_find_boot(uint8_t id[16])
{
    static const uint8_t none[16];

    etwas_shared_boot_id(id);
    return memcmp(id, none, sizeof none) != 0;
}

/* Returns -1 if there is none. */
static int sequences_open_file(int flags)
{
    char path[ETWAS_FOLDER_BYTES];
    int folder;
    int file;

    if (etwas_shared_folder_open("", path, &folder) != ERROR_SUCCESS) {
        return -1;
    }
    file = openat(folder, FILE_NAME, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    (void)close(folder);
    return file;
}

/* Returns false if the answer is of another boot, or half written. */
static bool sequences_read_kept(enum etwas_rseq_state *state)
{
    int file = sequences_open_file(O_RDONLY);
    uint8_t boot_id[16];
    struct stored stored;
    bool is_whole;

    if (file < 0) {
        return false;
    }
    is_whole = read(file, &stored, sizeof stored) == sizeof stored;
    (void)close(file);
    if (!is_whole || !sequences_find_boot(boot_id) ||
        memcmp(stored.boot_id, boot_id, sizeof boot_id) != 0 ||
        (stored.state != ETWAS_RSEQ_USED && stored.state != ETWAS_RSEQ_NOT_ABORTED)) {
        return false;
    }
    *state = (enum etwas_rseq_state)stored.state;
    return true;
}

/* If it cannot be written the next process tries again. */
static void sequences_write_kept(enum etwas_rseq_state state)
{
    struct stored stored = {.state = (uint8_t)state};
    int file = sequences_find_boot(stored.boot_id) ? sequences_open_file(O_WRONLY | O_CREAT) : -1;

    if (file >= 0) {
        (void)!pwrite(file, &stored, sizeof stored, 0);
        (void)close(file);
    }
}

const struct etwas_rseq_trial_storage etwas_sequences_keeper = {sequences_read_kept,
                                                                sequences_write_kept};
