/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Resolves addresses by the images of a trace and the symbols of their files. */

#include "address/addresses.h"

#include "exit.h"

#include <string.h>

bool etwas_addresses_open(struct etwas_addresses *addresses)
{
    *addresses = (struct etwas_addresses){.decoder = NULL};
    addresses->unwinder = etwas_unwinder_open(&addresses->images);
    return etwas_decoder_open(&addresses->decoder) == ERROR_SUCCESS &&
           etwas_schedule_open(&addresses->threads);
}

void etwas_addresses_close(struct etwas_addresses *addresses)
{
    etwas_unwinder_close(addresses->unwinder);
    etwas_images_free(&addresses->images);
    etwas_kernel_symbols_free(&addresses->kernel);
    etwas_schedule_close(&addresses->threads);
    etwas_decoder_close(addresses->decoder);
    addresses->decoder = NULL;
}

bool etwas_addresses_are_whole(const struct etwas_addresses *addresses)
{
    return !addresses->images.out_of_memory && !addresses->kernel.out_of_memory &&
           !addresses->threads.out_of_memory;
}

void etwas_addresses_add_record(struct etwas_addresses *addresses, const EVENT_RECORD *record)
{
    struct etwas_kernel_event event;

    if (etwas_event_is_image(record)) {
        etwas_images_add_record(&addresses->images, addresses->decoder, record);
    } else if (etwas_event_is_kernel_symbol(record)) {
        etwas_kernel_symbols_add_record(&addresses->kernel, record);
    } else if (etwas_kernel_read(record, &event) && event.kind >= ETWAS_KERNEL_THREAD_START &&
               event.kind <= ETWAS_KERNEL_THREAD_HERE) {
        etwas_schedule_add_record(&addresses->threads, &event);
    }
}

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;

    etwas_addresses_add_record(input->context, record);
}

void etwas_addresses_read(struct etwas_addresses *addresses, const char *path,
                          enum etwas_input_time time)
{
    struct etwas_input input;
    /* The command also reads the events of the file, and reports if it cannot be opened. */
    struct etwas_input_run run = {.inputs = &input, .has_complained = true};
    const struct etwas_input_callbacks callbacks = {.record = on_record, .time = time};
    char *paths[] = {(char *)(uintptr_t)path};

    if (etwas_input_open_all(&run, paths, 1, &callbacks, addresses) == ETWAS_EXIT_DONE) {
        (void)etwas_input_process_one(&input);
    }
}

/* ---- finding --------------------------------------------------------------------------------- */

bool etwas_addresses_process(const struct etwas_addresses *addresses, uint32_t thread,
                             uint32_t *process)
{
    const struct etwas_schedule_thread *found = etwas_schedule_find(&addresses->threads, thread);

    if (found == NULL || !found->has_process) {
        return false;
    }
    *process = found->process;
    return true;
}

static const char *last_part(const char *path)
{
    const char *last = path;

    for (; *path != 0; path++) {
        if ((*path == '/' || *path == '\\') && path[1] != 0) {
            last = path + 1;
        }
    }
    return last;
}

static void find_in_image(struct etwas_addresses *addresses, const struct etwas_image *image,
                          uint64_t address, uint32_t back, struct etwas_place *place)
{
    struct etwas_image_build *file = &addresses->images.files[image->file];
    struct etwas_symbols *symbols = etwas_images_symbols(file);
    enum etwas_symbols_from from =
        image->kind == ETWAS_IMAGE_OF_FILE ? ETWAS_SYMBOLS_FROM_FILE : ETWAS_SYMBOLS_FROM_ZERO;

    place->image = last_part(file->path);
    place->offset = address - image->base + image->first;
    place->has_changed = file->has_changed;
    place->has_function = symbols != NULL &&
                          etwas_symbols_find(symbols, from, place->offset - back, &place->function);
    place->function.offset += back;
    place->has_inlined =
        symbols != NULL &&
        etwas_symbols_inlined(symbols, from, place->offset - back, &place->inlined);
}

/* Resolves an address in the kernel by the kernel symbols in the trace. */
static void find_in_kernel(struct etwas_addresses *addresses, uint64_t address, uint32_t back,
                           struct etwas_place *place)
{
    const struct etwas_kernel_symbol *symbol =
        etwas_kernel_symbols_find(&addresses->kernel, address - back);

