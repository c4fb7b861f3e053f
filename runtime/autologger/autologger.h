/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * AutoLogger sessions in the programs that they are for: which files there are, whom they are believed from, and what is
 * started by them (etwas/autologger.h).
 */
#ifndef ETWAS_AUTOLOGGER_AUTOLOGGER_H
#define ETWAS_AUTOLOGGER_AUTOLOGGER_H

/*
 * Before a provider is registered: starts what is for this program, once in a process. Another thread that registers one
 * waits for that. Without any such file it is an attempt to open two folders. What cannot be started is said in the system's log.
 */
void etwas_autologgers_begin(void);

/* In a fork's child: it has none of its parent's sessions, and its next registration starts its own. */
void etwas_autologgers_forget(void);

#endif
