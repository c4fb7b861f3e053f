/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An nginx module that traces requests: its directives, and its hooks into a request.
 *
 * Each worker has a session of its own, from init_process to exit_process; the master has none,
 * since it forks. The handlers of this module run before a phase's other handlers, when the
 * previous phase is over. Subrequests are part of the phase of their main request.
 */

#include "events.h"
#include "recorder.h"

typedef struct {
    ngx_flag_t on;
    ngx_path_t *folder;
    ngx_flag_t may_snapshot; /* some location has a limit */
    ngx_http_etwas_recorder_settings recorder;
} main_settings;

typedef struct {
    ngx_msec_t slow; /* 0: no request is slow */
} location_settings;

extern ngx_module_t ngx_http_etwas_module;

static etwas_trace_handle session; /* 0: this worker is not traced */
static uint32_t clock_kind;
static uint64_t clock_frequency;
static ngx_http_output_header_filter_pt next_header_filter;

/* ---- a request ---- */

/* Does nothing. Its address marks our entry in the cleanup list of the request's pool. */
static void on_pool_end(void *data)
{
    (void)data;
}

/* An internal redirect clears what modules store for a request, but the request keeps its pool. */
static ngx_http_etwas_request *find_again(ngx_http_request_t *r)
{
    const ngx_pool_cleanup_t *entry = r->pool->cleanup;

    while (entry != NULL && entry->handler != on_pool_end) {
        entry = entry->next;
    }
    if (entry == NULL) {
        return NULL;
    }
    ngx_http_set_ctx(r, entry->data, ngx_http_etwas_module);
    return entry->data;
}

static ngx_http_etwas_request *begin(ngx_http_request_t *r, enum ngx_http_etwas_phase phase)
{
    ngx_http_etwas_request *request = ngx_palloc(r->pool, sizeof *request);

    if (request == NULL) {
        return NULL;
    }
    request->of_pool =
        (ngx_pool_cleanup_t){.handler = on_pool_end, .data = request, .next = r->pool->cleanup};
    r->pool->cleanup = &request->of_pool;
    ngx_http_set_ctx(r, request, ngx_http_etwas_module);
    request->start = etwas_clock_read(clock_kind);
    request->start_msec = ngx_current_msec;
    request->may_wait = true;
    ngx_http_etwas_begin(session, request, r, phase);
    return request;
}

/* Called if the request has no context: before its first event, and after an internal redirect. */
static __attribute__((noinline)) ngx_http_etwas_request *find_or_begin(
    ngx_http_request_t *r, enum ngx_http_etwas_phase phase)
{
    ngx_http_etwas_request *request = NULL;

    if (r->internal || r->filter_finalize) {
        request = find_again(r);
    }
    return request != NULL ? request : begin(r, phase);
}

/*
 * Returns the request; NULL if it is not traced. If necessary it begins the request, in this phase,
 * since both begin at the same moment.
 */
static inline ngx_http_etwas_request *begun(ngx_http_request_t *r, enum ngx_http_etwas_phase phase)
{
    ngx_http_etwas_request *request;

    if (session == 0 || r != r->main) {
        return NULL;
    }
    request = ngx_http_get_module_ctx(r, ngx_http_etwas_module);
    return request != NULL ? request : find_or_begin(r, phase);
}

static uint64_t ticks_since(int64_t start)
{
    return (uint64_t)(etwas_clock_read(clock_kind) - start);
}

static uint64_t microseconds_of(uint64_t ticks)
{
    return ticks / clock_frequency * 1000000 + ticks % clock_frequency * 1000000 / clock_frequency;
}

static ngx_int_t on_rewrite(ngx_http_request_t *r)
{
    ngx_http_etwas_request *request = begun(r, NGX_HTTP_ETWAS_CONTENT);

    if (request != NULL) {
        ngx_http_etwas_enter(session, request, NGX_HTTP_ETWAS_CONTENT);
    }
    return NGX_DECLINED;
}