    if (symbol == NULL) {
        return;
    }
    if (place->image == NULL) {
        place->image = symbol->module[0] != 0 ? symbol->module : "vmlinux";
    }
    place->has_function = true;
    place->function =
        (struct etwas_symbol){.function = symbol->name, .offset = address - symbol->address};
}

static struct etwas_place find_place(struct etwas_addresses *addresses,
                                     const struct etwas_address *address)
{
    struct etwas_place place = {.image = NULL};
    uint32_t process = etwas_address_is_kernel(address->value) ? 0 : address->process;
    uint32_t back = address->is_return && address->value != 0;
    const struct etwas_image *image =
        etwas_images_find(&addresses->images, process, address->time, address->value - back);

    if (image != NULL) {
        find_in_image(addresses, image, address->value, back, &place);
    }
    if (etwas_address_is_kernel(address->value)) {
        find_in_kernel(addresses, address->value, back, &place);
    }
    return place;
}

struct etwas_place etwas_addresses_find(struct etwas_addresses *addresses,
                                        const struct etwas_address *address)
{
    return address->value == ETWAS_EVENT_CUT
               ? (struct etwas_place){.has_function = true,
                                      .function = {.function = ETWAS_EVENT_CUT_NAME}}
               : find_place(addresses, address);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void put_text(struct etwas_output *output, enum etwas_text_style style, const char *text)
{
    etwas_text_utf8(output, style, text, strlen(text));
}

bool etwas_addresses_print_known(struct etwas_output *output, enum etwas_text_style style,
                                 struct etwas_addresses *addresses,
                                 const struct etwas_address *address, const char *before,
                                 const char *behind)
{
    const struct etwas_place place = etwas_addresses_find(addresses, address);

    if (place.image == NULL && !place.has_function) {
        return false;
    }
    etwas_output_text(output, before);
    if (place.image == NULL) {
        put_text(output, style, place.function.function);
    } else if (place.has_function) {
        put_text(output, style, place.function.function);
        etwas_output_char(output, '+');
        etwas_output_hexadecimal(output, place.function.offset);
        etwas_output_text(output, " in ");
        put_text(output, style, place.image);
    } else {
        put_text(output, style, place.image);
        etwas_output_char(output, '+');
        etwas_output_hexadecimal(output, place.offset);
        etwas_output_text(output, place.has_changed ? " (changed since)" : "");
    }
    etwas_output_text(output, behind);
    return true;
}

void etwas_addresses_print(struct etwas_output *output, enum etwas_text_style style,
                           struct etwas_addresses *addresses, const struct etwas_address *address)
{
    if (!etwas_addresses_print_known(output, style, addresses, address, "", "")) {
        etwas_output_hexadecimal(output, address->value);
    }
}

struct etwas_event_stack etwas_addresses_stack(struct etwas_addresses *addresses,
                                               const EVENT_RECORD *record)
{
    struct etwas_event_stack stack = etwas_event_stack(record);
    struct etwas_user_stack user;

    if (etwas_user_stack_read(record, &user)) {
        stack = (struct etwas_event_stack){.frames = (const uint8_t *)addresses->frames,
                                           .frame_bytes = sizeof *addresses->frames,
                                           .process = user.process,
                                           .first_return = 1};
        stack.count = etwas_unwind(addresses->unwinder, &user,
                                   record->EventHeader.TimeStamp.QuadPart, addresses->frames);
    }
    return stack;
}

void etwas_addresses_print_stack(struct etwas_output *output, enum etwas_text_style style,
                                 struct etwas_addresses *addresses,
                                 const struct etwas_event_stack *stack, int64_t time,
                                 const char *between)
{
    struct etwas_address address = {.time = time, .process = stack->process};

    for (uint32_t i = 0; i < stack->count; i++) {
        struct etwas_place place;

        address.value = etwas_event_frame(stack, i);
        address.is_return = i >= stack->first_return;
        etwas_output_text(output, i > 0 ? between : "");
        place = etwas_addresses_find(addresses, &address);
        for (uint32_t k = 0; k < place.inlined.count; k++) {
            put_text(output, style, place.inlined.functions[k]);
            etwas_output_text(output, " (inlined) in ");
            put_text(output, style, place.image);
            etwas_output_text(output, between);
        }
        etwas_addresses_print(output, style, addresses, &address);
    }
}
