/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A manifest of the provider "Shop", which a test puts together, and its events. */
#ifndef TESTS_DECODE_SHOP_H
#define TESTS_DECODE_SHOP_H

#include "shown.h"

extern const etwas_guid shop;

/* What stands around the elements inside `provider`, and behind them. */
#define BEFORE                                                                                     \
    "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'>"            \
    "<instrumentation><events>"                                                                    \
    "<provider name='Shop' guid='{01234567-89ab-cdef-0102-030405060708}' symbol='Shop'>"
#define BETWEEN "</provider></events></instrumentation>"
#define BEHIND "</instrumentationManifest>"

#define EVENT_SOURCE                                                                               \
    "<tasks>"                                                                                      \
    " <task name='Sold' message='$(string.task_Sold)' value='65533'/>"                             \
    "</tasks>"                                                                                     \
    "<opcodes/>"                                                                                   \
    "<maps><valueMap name='Payment'>"                                                              \
    " <map value='0x0' message='$(string.map_PaymentCash)'/>"                                      \
    " <map value='0x1' message='$(string.map_PaymentCard)'/>"                                      \
    "</valueMap></maps>"                                                                           \
    "<events>"                                                                                     \
    " <event value='1' version='0' level='win:Informational' symbol='Sold'"                        \
    "  message='$(string.event_Sold)' keywords='' task='Sold' template='SoldArgs'/>"               \
    " <event value='2' version='0' level='win:LogAlways' symbol='Closed'/>"                        \
    "</events>"                                                                                    \
    "<templates><template tid='SoldArgs'>"                                                         \
    " <data name='item' inType='win:UnicodeString'/>"                                              \
    " <data name='count' inType='win:Int32'/>"                                                     \
    " <data name='new' inType='win:Boolean'/>"                                                     \
    " <data name='payment' inType='win:UInt32' map='Payment'/>"                                    \
    " <data name='price' inType='win:Double'/>"                                                    \
    " <data name='receiptSize' inType='win:UInt32'/>"                                              \
    " <data name='receipt' inType='win:Binary' length='receiptSize'/>"                             \
    " <data name='key' inType='win:Pointer'/>"                                                     \
    "</template></templates>"
#define ENGLISH                                                                                    \
    "<localization><resources culture='en-US'><stringTable>"                                       \
    " <string id='task_Sold' value='Sold'/>"                                                       \
    " <string id='event_Sold' value='%2 of %1 sold'/>"                                             \
    " <string id='map_PaymentCash' value='Cash'/>"                                                 \
    " <string id='map_PaymentCard' value='Card'/>"                                                 \
    "</stringTable></resources></localization>"
#define EVENT_SOURCE_DOCUMENT BEFORE EVENT_SOURCE BETWEEN ENGLISH BEHIND

/* A whole document. */
uint32_t learn_document(etwas_decoder *decoder, const char *xml);
/* What stands inside the element `provider`. */
uint32_t learn_inside(etwas_decoder *decoder, const char *inside);

EVENT_RECORD event(uint16_t id, uint8_t version, const void *payload, size_t bytes);
const char *shown_event(etwas_decoder *decoder, uint16_t id, const void *payload, size_t bytes);
#define SHOWN(decoder, id, payload) shown_event(decoder, id, payload, sizeof(payload) - 1)

/* Is the document that EVENT_SOURCE_DOCUMENT has known? */
bool is_known(etwas_decoder *decoder);

/* Returns the schema of an event that is described. */
const etwas_schema *schema_of(etwas_decoder *decoder, uint16_t id);
/* Returns a string of the schema's information, as ASCII. */
const char *string_at(const etwas_schema *schema, uint32_t offset);

#endif
