/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_BUILT_H
#define ETWAS_TOOLS_CLI_BUILT_H

/*
 * What the command was built with. What needs something else says itself what to install.
 */

/* `etwas --version`: the version, and a line for each library that it may be built with. Returns what it exits with. */
int etwas_show_version(void);

/*
 * Behind "it was built without NAME": the second sentence. C concatenates it.
 */
#define ETWAS_BUILT_CURE(package) "On Debian install " package " and build it again"

#endif
