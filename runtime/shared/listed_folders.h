/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Folders that the environment of some processes alone names ($XDG_RUNTIME_DIR, elsewhere than
 * /run/user/UID). Each is listed by a file f.HASH, which has its path, in the folder `folders` of
 * /dev/shm/etwas-UID. All processes of the user read that folder, so they find these, too. Such a
 * file stays until its folder has gone.
 */
#ifndef ETWAS_SHARED_LISTED_FOLDERS_H
#define ETWAS_SHARED_LISTED_FOLDERS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/folder.h"

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

#endif
