/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Folders that the environment of some processes alone names ($XDG_RUNTIME_DIR, elsewhere than /run/user/UID). Each is noted by a
 * file f.HASH, with its path, in the folder `folders` of /dev/shm/etwas-UID, which all processes of the user look into; so they
 * look into these, too. A note stays until its folder is gone.
 */
#ifndef ETWAS_REGISTRY_LISTED_FOLDERS_H
#define ETWAS_REGISTRY_LISTED_FOLDERS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/folder.h"

/* Notes an open folder, unless all processes know it. Nothing is done where /dev/shm/etwas-UID cannot be had. */
void etwas_listed_folders_add(int folder, const char *path);

/* *notes: to be walked over, and closed by closedir; NULL: there are none. ERROR_NO_SYSTEM_RESOURCES: it cannot be opened. */
uint32_t etwas_listed_folders_open(DIR **list);

/* The next one. False: there is no more, or (*code: ERROR_NO_SYSTEM_RESOURCES) it cannot be read. */
bool etwas_listed_folders_next(DIR *list, char path[ETWAS_FOLDER_BYTES], uint32_t *code);

/* The `index`th of the folders that this process knows: by its environment, of all, noted. False: there are not so many. */
bool etwas_listed_folders_name(uint32_t index, char path[ETWAS_FOLDER_BYTES]);

/* Removes the notes of folders that are gone. Returns how many. */
uint32_t etwas_listed_folders_clear(void);

#endif
