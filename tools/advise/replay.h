/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADVISE_REPLAY_H
#define ETWAS_TOOLS_ADVISE_REPLAY_H

/*
 * Logging a trace's events once more, to a session of this process with the advised sizes.
 *
 * Each event is a message as long as its record was, at the time at which it came, or faster. Each
 * processor's are logged by a thread on a processor of its own; where this machine has fewer, a
 * thread has those of several. A message says which piece of the load it is, so what a snapshot
 * holds is told in the trace's own time, however late the machine was.
 */

#include "advise/advise.h"

void etwas_advise_run_replay(const struct etwas_advise_question *question,
                             const struct etwas_load *load, const struct etwas_advice *advice,
                             struct etwas_advise_replay *replay);

#endif
