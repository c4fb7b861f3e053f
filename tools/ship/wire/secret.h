/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_SECRET_H
#define ETWAS_TOOLS_SHIP_WIRE_SECRET_H

/*
 * User and password of a server, from a file that no other user may read:
 *
 *     # a comment
 *     user = etwas
 *     password = correct horse battery staple
 *
 * A value is the text between the blanks around it. The file is that of --credentials, or else
 * etwas-ship in the folder of a service's credentials ($CREDENTIALS_DIRECTORY of systemd) if it
 * exists. Otherwise no user and password are sent, and the server uses its user `default`, which
 * needs none.
 */

#include <stdbool.h>
#include <stddef.h>

enum {
    ETWAS_SHIP_SECRET_BYTES = 1024,           /* of a value, with its terminating 0 */
    ETWAS_SHIP_SECRET_FILE_BYTES = 16 * 1024, /* a longer file is refused */
};

struct etwas_ship_secret {
    bool is_there;
    char path[4096]; /* for messages */
    char user[ETWAS_SHIP_SECRET_BYTES];
    char password[ETWAS_SHIP_SECRET_BYTES];
};

/*
 * Reads the file. Returns false after reporting that it is unreadable, accessible to other users,
 * or invalid.
 */
bool etwas_ship_secret_read(const char *path, struct etwas_ship_secret *secret);

/*
 * Parses the text of the file. Returns NULL, or else what is wrong with it, without any of its
 * content.
 */
const char *etwas_ship_secret_parse(const char *text, size_t bytes,
                                    struct etwas_ship_secret *secret);

void etwas_ship_secret_forget(struct etwas_ship_secret *secret);

#endif
