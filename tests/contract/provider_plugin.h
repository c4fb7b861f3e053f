/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the plugin of dlclose_test.c shows. */
#ifndef ETWAS_TESTS_CONTRACT_PROVIDER_PLUGIN_H
#define ETWAS_TESTS_CONTRACT_PROVIDER_PLUGIN_H

#include <etwas/etwas.h>
#include <stdint.h>

#define PROVIDER_PLUGIN_SYMBOL "contract_provider_plugin"

struct provider_plugin {
    int (*begin)(void);
    int (*write_events)(uint32_t count); /* how many were wanted, and are written */
    void (*end)(void);
    GUID (*id)(void);
};

#endif
