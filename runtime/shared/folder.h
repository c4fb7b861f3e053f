/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The folder of a user's pool files: $ETWAS_RUNTIME_DIR, otherwise $XDG_RUNTIME_DIR/etwas,
 * otherwise /run/user/UID/etwas, otherwise /dev/shm/etwas-UID. It is in memory, so that no disk
 * delays a writer. A folder that is not private to the user, or cannot be had, is skipped for the
 * next one; but $ETWAS_RUNTIME_DIR is the only one if it is set.
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

/* Returns the path of the `index`th of these folders. Returns false if there are fewer. */
bool etwas_shared_folder_name(uint32_t index, char path[ETWAS_FOLDER_BYTES]);

/*
 * Does the same for the folders that do not depend on the environment, without reading it: the
 * program may be changing it. The last one is /dev/shm/etwas-UID.
 */
bool etwas_shared_folder_of_all(uint32_t index, char path[ETWAS_FOLDER_BYTES]);

/* Whether the environment names one folder and no other. */
bool etwas_shared_folder_is_alone(void);

/*
 * Opens the folder with that name for reading, if it exists and is private to the user, as below.
 * ERROR_PATH_NOT_FOUND; ERROR_ACCESS_DENIED; ERROR_NO_SYSTEM_RESOURCES; others of
 * etwas_file_open_error.
 */
uint32_t etwas_shared_folder_reach(const char *path, int *descriptor);

/*
 * Opens the folder `given`, or if that is empty the user's own one, which is created if it is
 * missing. It must be the user's, mode 0700, and no symbolic link. `path` receives its name, also
 * if it is refused. ERROR_PATH_NOT_FOUND; ERROR_ACCESS_DENIED, also if the folder cannot be written
 * to; ERROR_NO_SYSTEM_RESOURCES (no more files may be open); others of etwas_file_open_error.
 */
uint32_t etwas_shared_folder_open(const char *given, char path[ETWAS_FOLDER_BYTES],
                                  int *descriptor);

/*
 * Folders that only the environment of some processes names ($XDG_RUNTIME_DIR, elsewhere than
 * /run/user/UID). Each is listed by a file f.HASH, which contains its path, in the folder `folders`
 * of /dev/shm/etwas-UID. All processes of the user read that folder, so they find these folders,
 * too. Such a file stays until its folder has gone.
 */

/*
 * Lists an open folder, unless all processes know it. Does nothing if /dev/shm/etwas-UID cannot be
 * had.
 */
void etwas_listed_folders_add(int folder, const char *path);

/*
 * Opens the list, which etwas_listed_folders_next reads and closedir closes; NULL: there is none.
 * ERROR_NO_SYSTEM_RESOURCES: it cannot be opened.
 */
uint32_t etwas_listed_folders_open(DIR **list);

/*
 * Reads the next folder. Returns false if there are no more, or if it cannot be read (*code:
 * ERROR_NO_SYSTEM_RESOURCES).
 */
bool etwas_listed_folders_next(DIR *list, char path[ETWAS_FOLDER_BYTES], uint32_t *code);

/*
 * Returns the `index`th of the folders that this process knows: by its environment, those of all
 * users, and listed ones. Returns false if there are fewer.
 */
bool etwas_listed_folders_name(uint32_t index, char path[ETWAS_FOLDER_BYTES]);

/* Removes the files of folders that no longer exist. Returns their number. */
uint32_t etwas_listed_folders_clear(void);

/*
 * The file where the processes of a user store whether this machine's kernel aborts restartable
 * sequences (platform/rseq.h). It is `rseq` in the folder of their pool files, with the boot's id
 * and the answer. So only one process in each boot runs the trial.
 */

extern const struct etwas_rseq_trial_storage etwas_sequences_keeper;

#endif
