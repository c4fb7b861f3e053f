/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The spool: stores records until all input is read. It is a temporary file without a name, beside
 * the output if that has a path. It is written sequentially, and then read once.
 */

#include "convert/perfetto/perfetto.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 1 << 20,                           /* size of writes and reads */
    RECORD_BYTES = 2 * ETWAS_WIRE_BYTES + (1 << 12), /* the longest record */
    BUFFER_BYTES = RECORD_BYTES + PIECE_BYTES,
    FRAME_WEIGHT = 64, /* so a state has at most 131,072 frames (stacks.c) */
};

struct etwas_perfetto_spool {
    int file;
    int error;
    size_t used; /* bytes in the buffer: not written yet, or read */
    size_t at;   /* of these, already returned */
    uint8_t *bytes;
    struct etwas_perfetto_record record; /* the last one read */
};

static bool complain(int error)
{
    fprintf(stderr,
            "etwas convert: cannot write a temporary file, beside the output or in TMPDIR: %s\n",
            strerror(error));
    return false;
}

/*
 * Opens the file beside the output, where there is likely to be room, else in TMPDIR or /var/tmp,
 * else in /tmp.
 */
static int open_file(const char *output)
{
    const char *folder = getenv("TMPDIR");
    const char *slash = output != NULL ? strrchr(output, '/') : NULL;
    char *beside = NULL;
    int file = -1;

    if (output != NULL) {
        beside = slash == NULL     ? strdup(".")
                 : slash == output ? strdup("/")
                                   : strndup(output, (size_t)(slash - output));
    }
    if (beside != NULL) {
        file = open(beside, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        free(beside);
    }
    if (file < 0) {
        file = open(folder != NULL ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
    return file >= 0 ? file : open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

bool etwas_perfetto_spool_open(struct etwas_perfetto *perfetto)
{
    struct etwas_perfetto_spool *spool = calloc(1, sizeof *spool);

    perfetto->spool = spool;
    if (spool == NULL || (spool->bytes = malloc(BUFFER_BYTES)) == NULL) {
        perfetto->convert->out_of_memory = true;
        return false;
    }
    spool->file = open_file(perfetto->convert->output_file.path);
    return spool->file >= 0 || complain(errno);
}

void etwas_perfetto_spool_close(struct etwas_perfetto *perfetto)
{
    struct etwas_perfetto_spool *spool = perfetto->spool;

    if (spool != NULL) {
        if (spool->bytes != NULL && spool->file >= 0) {
            close(spool->file);
        }
        free(spool->bytes);
        free(spool);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void flush(struct etwas_perfetto_spool *spool)
{
    size_t at = 0;

    while (at < spool->used && spool->error == 0) {
        ssize_t written = write(spool->file, spool->bytes + at, spool->used - at);

        if (written > 0) {
            at += (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            spool->error = written == 0 ? ENOSPC : errno;
        }
    }
    spool->used = 0;
}

static void write_bytes(struct etwas_perfetto_spool *spool, const void *data, size_t bytes)
{
    if (bytes > 0) {
        memcpy(spool->bytes + spool->used, data, bytes);
        spool->used += bytes;
    }
}

static void put_record(struct etwas_perfetto *perfetto, struct etwas_perfetto_record *record,
                       const struct etwas_perfetto_begin *begin, const struct etwas_wire *names,
                       const struct etwas_wire *body)
{
    struct etwas_perfetto_spool *spool = perfetto->spool;
    size_t begin_bytes = begin != NULL ? sizeof *begin : 0;
    size_t names_bytes = names != NULL ? names->used : 0;

    record->names_bytes = (uint32_t)names_bytes;
    record->bytes = (uint32_t)(begin_bytes + names_bytes + body->used);
    write_bytes(spool, record, sizeof *record);
    write_bytes(spool, perfetto->stack, record->stack_frames * sizeof perfetto->stack[0]);
    write_bytes(spool, begin, begin_bytes);
    write_bytes(spool, names_bytes > 0 ? names->bytes : NULL, names_bytes);
    write_bytes(spool, body->bytes, body->used);
    perfetto->state_bytes += sizeof *record + record->bytes + record->stack_frames * FRAME_WEIGHT;
    if (spool->used >= PIECE_BYTES) {
        flush(spool);
        perfetto->convert->run.stop |= spool->error != 0;
    }
}

void etwas_perfetto_put_event(struct etwas_perfetto *perfetto, struct etwas_perfetto_record *record,
                              const struct etwas_perfetto_begin *begin)
{
    /* Together they must fit into one packet. */
    if (perfetto->event.is_short || perfetto->interned.is_short ||
        perfetto->event.used + perfetto->interned.used > ETWAS_WIRE_BYTES - PIECE_BYTES) {
        perfetto->needs_state = true; /* it may have had the first use of names */
        perfetto->has_dropped = true;
    } else {
        put_record(perfetto, record, begin, &perfetto->interned, &perfetto->event);
    }
    etwas_wire_clear(&perfetto->event);
    etwas_wire_clear(&perfetto->interned);
}

void etwas_perfetto_put_packet(struct etwas_perfetto *perfetto)
{
    struct etwas_perfetto_record record = {.kind = ETWAS_PERFETTO_PUT_PACKET};

    if (!perfetto->packet.is_short) {
        put_record(perfetto, &record, NULL, NULL, &perfetto->packet);
    }
    etwas_wire_clear(&perfetto->packet);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool etwas_perfetto_spool_rewind(struct etwas_perfetto *perfetto)
{
    struct etwas_perfetto_spool *spool = perfetto->spool;

    flush(spool);
    if (spool->error == 0 && lseek(spool->file, 0, SEEK_SET) != 0) {
        spool->error = errno;
    }
    return spool->error == 0 || complain(spool->error);
}

/* Reads until the buffer has this many bytes. Returns false at the end, or on an error. */
static bool fill(struct etwas_perfetto_spool *spool, size_t bytes)
{
    if (spool->used - spool->at >= bytes) {
        return true;
    }
    memmove(spool->bytes, spool->bytes + spool->at, spool->used - spool->at);
    spool->used -= spool->at;
    spool->at = 0;
    while (spool->used < bytes && spool->error == 0) {
        ssize_t got = read(spool->file, spool->bytes + spool->used, PIECE_BYTES);

        if (got > 0) {
            spool->used += (size_t)got;
        } else if (got == 0) {
            spool->error = spool->used > 0 ? EIO : 0;
            return false;
        } else if (errno != EINTR) {
            spool->error = errno;
        }
    }
    return spool->error == 0;
}

const struct etwas_perfetto_record *etwas_perfetto_spool_next(struct etwas_perfetto *perfetto)
{
    struct etwas_perfetto_spool *spool = perfetto->spool;
    struct etwas_perfetto_record *record = &spool->record;
    const uint8_t *at;
    size_t frames_bytes;

    if (!fill(spool, sizeof *record)) {
        return NULL;
    }
    memcpy(record, spool->bytes + spool->at, sizeof *record);
    frames_bytes = record->stack_frames * sizeof(uint64_t);
    if (!fill(spool, sizeof *record + frames_bytes + record->bytes)) {
        return NULL;
    }
    at = spool->bytes + spool->at;
    spool->at += sizeof *record + frames_bytes + record->bytes;
    perfetto->frames = at + sizeof *record;
    perfetto->behind = perfetto->frames + frames_bytes;
    return record;
}

bool etwas_perfetto_spool_has_failed(const struct etwas_perfetto *perfetto)
{
    return perfetto->spool->error != 0 && !complain(perfetto->spool->error);
}
