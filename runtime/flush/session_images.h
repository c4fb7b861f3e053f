/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What turns the addresses of stacks into names: the images of the process, as records of a session
 * that takes stacks.
 *
 * An image is a record of ETW's Image class and, where it has a build id, one of its debug
 * identifiers (docs/file-format.md). They are written by the session's flusher when it first looks
 * after stacks were asked for, and when something was loaded or unloaded since; before a snapshot
 * is taken, which may have lost them; and at the session's end.
 */
#ifndef ETWAS_FLUSH_SESSION_IMAGES_H
#define ETWAS_FLUSH_SESSION_IMAGES_H

#include "session/session.h"

/* A session begins: nobody has asked for stacks. */
void etwas_session_images_reset(struct etwas_session *session);

/* ---- with the role held, while its gates are open -------------------------------------------- */

/* What has been loaded or unloaded since the last time. */
void etwas_session_images_update(struct etwas_session *session);

/* All that are there, again: before a snapshot. */
void etwas_session_images_repeat(struct etwas_session *session);

/* All that are there at the session's end. */
void etwas_session_images_end(struct etwas_session *session);

#endif
