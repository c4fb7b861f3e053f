/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/session_file.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <unistd.h>

#include "buffer/pool_count.h"
#include "etl/own_record.h"
#include "file/log_clock_snapshots.h"
#include "file/log_losses.h"
#include "file/log_metadata.h"
#include "flush/sink.h"
#include "platform/file.h"
#include "platform/fork.h"
#include "platform/processor.h"
#include "session/file_name.h"
#include "session/losses.h"

enum {
    BYTES_A_KB = 1024,
    /* Logging leaves this much free on the system's own file system (R92). */
    SYSTEM_RESERVE_BYTES = 200 << 20,
    /*
     * Limits of ended parts that wait for the disk: each has a descriptor, and memory for a buffer.
     */
    ENDED_PARTS = 8,
    ENDED_PARTS_BYTES = 16 << 20,
};

struct etwas_log_file_options etwas_session_log_options(const struct etwas_session *session)
{
    const struct etwas_configuration *configuration = &session->configuration;

    return (struct etwas_log_file_options){
        .session_name = configuration->name,
        .buffer_bytes = configuration->buffer_size_kb * BYTES_A_KB,
        .processors = etwas_configuration_has_one_slot(configuration) &&
                              session->slot_count < etwas_processor_count()
                          ? etwas_processor_count()
                          : session->slot_count,
        .least_processors = etwas_configuration_is_shared(configuration)
                                ? session->slot_count - ETWAS_GUEST_SLOTS
                                : 0,
        .rows = configuration->class_count != 0 ? etwas_configuration_class_rows(configuration) : 0,
        .one_stream =
            configuration->class_count != 0 && etwas_configuration_has_one_slot(configuration),
        .protocol = configuration->protocol,
        .sequences = configuration->sequences,
        .clock = configuration->clock,
        .requested_clock = configuration->requested_clock,
        .log_file_mode = configuration->log_file_mode,
        .logger_id = (uint16_t)(session->index + 1),
        .process_times = configuration->process_times,
        /* has command lines and addresses of the kernel */
        .is_private = configuration->system_logger,
        .takes_stacks = &session->takes_stacks,
        .started = session->started,
    };
}

/* How much more of the disk the file will take. */
static uint64_t session_file_wanted_bytes(const struct etwas_log_file_options *options)
{
    uint64_t there = (options->log_file_mode & EVENT_TRACE_FILE_MODE_APPEND) != 0
                         ? etwas_file_length(options->path)
                         : 0;

    return options->maximum_bytes > there ? options->maximum_bytes - there : 0;
}

static uint32_t session_file_create_log(struct etwas_log_file_options *options,
                                        const etwas_wchar *file_name, struct etwas_log_file **file)
{
    char path[ETWAS_PATH_BYTES];
    uint32_t code = etwas_configuration_path(file_name, path);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    options->path = path;
    options->file_name = file_name;
    if (!etwas_file_has_space(path, session_file_wanted_bytes(options), SYSTEM_RESERVE_BYTES)) {
        return ERROR_DISK_FULL;
    }
    return etwas_log_file_create(options, file);
}

uint32_t etwas_session_file_create(struct etwas_session *session, const etwas_wchar *file_name)
{
    /* The file's size is not limited, because the recorder's buffers limit it. */
    struct etwas_log_file_options options = etwas_session_log_options(session);
    struct etwas_log_file *file;
    uint32_t code;

    options.replaces_whole = true;
    etwas_fork_forbid();
    code = session_file_create_log(&options, file_name, &file);
    if (code == ERROR_SUCCESS) {
        etwas_session_set_file(session, file);
    }
    etwas_fork_allow();
    return code;
}

bool etwas_session_file_close(struct etwas_session *session)
{
    struct etwas_log_file *file = session->drain.file;
    bool good;

    etwas_fork_forbid();
    etwas_session_set_file(session, NULL);
    good = etwas_log_file_close(file);
    etwas_fork_allow();
    return good;
}

/*
 * Returns what the session has lost until now, and updates the file's losses, so that both agree
 * exactly.
 */
static struct etwas_log_file_totals session_file_totals(struct etwas_session *session)
{
    etwas_session_counts counts;

    etwas_losses_check_and_count(session, &counts);
    if (session->drain.file != NULL) {
        etwas_log_losses_update(session->drain.file);
    }
    return (struct etwas_log_file_totals){
        .events_lost = counts.lost,
        .buffers_lost = counts.buffers_lost,
        .events_attempted = counts.recorded + counts.overwritten + counts.lost,
        .unattached_total = counts.unattached_total,
        .unattached_code = counts.unattached_code,
    };
}