static ngx_int_t on_precontent(ngx_http_request_t *r)
{
    ngx_http_etwas_request *request = begun(r, NGX_HTTP_ETWAS_PHASES);

    if (request != NULL && request->may_wait) {
        request->may_wait = false;
        if (request->start_msec != ngx_current_msec) {
            ngx_http_etwas_log_wait(session, request, microseconds_of(ticks_since(request->start)));
        }
    }
    return NGX_DECLINED;
}

static ngx_int_t on_header(ngx_http_request_t *r)
{
    ngx_http_etwas_request *request = begun(r, NGX_HTTP_ETWAS_SEND);

    if (request != NULL) {
        ngx_http_etwas_enter(session, request, NGX_HTTP_ETWAS_SEND);
    }
    return next_header_filter(r);
}

static ngx_int_t on_log(ngx_http_request_t *r)
{
    ngx_http_etwas_request *request = begun(r, NGX_HTTP_ETWAS_PHASES);
    const location_settings *location;
    uint64_t ticks = 0;
    bool is_slow = false;

    if (request == NULL) {
        return NGX_OK;
    }
    location = ngx_http_get_module_loc_conf(r, ngx_http_etwas_module);
    if (location->slow != 0) {
        ticks = ticks_since(request->start);
        is_slow = ticks >= location->slow * clock_frequency / 1000;
    }
    if (r->upstream_states != NULL) {
        ngx_http_etwas_log_upstreams(session, request, r);
    }
    if (is_slow) {
        ngx_http_etwas_log_slow(session, request, r, microseconds_of(ticks), location->slow * 1000);
    }
    ngx_http_etwas_end(session, request, r);
    if (is_slow) {
        ngx_http_etwas_recorder_snapshot(r->connection->log, microseconds_of(ticks));
    }
    return NGX_OK;
}

/* ---- a worker ---- */

static ngx_int_t init_process(ngx_cycle_t *cycle)
{
    const main_settings *settings =
        ngx_http_cycle_get_module_main_conf(cycle, ngx_http_etwas_module);
    uint32_t result;

    /* Without a master, a reload of the configuration would unload this module while it runs. */
    if (ngx_process != NGX_PROCESS_WORKER || settings == NULL || !settings->on) {
        return NGX_OK;
    }
    result = ngx_http_etwas_register();
    if (result != ERROR_SUCCESS) {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0, "etwas: this worker is not traced: %s",
                      etwas_error_text(result));
        return NGX_OK;
    }
    clock_kind = etwas_clock_effective(ETWAS_CLOCK_TSC);
    clock_frequency = etwas_clock_frequency(clock_kind);
    session = ngx_http_etwas_recorder_start(cycle, &settings->recorder);
    return NGX_OK;
}

static void exit_process(ngx_cycle_t *cycle)
{
    if (session != 0) {
        session = 0;
        ngx_http_etwas_recorder_stop(cycle);
        ngx_http_etwas_unregister();
    }
}

/* ---- settings ---- */

static void *create_main(ngx_conf_t *cf)
{
    main_settings *settings = ngx_pcalloc(cf->pool, sizeof *settings);

    if (settings != NULL) {
        settings->on = NGX_CONF_UNSET;
        settings->recorder.memory_bytes = NGX_CONF_UNSET_SIZE;
        settings->recorder.pause = NGX_CONF_UNSET_MSEC;
        settings->recorder.snapshots = NGX_CONF_UNSET_UINT;
        settings->recorder.crash_safe = NGX_CONF_UNSET;
    }
    return settings;
}

static char *init_main(ngx_conf_t *cf, void *data)
{
    main_settings *settings = data;

    ngx_conf_init_value(settings->on, 0);
    ngx_conf_init_size_value(settings->recorder.memory_bytes, (size_t)16 * 1024 * 1024);
    ngx_conf_init_msec_value(settings->recorder.pause, 10000);
    ngx_conf_init_uint_value(settings->recorder.snapshots, 16);
    ngx_conf_init_value(settings->recorder.crash_safe, 0);
    if (settings->on && settings->may_snapshot) {
        if (settings->folder == NULL) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "etwas_slow needs etwas_folder");
            return NGX_CONF_ERROR;
        }
        settings->recorder.folder = settings->folder->name;
    }
    return NGX_CONF_OK;
}

