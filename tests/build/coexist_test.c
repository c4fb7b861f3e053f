/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A host linked with libetwas.so that loads plugins with an etwas of their own: libetwas-plain.so,
 * or libetwas.a with its names visible or hidden.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"

static const GUID provider_guid = {0x7d4c1b2e, 0x55aa, 0x4f3d, {1, 2, 3, 4, 5, 6, 7, 8}};
static char path[] = "/tmp/etwas-coexist-XXXXXX";
static char plugin_path[] = "/tmp/etwas-coexist-XXXXXX";

static int set_up(void **state)
{
    int file = mkstemp(path);
    int plugin_file = mkstemp(plugin_path);

    (void)state;
    return file >= 0 && plugin_file >= 0 && close(file) == 0 && close(plugin_file) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path) == 0 && unlink(plugin_path) == 0 ? 0 : -1;
}

static const struct plugin *load(const char *name, int flags)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | flags);
    const struct plugin *plugin;

    if (library == NULL) {
        fail_msg("%s", dlerror());
    }
    plugin = dlsym(library, PLUGIN_SYMBOL);
    assert_non_null(plugin);
    return plugin;
}

static etwas_trace_handle start_hosts_session(void)
{
    etwas_trace_handle session;

    assert_int_equal(etwas_start("host", path, NULL, &session), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4,
                                    0, 0, 0, NULL),
                     ERROR_SUCCESS);
    return session;
}

/* Events beside those of the header. */
static uint64_t stop_hosts_session(etwas_trace_handle session)
{
    etwas_session_counts counts;

    assert_int_equal(etwas_stop(session, &counts), ERROR_SUCCESS);
    assert_int_equal(counts.lost, 0);
    return counts.recorded;
}

/* The plugin's provider logs into the host's session, and the plugin sees that session. */
static void serves_the_same(const char *name)
{
    const struct plugin *plugin = load(name, 0);
    etwas_trace_handle session = start_hosts_session();
    etwas_trace_handle second;
    REGHANDLE provider;
    uint64_t recorded;

    assert_int_equal(plugin->register_provider(&provider_guid, &provider), ERROR_SUCCESS);
    assert_int_equal(plugin->write(provider), ERROR_SUCCESS);
    assert_int_equal(plugin->start("host", plugin_path, &second), ERROR_ALREADY_EXISTS);
    recorded = stop_hosts_session(session);
    assert_int_equal(recorded, 1);
    assert_int_equal(plugin->write(provider), ERROR_NOT_FOUND);
    assert_int_equal(plugin->unregister_provider(provider), ERROR_SUCCESS);
}

static void a_plugin_with_the_plain_library_has_the_hosts_providers_and_sessions(void **state)
{
    (void)state;
    serves_the_same(ETWAS_PLUGIN_PLAIN);
}

static void a_plugin_with_the_static_library_has_them_too_while_its_names_are_visible(void **state)
{
    (void)state;
    serves_the_same(ETWAS_PLUGIN_STATIC);
}

/* dlsym gives an object pointer; POSIX lets its bytes be a function pointer's. */
static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    assert_non_null(symbol);
    memcpy(function, &symbol, sizeof symbol);
}

/*
 * Nothing was called before: a copy that is asked for another one's handle does not become the one
 * that serves.
 */