/* The totals of the last file that the session writes. */
static struct etwas_log_file_totals session_file_last_totals(struct etwas_session *session)
{
    struct etwas_log_file_totals totals = session_file_totals(session);

    totals.ends = ETWAS_ETL_ENDS_SESSION;
    return totals;
}

static void session_file_count_sync_error(struct etwas_session *session)
{
    ck_pr_store_64(&session->totals.sync_errors, session->totals.sync_errors + 1);
}

/*
 * Counts what buffers without events (clock snapshots or metadata) have replaced in a circular
 * file. If such a buffer is refused, its content is lost, but no event.
 */
static void session_file_count_besides(struct etwas_session *session,
                                       const struct etwas_log_write *write)
{
    etwas_pool_reclassify_written(session->buffers.pool, ETWAS_DISPOSITION_OVERWRITTEN,
                                  write->replaced);
    ck_pr_store_64(&session->totals.buffers_written,
                   session->totals.buffers_written + write->written + write->metadata);
    if (write->code != ERROR_SUCCESS || write->metadata_code != ERROR_SUCCESS) {
        session_file_count_sync_error(session);
    }
}

/* Writes what was described since the last call. */
static void session_file_write_metadata(struct etwas_session *session)
{
    struct etwas_log_write write = etwas_log_metadata_write(session->drain.file, 0);

    session_file_count_besides(session, &write);
}

/* Counts what the system dropped after it had reported it as written. */
static void session_file_count_refusal(struct etwas_session *session,
                                       const struct etwas_log_lost *lost)
{
    session_file_count_sync_error(session);
    etwas_pool_reclassify_written(session->buffers.pool, ETWAS_DISPOSITION_WRITE_ERROR,
                                  lost->records);
    ck_pr_store_64(&session->totals.buffers_lost, session->totals.buffers_lost + lost->buffers);
    ck_pr_store_64(&session->totals.buffers_written, session->totals.buffers_written - lost->cut);
}

/* Ends a file, or ends it again. */
static bool session_file_end(struct etwas_session *session, struct etwas_log_file *file,
                             const struct etwas_log_file_totals *totals)
{
    bool good = etwas_log_file_end(file, totals);

    if (!good) {
        session_file_count_sync_error(session);
    }
    return good;
}

static uint32_t session_file_store(struct etwas_session *session, struct etwas_log_file *file)
{
    struct etwas_log_lost lost;
    uint32_t code = etwas_log_file_store(file, &lost);

    if (code != ERROR_SUCCESS) {
        session_file_count_refusal(session, &lost);
    }
    return code;
}

/*
 * Makes a file that has ended durable. If its end was refused in part, it is first ended again. If
 * storing it is refused, it is ended and stored once more with what is found in it, because the
 * changes of its end may be lost, too. The current file counts the loss; the last one counts its
 * own.
 */
static uint32_t session_file_store_ended(struct etwas_session *session, struct etwas_log_file *file,
                                         bool is_last)
{
    struct etwas_log_file_totals totals = etwas_log_file_last_totals(file);
    bool ended = etwas_log_file_is_ended(file) || session_file_end(session, file, &totals);
    uint32_t code = session_file_store(session, file);

    if (code != ERROR_SUCCESS) {
        totals = is_last ? session_file_last_totals(session) : totals;
        (void)session_file_end(session, file, &totals);
        (void)session_file_store(session, file);
        return code;
    }
    return ended ? ERROR_SUCCESS : ERROR_WRITE_FAULT;
}

/*
 * Makes earlier parts durable, and closes them, except the `keep` newest. While one waits for the
 * disk it is on the chain, so that a fork's child finds its descriptor. A fork waits while it is
 * removed from the chain and closed: a child closes what it finds, and nothing else.
 */
static uint32_t session_file_close_ended(struct etwas_session *session, uint32_t keep)
{
    uint32_t code = ERROR_SUCCESS;
    struct etwas_log_file *ended;

    while ((ended = etwas_log_file_oldest_earlier(session->drain.file, keep)) != NULL) {
        uint32_t stored = session_file_store_ended(session, ended, false);
        bool closed;

        etwas_fork_forbid();
        etwas_control_lock();
        etwas_log_file_drop_oldest_earlier(session->drain.file);
        etwas_control_unlock();
        closed = etwas_log_file_close(ended);
        etwas_fork_allow();
        if (!closed) {
            session_file_count_sync_error(session);
            stored = ERROR_WRITE_FAULT;
        }
        code = stored != ERROR_SUCCESS ? stored : code;
    }
    return code;
}

