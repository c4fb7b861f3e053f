/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Holding one thread at a test point (platform/testpoint.h) while everybody else goes on. */
#ifndef ETWAS_SUPPORT_HOLD_H
#define ETWAS_SUPPORT_HOLD_H

#include <stdint.h>

#include "platform/testpoint.h"

/*
 * A thread that calls hold_me stops the next time it comes to `point`, once. The test waits for
 * that with hold_wait and lets it go on with hold_release. One thread at a time.
 */
void hold_me(enum etwas_testpoint point);
void hold_wait(void);
void hold_release(void);

/* Called at teardown: nobody is held any more, nor will be. */
void hold_release_all(void);

/* How often any thread came to the point since hold_me or hold_count_from_zero. */
uint64_t hold_passed(enum etwas_testpoint point);
void hold_count_from_zero(void);

#endif
