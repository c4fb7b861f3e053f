/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The end of a process by exit or by returning from main (etwas_exit_wait in etwas.h).
 */
#ifndef ETWAS_CONTROL_AT_EXIT_H
#define ETWAS_CONTROL_AT_EXIT_H

/*
 * Called before the first session can start: it makes a program linked with libetwas.a include
 * at_exit.c.
 */
void etwas_at_exit_prepare(void);

#endif
