/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a plugin offers its host (coexist_test.c); it is built against several libraries. */
#ifndef ETWAS_TESTS_BUILD_PLUGIN_H
#define ETWAS_TESTS_BUILD_PLUGIN_H

#include <etwas/etwas.h>
#include <etwas/evntprov.h>

struct plugin {
    /* EventRegister, EventEnabled and EventWrite with one descriptor. */
    uint32_t (*register_provider)(const GUID *provider, REGHANDLE *handle);
    uint32_t (*unregister_provider)(REGHANDLE handle);
    uint32_t (*write)(REGHANDLE handle);
    uint32_t (*start)(const char *session, const char *path, etwas_trace_handle *handle);
    uint32_t (*stop_by_name)(const char *session);
};

/* The one symbol of a plugin. */
#define PLUGIN_SYMBOL "plugin_of_a_test"
extern __attribute__((visibility("default"))) const struct plugin plugin_of_a_test;

#endif
