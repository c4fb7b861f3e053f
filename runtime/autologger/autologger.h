/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * AutoLogger sessions in the programs that they are meant for: which files exist, whether they are
 * trusted, and starting their sessions (etwas/autologger.h).
 */
#ifndef ETWAS_AUTOLOGGER_AUTOLOGGER_H
#define ETWAS_AUTOLOGGER_AUTOLOGGER_H

/*
 * Called before a provider is registered. Starts the sessions that are meant for this program, once
 * in a process. Other threads that register a provider meanwhile wait. If there are no such files
 * this only tries to open two folders. Sessions that cannot be started are reported in the system's
 * log.
 */
void etwas_autologgers_begin(void);

/*
 * Called in a fork's child, which has none of its parent's sessions: its next registration starts
 * its own.
 */
void etwas_autologgers_forget(void);

#endif