static void a_second_copy_that_is_asked_for_a_handle_leaves_the_process_to_the_first(void **state)
{
    void *library = dlopen(ETWAS_PLAIN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const etwas_trace_handle never_given = 0x101;
    __typeof__(&etwas_flush) flush;
    __typeof__(&EnableTraceEx2) enable;
    __typeof__(&EventUnregister) unregister_provider;

    (void)state;
    assert_non_null(library);
    find(library, "etwas_flush", &flush);
    find(library, "etwas_EnableTraceEx2", &enable);
    find(library, "etwas_EventUnregister", &unregister_provider);
    assert_int_equal(flush(never_given), ERROR_INVALID_HANDLE);
    assert_int_not_equal(
        enable(never_given, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0, NULL),
        ERROR_SUCCESS);
    assert_int_equal(unregister_provider(never_given), ERROR_INVALID_HANDLE);
    assert_int_equal(stop_hosts_session(start_hosts_session()), 0);
}

/* No provider that nobody enables, no session that nobody finds, no consumer of it. */
static void a_second_shared_copy_that_is_called_by_itself_refuses(void **state)
{
    void *library = dlopen(ETWAS_PLAIN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    __typeof__(&EventRegister) register_provider;
    __typeof__(&OpenTraceA) open_trace;
    __typeof__(&GetLastError) last_error;
    etwas_trace_handle session = start_hosts_session();
    EVENT_TRACE_LOGFILEA consumer = {.LoggerName = "host",
                                     .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME};
    REGHANDLE provider;

    (void)state;
    assert_non_null(library);
    find(library, "etwas_EventRegister", &register_provider);
    find(library, "etwas_OpenTraceA", &open_trace);
    find(library, "etwas_GetLastError", &last_error);
    assert_int_equal(open_trace(&consumer), INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(last_error(), ERROR_ALREADY_INITIALIZED);
    assert_int_equal(register_provider(&provider_guid, NULL, NULL, &provider),
                     ERROR_ALREADY_INITIALIZED);
    assert_int_equal(provider, 0);
    assert_int_equal(stop_hosts_session(session), 0);
}

#ifdef ETWAS_TEST_DEEPBIND

static void a_plugin_that_is_bound_to_a_second_shared_copy_is_refused(void **state)
{
    const struct plugin *plugin = load(ETWAS_PLUGIN_DEEP, RTLD_DEEPBIND);
    etwas_trace_handle session = start_hosts_session();
    etwas_trace_handle second;
    REGHANDLE provider;

    (void)state;
    assert_int_equal(plugin->register_provider(&provider_guid, &provider),
                     ERROR_ALREADY_INITIALIZED);
    assert_int_equal(plugin->start("plugin", plugin_path, &second), ERROR_ALREADY_INITIALIZED);
    assert_int_equal(plugin->stop_by_name("host"), ERROR_ALREADY_INITIALIZED);
    assert_int_equal(stop_hosts_session(session), 0);
}

#endif

/*
 * The first test that loads it. A plugin that links the static library need not know of nodelete.
 * Without it the kernel would end threads that have logged: it looks at the last sequence that they
 * ran.
 */
static void a_plugin_that_hides_the_static_library_stays_when_it_is_closed(void **state)
{
    void *library = dlopen(ETWAS_PLUGIN_HIDDEN, RTLD_NOW | RTLD_LOCAL);

    (void)state;
    assert_non_null(library);
    assert_int_equal(dlclose(library), 0);
    library = dlopen(ETWAS_PLUGIN_HIDDEN, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    assert_int_equal(dlclose(library), 0);
}

static void a_plugin_that_hides_the_static_library_has_an_etwas_of_its_own(void **state)
{
    const struct plugin *plugin = load(ETWAS_PLUGIN_HIDDEN, 0);
    etwas_trace_handle session = start_hosts_session();
    etwas_trace_handle own;
    REGHANDLE provider;

    (void)state;
    assert_int_equal(plugin->register_provider(&provider_guid, &provider), ERROR_SUCCESS);
    assert_int_equal(plugin->write(provider), ERROR_NOT_FOUND);
    assert_int_equal(plugin->stop_by_name("host"), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(plugin->start("host", plugin_path, &own), ERROR_SUCCESS);
    assert_int_equal(plugin->stop_by_name("host"), ERROR_SUCCESS);
    assert_int_equal(plugin->unregister_provider(provider), ERROR_SUCCESS);
    assert_int_equal(stop_hosts_session(session), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_copy_that_is_asked_for_a_handle_leaves_the_process_to_the_first),
        cmocka_unit_test(a_plugin_with_the_plain_library_has_the_hosts_providers_and_sessions),
        cmocka_unit_test(a_plugin_with_the_static_library_has_them_too_while_its_names_are_visible),
        cmocka_unit_test(a_second_shared_copy_that_is_called_by_itself_refuses),
#ifdef ETWAS_TEST_DEEPBIND
        cmocka_unit_test(a_plugin_that_is_bound_to_a_second_shared_copy_is_refused),
#endif
        cmocka_unit_test(a_plugin_that_hides_the_static_library_stays_when_it_is_closed),
        cmocka_unit_test(a_plugin_that_hides_the_static_library_has_an_etwas_of_its_own),
    };

    return cmocka_run_group_tests_name("coexist", tests, set_up, tear_down);
}
