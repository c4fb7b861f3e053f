/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_WHERE_VALUES_H
#define ETWAS_TOOLS_WHERE_VALUES_H

#include "subject.h"

/* What --where compares of a subject, as it was read last. */
struct etwas_where_values etwas_where_values_of(struct etwas_subject *subject);

#endif