static void *create_location(ngx_conf_t *cf)
{
    location_settings *settings = ngx_pcalloc(cf->pool, sizeof *settings);

    if (settings != NULL) {
        settings->slow = NGX_CONF_UNSET_MSEC;
    }
    return settings;
}

static char *merge_location(ngx_conf_t *cf, void *outer, void *inner)
{
    const location_settings *from = outer;
    location_settings *settings = inner;

    (void)cf;
    ngx_conf_merge_msec_value(settings->slow, from->slow, 0);
    return NGX_CONF_OK;
}

static char *set_slow(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
    main_settings *settings = ngx_http_conf_get_module_main_conf(cf, ngx_http_etwas_module);

    settings->may_snapshot = 1;
    return ngx_conf_set_msec_slot(cf, command, data);
}

static ngx_int_t add_handler(ngx_conf_t *cf, ngx_http_phases phase, ngx_http_handler_pt handler)
{
    ngx_http_core_main_conf_t *core = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
    ngx_http_handler_pt *place = ngx_array_push(&core->phases[phase].handlers);

    if (place == NULL) {
        return NGX_ERROR;
    }
    *place = handler;
    return NGX_OK;
}

static ngx_int_t add_handlers(ngx_conf_t *cf)
{
    static const struct {
        ngx_http_phases phase;
        ngx_http_handler_pt handler;
    } handlers[] = {
        {NGX_HTTP_SERVER_REWRITE_PHASE, on_rewrite},
        {NGX_HTTP_PRECONTENT_PHASE, on_precontent},
        {NGX_HTTP_LOG_PHASE, on_log},
    };
    const main_settings *settings = ngx_http_conf_get_module_main_conf(cf, ngx_http_etwas_module);

    if (!settings->on) {
        return NGX_OK;
    }
    for (size_t index = 0; index < sizeof handlers / sizeof handlers[0]; index++) {
        if (add_handler(cf, handlers[index].phase, handlers[index].handler) != NGX_OK) {
            return NGX_ERROR;
        }
    }
    next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = on_header;
    return NGX_OK;
}

#define MAIN(NAME, ARGUMENT, SET, MEMBER)                                                          \
    {                                                                                              \
        ngx_string(NAME), NGX_HTTP_MAIN_CONF | (ARGUMENT), SET, NGX_HTTP_MAIN_CONF_OFFSET,         \
            offsetof(main_settings, MEMBER), NULL                                                  \
    }
static ngx_command_t commands[] = {
    MAIN("etwas", NGX_CONF_FLAG, ngx_conf_set_flag_slot, on),
    MAIN("etwas_crash_safe", NGX_CONF_FLAG, ngx_conf_set_flag_slot, recorder.crash_safe),
    MAIN("etwas_folder", NGX_CONF_TAKE1, ngx_conf_set_path_slot, folder),
    MAIN("etwas_memory", NGX_CONF_TAKE1, ngx_conf_set_size_slot, recorder.memory_bytes),
    MAIN("etwas_pause", NGX_CONF_TAKE1, ngx_conf_set_msec_slot, recorder.pause),
    MAIN("etwas_snapshots", NGX_CONF_TAKE1, ngx_conf_set_num_slot, recorder.snapshots),
    {ngx_string("etwas_slow"),
     NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1, set_slow,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(location_settings, slow), NULL},
    ngx_null_command,
};

static ngx_http_module_t context = {
    .postconfiguration = add_handlers,
    .create_main_conf = create_main,
    .init_main_conf = init_main,
    .create_loc_conf = create_location,
    .merge_loc_conf = merge_location,
};

ngx_module_t ngx_http_etwas_module = {
    NGX_MODULE_V1,
    .ctx = &context,
    .commands = commands,
    .type = NGX_HTTP_MODULE,
    .init_process = init_process,
    .exit_process = exit_process,
};
