/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat --prove` as JSON. Keys are part of the command's interface.
 */

#include "event/names.h"
#include "show/prove.h"

#include "kernel/flags.h"
#include "print/json.h"

static const char *counted_by(uint32_t counted)
{
    switch (counted) {
    case ETWAS_PROVE_COUNTED_EACH:
        return "kernel";
    case ETWAS_PROVE_COUNTED_LOST_ALONE:
        return "kernel, lost alone";
    default:
        return "nobody";
    }
}

static void put_flags(struct etwas_output *output, uint32_t flags)
{
    const char *name;

    etwas_json_array(output, "flags");
    while ((name = etwas_flags_next(&flags)) != NULL) {
        etwas_json_text(output, NULL, name);
    }
    etwas_output_char(output, ']');
}

void etwas_prove_json_account(struct etwas_output *output,
                              const struct etwas_prove_account *account)
{
    etwas_json_object(output, NULL);
    etwas_json_text(output, "source", account->name);
    etwas_json_number(output, "number", account->source);
    etwas_json_number(output, "cpu", account->processor);
    put_flags(output, account->flags);
    etwas_json_text(output, "counted_by", counted_by(account->counted));
    etwas_json_number(output, "attempted", account->attempted);
    etwas_json_number(output, "taken", account->taken);
    etwas_json_number(output, "without_record", account->without_record);
    etwas_json_number(output, "lost_no_room", account->lost_no_room);
    etwas_json_number(output, "lost_unread", account->lost_unread);
    etwas_json_number(output, "lost_not_handed", account->lost_not_handed);
    etwas_json_number(output, "made", account->made);
    etwas_json_boolean(output, "ring_damaged", account->damaged);
    etwas_output_char(output, '}');
}

static void put_accounts(struct etwas_output *output, const struct etwas_prove_session *session)
{
    etwas_json_array(output, "sources");
    for (size_t index = 0; index < session->account_count; index++) {
        etwas_prove_json_account(output, &session->accounts[index]);
    }
    etwas_output_char(output, ']');
}

static void put_kind(struct etwas_prove_kind *kind, void *context)
{
    struct etwas_output *output = context;

    etwas_json_object(output, NULL);
    etwas_json_guid(output, "event_class_id", &kind->key.class_guid);
    etwas_json_number(output, "opcode", kind->key.type);
    etwas_json_number(output, "cpu", kind->key.processor);
    etwas_json_number(output, "made", kind->made);
    etwas_json_number(output, "refused", kind->refused);
    etwas_json_number(output, "in_files", kind->found);
    etwas_json_boolean(output, "accounted", kind->is_known);
    etwas_output_char(output, '}');
}

static void put_kinds(struct etwas_output *output, const struct etwas_prove_session *session)
{
    etwas_json_array(output, "records");
    etwas_prove_visit_kinds(session, put_kind, output);
    etwas_output_char(output, ']');
}

void etwas_prove_json_head(struct etwas_output *output, const struct etwas_prove_session *session)
{
    size_t units = 0;

    while (session->name[units] != 0) {
        units++;
    }
    etwas_json_begin(output, "proof");
    etwas_json_array(output, "files");
    for (uint32_t index = 0; index < session->files; index++) {
        etwas_json_text(output, NULL, session->paths[index]);
    }
    etwas_output_char(output, ']');
    etwas_json_utf16(output, "session", session->name, units);
    etwas_json_boolean(output, "proved", session->is_proved);
    etwas_json_array(output, "reasons");
    for (uint32_t index = 0; index < session->reason_count && index < ETWAS_PROVE_REASONS;
         index++) {
        etwas_json_text(output, NULL, session->reasons[index]);
    }
    etwas_output_char(output, ']');
    etwas_json_boolean(output, "ended", session->has_ended);
    etwas_json_boolean(output, "recovered", session->recovered != 0);
    etwas_json_known(output, "attempted", etwas_prove_knows_attempted(session),
                     session->told.attempted);
    etwas_json_number(output, "in_files", session->in_files);
    etwas_json_known(output, "overwritten", etwas_prove_knows_losses(session),
                     session->told.overwritten);
    etwas_json_known(output, "lost", etwas_prove_knows_losses(session), session->told.lost);
    if (session->unattached_code != 0) {
        etwas_json_number(output, "unattached_total", session->unattached_processes);
        etwas_json_text(output, "unattached_reason",
                        etwas_names_unattached(session->unattached_code));
    }
    etwas_json_boolean(output, "kernel", session->is_kernel);
    if (session->account_count != 0) {
        etwas_json_number(output, "lost_in_kernel", session->kernel_lost);
        etwas_json_number(output, "no_buffer", session->refused);
        etwas_json_number(output, "times_no_room", session->losses);
        etwas_json_number(output, "events_no_room", session->losses_events);
    }
}

void etwas_prove_json(struct etwas_output *output, const struct etwas_prove_session *session)
{
    etwas_prove_json_head(output, session);
    if (session->account_count != 0) {
        put_accounts(output, session);
        put_kinds(output, session);
    }
    etwas_output_text(output, "}\n");
}
