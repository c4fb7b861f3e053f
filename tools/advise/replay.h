/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADVISE_REPLAY_H
#define ETWAS_TOOLS_ADVISE_REPLAY_H

/*
 * Logs a trace's events again, to a session of this process with the advised sizes.
 *
 * Each event becomes a message of its record's length, logged at its original time, or faster. A
 * thread per processor of the trace logs that processor's events; with fewer processors here, a
 * thread has those of several. A message contains the number of its piece, so what a snapshot holds
 * is measured in the trace's own time, even if this machine was late.
 */

#include "advise/advise.h"

void etwas_advise_run_replay(const struct etwas_advise_question *question,
                             const struct etwas_load *load, const struct etwas_advice *advice,
                             struct etwas_advise_replay *replay);

#endif