static const struct etwas_sink log_file_sink;

/* From here on the new file records the losses; the old one has ended. */
static void session_file_hand_on_losses(struct etwas_session *session, struct etwas_log_file *old,
                                        struct etwas_log_file *file)
{
    struct etwas_losses *losses = session->drain.losses;

    if (losses != NULL) {
        if (old != NULL) {
            etwas_log_losses_detach(old);
        }
        etwas_loss_table_clear(&losses->table);
        etwas_log_losses_attach(file, &losses->table);
    }
}

/*
 * Continues with the file of this name and serial. The new file counts from the moment at which the
 * old one stops, so that the files' sums are the session's. At most `keep` of the ended ones stay
 * open. `opened`: the clocks now; NULL: the session starts.
 */
static uint32_t session_file_switch_to(struct etwas_session *session, const etwas_wchar *given,
                                       uint32_t serial, uint32_t keep,
                                       const struct etwas_clock_reading *opened)
{
    const struct etwas_configuration *configuration = &session->configuration;
    bool of_a_set = (configuration->log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0;
    struct etwas_log_file_options options = etwas_session_log_options(session);
    struct etwas_log_file *old = session->drain.file;
    struct etwas_log_file *file = NULL;
    etwas_wchar name[ETWAS_NAME_UNITS + 1];
    uint32_t code =
        etwas_file_name_make(given, configuration->log_file_mode, serial, (uint32_t)getpid(), name);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (session->drain.losses == NULL) {
        etwas_losses_begin(session);
    }
    options.maximum_bytes = etwas_configuration_file_bytes(configuration);
    options.maximum_file_size = configuration->maximum_file_size;
    options.part = of_a_set ? serial : 0;
    options.before = session_file_totals(session);
    options.after = old;
    options.opened = opened;
    options.history = &session->drain.clock_history;
    etwas_fork_forbid();
    code = session_file_create_log(&options, name, &file);
    if (code != ERROR_SUCCESS) {
        etwas_fork_allow();
        return code;
    }
    if (old != NULL) {
        session_file_write_metadata(session);
        (void)session_file_end(session, old, &options.before); /* retried before it is stored */
    }
    session_file_hand_on_losses(session, old, file);
    etwas_session_set_file(session, file);
    etwas_fork_allow();
    session->drain.sinks[ETWAS_SINK_FILE] = &log_file_sink;
    etwas_session_set_file_name(session, name);
    ck_pr_store_64(&session->totals.buffers_written,
                   session->totals.buffers_written + etwas_log_file_buffers(file));
    session_file_write_metadata(session);
    (void)session_file_close_ended(session, keep); /* a refusal is counted */
    return ERROR_SUCCESS;
}

uint32_t etwas_session_file_open(struct etwas_session *session)
{
    const struct etwas_configuration *configuration = &session->configuration;

    return etwas_configuration_has_file(configuration)
               ? session_file_switch_to(session, configuration->file_name, 1, 0, NULL)
               : ERROR_SUCCESS;
}

static uint32_t session_file_begin_next(struct etwas_session *session, uint32_t keep)
{
    const struct etwas_clock_reading now = etwas_clock_read_together();

    return session_file_switch_to(session, session->configuration.file_name,
                                  etwas_log_file_part(session->drain.file) + 1, keep, &now);
}

uint32_t etwas_session_file_next(struct etwas_session *session)
{
    return session_file_begin_next(session, 0);
}

uint32_t etwas_session_file_roll(struct etwas_session *session)
{
    uint32_t fit = ENDED_PARTS_BYTES / (session->configuration.buffer_size_kb * BYTES_A_KB);

    return session_file_begin_next(session, fit < ENDED_PARTS ? fit : ENDED_PARTS);
}

uint32_t etwas_session_file_change(struct etwas_session *session, const etwas_wchar *given)
{
    const struct etwas_clock_reading now = etwas_clock_read_together();

    return session_file_switch_to(session, given, 1, 0, &now);
}

/* ---- as a sink ------------------------------------------------------------------------------- */

/* NEWFILE: continues with the next part. Returns false in another mode, or if it was refused. */
static bool session_file_begin_next_part(struct etwas_session *session, uint32_t *code)
{
    if ((session->configuration.log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) == 0) {
        return false;
    }
    /* If it is refused, the full old part stays, and each later batch tries again. */
    *code = etwas_session_file_roll(session);
    return *code == ERROR_SUCCESS;
}

/*
 * NEWFILE: limits a batch to half of a part, because metadata takes room, too. So what was
 * accepted, but is not accounted for yet, is in the newest two parts at most. A crash-safe session
 * stores their names, and recovery searches there.
 */
static uint32_t session_file_room(struct etwas_session *session, uint32_t most, bool last)
{
    const struct etwas_configuration *configuration = &session->configuration;
    uint64_t fit = etwas_configuration_file_bytes(configuration) /
                   (configuration->buffer_size_kb * (uint64_t)BYTES_A_KB) / 2;

    (void)last;
    if ((configuration->log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE) == 0 ||
        configuration->maximum_file_size == 0 || fit >= most) {
        return most;
    }
    return fit > 1 ? (uint32_t)fit : 1;
}

/* Writes what fits, in as many parts as needed. Returns the result of all these writes. */
static struct etwas_log_write session_file_write_buffers(struct etwas_session *session,
                                                         const struct etwas_drained *buffers,
                                                         uint32_t count)
{
    struct etwas_log_write all = {.code = ERROR_SUCCESS};

    session_file_write_metadata(session);
    do {
        struct etwas_log_write some =
            etwas_log_file_write(session->drain.file, buffers + all.written, count - all.written);

        all.written += some.written;
        all.code = some.code;
        all.replaced += some.replaced;
        ck_pr_store_64(&session->totals.buffers_written,
                       session->totals.buffers_written + some.written + some.metadata);
        if (some.metadata_code != ERROR_SUCCESS) {
            session_file_count_sync_error(session);
        }
    } while (all.written < count && all.code == ERROR_SUCCESS &&
             session_file_begin_next_part(session, &all.code));
    return all;
}

static void session_file_accept(struct etwas_session *session, struct etwas_batch *batch)
{
    struct etwas_log_write write =
        session_file_write_buffers(session, batch->buffers, batch->count);

    for (uint32_t index = 0; index < write.written; index++) {
        batch->buffers[index].kept = true;
    }
    batch->is_full = write.written < batch->count && write.code == ERROR_SUCCESS;
    batch->loss = batch->is_full ? ETWAS_DISPOSITION_FILE_FULL : ETWAS_DISPOSITION_WRITE_ERROR;
    batch->code = write.code;
    etwas_pool_reclassify_written(session->buffers.pool, ETWAS_DISPOSITION_OVERWRITTEN,
                                  write.replaced);
    ck_pr_store_64(&session->totals.buffers_lost,
                   session->totals.buffers_lost + batch->count - write.written);
}

/*
 * Writes metadata, too: a library whose addresses are in stacks may be unloaded before the next
 * batch.
 */
static void session_file_read_clocks(struct etwas_session *session,
                                     const struct etwas_clock_reading *reading, bool quiet)
{
    struct etwas_log_write write;

    session_file_write_metadata(session);
    write = etwas_log_clock_snapshots_add(session->drain.file, reading, quiet, 0);
    session_file_count_besides(session, &write);
}

/* R81: also updates the counts in the header, and closes earlier parts. */
static uint32_t session_file_sync(struct etwas_session *session)
{
    uint32_t ended = session_file_close_ended(session, 0);
    struct etwas_log_file_totals totals;
    struct etwas_log_lost lost;
    uint32_t code;

    session_file_write_metadata(session);
    totals = session_file_totals(session);
    code = etwas_log_file_sync(session->drain.file, &totals, &lost);
    if (code != ERROR_SUCCESS) {
        session_file_count_refusal(session, &lost);
    }
    return code != ERROR_SUCCESS ? code : ended;
}

void etwas_session_file_finish(struct etwas_session *session)
{
    struct etwas_log_file *file = session->drain.file;
    struct etwas_log_file_totals totals;

    if (file == NULL) {
        return;
    }
    (void)session_file_close_ended(session, 0);
    session_file_write_metadata(session);
    totals = session_file_last_totals(session);
    (void)session_file_end(session, file, &totals); /* retried before it is stored */
    (void)session_file_store_ended(session, file, true);
    /*
     * The sink is removed only now, so that a fork's child finds the descriptor while this waits
     * for the disk.
     */
    session->drain.sinks[ETWAS_SINK_FILE] = NULL;
    if (!etwas_session_file_close(session)) {
        session_file_count_sync_error(session);
    }
}

static const struct etwas_sink log_file_sink = {
    .room = session_file_room,
    .accept = session_file_accept,
    .sync = session_file_sync,
    .read_clocks = session_file_read_clocks,
    .end = etwas_session_file_finish,
};
