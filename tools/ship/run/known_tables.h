/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_KNOWN_TABLES_H
#define ETWAS_TOOLS_SHIP_RUN_KNOWN_TABLES_H

#include "ship/schema/ddl.h"

struct etwas_ship_target;

/*
 * `etwas ship --ddl`: writes the statements to standard output. If `target`, opened with
 * ETWAS_SHIP_TO_CREATE, is given, `major` and `known` are those of its first shard. If it is NULL,
 * they are those of `ddl`. Returns ETWAS_EXIT_DONE, ETWAS_EXIT_FAILED (the server did not answer;
 * reported on standard error) or ETWAS_EXIT_OUTPUT.
 */
int etwas_ship_ddl(struct etwas_ship_target *target, const struct etwas_ship_ddl *ddl);

#endif
