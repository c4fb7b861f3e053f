/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The folder of a user's pool files: $ETWAS_RUNTIME_DIR, else $XDG_RUNTIME_DIR/etwas, else
 * /run/user/UID/etwas, else /dev/shm/etwas-UID: in memory, so that no disk holds up a writer. A
 * folder that is not the user's alone, or cannot be had, is passed over for the next; but
 * $ETWAS_RUNTIME_DIR is the only one if it is set.
 */
#ifndef ETWAS_SHARED_FOLDER_H
#define ETWAS_SHARED_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/rseq.h"

enum {
    ETWAS_FOLDER_BYTES = 4096,
    ETWAS_FOLDERS_OF_ALL = 2,
};

/* The path of the `index`th of these folders. False: there are fewer. */
bool etwas_shared_folder_name(uint32_t index, char path[ETWAS_FOLDER_BYTES]);

/*
 * Likewise for those that no environment names, without reading it: the program may be changing it.
 * The last is /dev/shm/etwas-UID.
 */
bool etwas_shared_folder_of_all(uint32_t index, char path[ETWAS_FOLDER_BYTES]);

/* Whether the environment names one folder and no other. */
bool etwas_shared_folder_is_alone(void);

/*
 * Opens the folder of that name for reading, if it is there and the user's alone, as below.
 * ERROR_PATH_NOT_FOUND; ERROR_ACCESS_DENIED; ERROR_NO_SYSTEM_RESOURCES; others of
 * etwas_file_open_error.
 */
uint32_t etwas_shared_folder_reach(const char *path, int *descriptor);

/*
 * Opens the folder `given`, or, where that is empty, the user's own one, which is made if it is
 * missing. It must be the user's, mode 0700, and no symbolic link. `path` receives its name, also
 * where it is refused. ERROR_PATH_NOT_FOUND; ERROR_ACCESS_DENIED, also where nothing can be written
 * to it; ERROR_NO_SYSTEM_RESOURCES (no more files may be open); others of etwas_file_open_error.
 */
uint32_t etwas_shared_folder_open(const char *given, char path[ETWAS_FOLDER_BYTES],
                                  int *descriptor);

/*
 * Folders that the environment of some processes alone names ($XDG_RUNTIME_DIR, elsewhere than
 * /run/user/UID). Each is listed by a file f.HASH, which has its path, in the folder `folders` of
 * /dev/shm/etwas-UID. All processes of the user read that folder, so they find these, too. Such a
 * file stays until its folder has gone.
 */

/*
 * Lists an open folder, unless all processes know it. Nothing is done where /dev/shm/etwas-UID
 * cannot be had.
 */
void etwas_listed_folders_add(int folder, const char *path);

/*
 * Opens the list, which is read by etwas_listed_folders_next and closed by closedir; NULL: there is
 * none. ERROR_NO_SYSTEM_RESOURCES: it cannot be opened.
 */
uint32_t etwas_listed_folders_open(DIR **list);

/*
 * Reads the next folder. False: there is no more, or (*code: ERROR_NO_SYSTEM_RESOURCES) it cannot
 * be read.
 */
bool etwas_listed_folders_next(DIR *list, char path[ETWAS_FOLDER_BYTES], uint32_t *code);

/*
 * The `index`th of the folders that this process knows: by its environment, of all users, listed.
 * False: there are fewer.
 */
bool etwas_listed_folders_name(uint32_t index, char path[ETWAS_FOLDER_BYTES]);

/* Removes the files of folders that have gone. Returns their number. */
uint32_t etwas_listed_folders_clear(void);

/*
 * Where the processes of a user store whether this machine's kernel aborts restartable sequences
 * (platform/rseq.h): the file `rseq` in the folder of their pool files, with the boot's id and the
 * answer. So one process tries it, once a boot.
 */

extern const struct etwas_rseq_trial_storage etwas_sequences_keeper;

#endif
