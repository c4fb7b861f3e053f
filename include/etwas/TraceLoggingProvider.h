/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGINGPROVIDER_H
#define ETWAS_TRACELOGGINGPROVIDER_H

/*
 * Events that describe themselves: Windows' TraceLoggingProvider.h, for C (of 2011) and C++17.
 *
 *     ETWAS_TRACELOGGING_PROVIDER(shop, "MyCompany.Shop");
 *
 *     TraceLoggingRegister(shop);
 *     TraceLoggingWrite(shop, "Order",
 *         TraceLoggingLevel(WINEVENT_LEVEL_INFO),
 *         TraceLoggingUInt32(price),
 *         TraceLoggingString(name, "Customer"));
 *     TraceLoggingUnregister(shop);
 *
 * Each event carries the names and types of its fields, so a reader needs only the file. The
 * compiler makes all of that, as constants. An event that no session requests costs a load and a
 * branch, and its arguments are not evaluated. Writing an event allocates no memory, takes no lock
 * and makes no system call, also in signal handlers.
 *
 * An event has up to 99 arguments in any order, and a comma after them if a program's own macro
 * leaves one there:
 *
 *     TraceLoggingLevel(n)        0 to 255, default 5 (verbose); the last one counts
 *     TraceLoggingKeyword(n)      64 bits, default 0; several are combined
 *     TraceLoggingOpcode(n)       0 to 255, default 0; the last one counts
 *     TraceLoggingChannel(n)      0 to 255, default 11, by which readers recognize such events
 *     TraceLoggingEventTag(n)     28 bits that the provider defines; several are combined
 *     TraceLoggingIdVersion(n, v) 16 and 8 bits, default 0; the last one counts
 *     TraceLoggingDescription("text"), TraceLoggingCustomAttribute("key", "value")
 *                                 for readers of the source
 *     fields                      tracelogging/fields.h
 *
 * Anything else in their place, such as a bare value, is an error with a sentence that says so, as
 * is a floating-point value in a field of integers.
 *
 * Everything except the data of fields is a constant, and names are literals. The data of an event
 * and its headers have at most 65,535 bytes. An event has at most 126 blocks of data: one for a
 * value, a string or a fixed array, two for data with a count or a length, three for the address of
 * a socket. More blocks are an error at compile time.
 */

#ifdef __cplusplus
#if __cplusplus < 201703L
#error "<etwas/TraceLoggingProvider.h> needs C++17: -std=c++17"
#endif
#elif defined(__STRICT_ANSI__) && __STDC_VERSION__ < 201112L
#error "<etwas/TraceLoggingProvider.h> needs C of 2011: -std=c11"
#endif

#include <etwas/evntprov.h>
#include <etwas/tracelogging/fields.h>
#include <etwas/winerror.h>
#include <etwas/winmeta.h>

/* ---- providers ------------------------------------------------------------------------------- */

/*
 * A provider's state. Its members are for the macros only. Sessions change the first four while
 * events are written, each by itself; EventWriteTransfer makes the final decision.
 */
struct etwas_tracelogging_provider {
    uint32_t level_limit; /* sessions may request events below this level; 0: none, 256: all */
    uint64_t match_any_keyword;
    uint64_t match_all_keyword;
    REGHANDLE handle;       /* the handle for writing events; 0: not yet, or no more */
    REGHANDLE registration; /* EventRegister's */
    const struct etwas_tracelogging_item *traits;
    etwas_guid id;
    PENABLECALLBACK callback; /* of TraceLoggingRegisterEx */
    void *callback_context;
};

/* A provider. It belongs to the program or the library that defines it. */
typedef struct etwas_tracelogging_provider *TraceLoggingHProvider;

/*
 * ETWAS_TRACELOGGING_PROVIDER(handle, "Name") defines an unregistered provider with this handle, at
 * file scope. The name is a literal. Its GUID is that of the name, as etwas_name_guid and `etwas
 * guid` compute it, so that sessions can enable the provider by its name alone.
 *
 * DEFINE_PROVIDER(handle, "Name", (guid), option) is Windows' form: the GUID is eleven numbers in
 * parentheses. The option may be missing. DECLARE_PROVIDER(handle) declares a provider of either
 * form in the other files of the program or library.
 *
 * DEFINE_PROVIDER_STORAGE(storage, "Name", (guid), option) defines a static variable in this file
 * or function; the handle is its address.
 */
#define TRACELOGGING_DECLARE_PROVIDER(handleVariable)                                              \
    extern struct etwas_tracelogging_provider handleVariable[1] ETWAS_TRACELOGGING_HIDDEN
#define TRACELOGGING_DEFINE_PROVIDER(handleVariable, ...)                                          \
    ETWAS_TRACELOGGING_TRAITS(etwas_tracelogging_traits_##handleVariable, __VA_ARGS__);            \
    TRACELOGGING_DECLARE_PROVIDER(handleVariable);                                                 \
    struct etwas_tracelogging_provider handleVariable[1] = {                                       \
        ETWAS_TRACELOGGING_STATE(etwas_tracelogging_traits_##handleVariable, __VA_ARGS__)}
#define ETWAS_TRACELOGGING_PROVIDER(handleVariable, name_text)                                     \
    TRACELOGGING_DEFINE_PROVIDER(handleVariable, name_text, (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
#define TRACELOGGING_DEFINE_PROVIDER_STORAGE(storageVariable, ...)                                 \
    ETWAS_TRACELOGGING_TRAITS(etwas_tracelogging_traits_##storageVariable, __VA_ARGS__);           \
    static struct etwas_tracelogging_provider storageVariable =                                    \
        ETWAS_TRACELOGGING_STATE(etwas_tracelogging_traits_##storageVariable, __VA_ARGS__)

/*
 * Hidden, so that the handle is not bound to one of the same name in another module, and its
 * address is near. In a program this holds anyway, and g++ would warn about each class that has an
 * activity of the provider.
 */
#if defined(__cplusplus) && !defined(__clang__) && (!defined(__PIC__) || defined(__PIE__))
#define ETWAS_TRACELOGGING_HIDDEN
#else
#define ETWAS_TRACELOGGING_HIDDEN __attribute__((__visibility__("hidden")))
#endif

/* The option: the provider belongs to the provider group with this GUID, eleven numbers. */
#define TraceLoggingOptionGroup(a, b, c, ...)                                                      \
    (19, 0, ETW_PROVIDER_TRAIT_TYPE_GROUP, (a)&0xFF, (a) >> 8 & 0xFF, (a) >> 16 & 0xFF,            \
     (a) >> 24 & 0xFF, (b)&0xFF, (b) >> 8 & 0xFF, (c)&0xFF, (c) >> 8 & 0xFF, __VA_ARGS__)

#define ETWAS_TRACELOGGING_STATE(traits, name_text, ...)                                           \
    ETWAS_TRACELOGGING_STATE_NOW(traits, __VA_ARGS__, ~)
#define ETWAS_TRACELOGGING_STATE_NOW(traits, guid, ...)                                            \
    {                                                                                              \
        0, 0, 0, 0, 0, &traits.item, ETWAS_TRACELOGGING_GUID guid, NULL, NULL                      \
    }
#define ETWAS_TRACELOGGING_GUID(a, b, c, ...)                                                      \
    {                                                                                              \
        a, b, c,                                                                                   \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* The dots are name, GUID and options. */
#define ETWAS_TRACELOGGING_TRAITS(variable, name_text, ...)                                        \
    ETWAS_TRACELOGGING_CONSTANT struct __attribute__((__aligned__(8))) {                           \
        struct etwas_tracelogging_item item;                                                       \
        struct {                                                                                   \
            uint8_t size[2];                                                                       \
            char name[sizeof(name_text)];                                                          \
            ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_TRAIT, __VA_ARGS__)                         \
            ETWAS_TRACELOGGING_CHECK_NAME(name_text)                                               \
        } traits;                                                                                  \
    } variable = {                                                                                 \
        {(uint16_t)sizeof variable, ETWAS_TRACELOGGING_ITEM_PROVIDER, 1,                           \
         (uint16_t)sizeof variable.traits},                                                        \
        {{sizeof variable.traits & 0xFF, sizeof variable.traits >> 8},                             \
         name_text ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_TRAIT_CONTENT, __VA_ARGS__)}}
#define ETWAS_TRACELOGGING_TRAIT(number, trait)                                                    \
    uint8_t trait_##number[ETWAS_TRACELOGGING_COUNT trait];
#define ETWAS_TRACELOGGING_TRAIT_CONTENT(number, trait)                                            \
    ,                                                                                              \
    {                                                                                              \
        ETWAS_TRACELOGGING_OPEN trait                                                              \
    }

/*
 * Returns whether a session may request events of this level and keyword; 0 for either means any.
 * It is false for a provider that is not registered. Lock-free and async-signal-safe.
 */
ETWAS_TRACELOGGING_INLINE int TraceLoggingProviderEnabled(TraceLoggingHProvider provider,
                                                          uint8_t level, uint64_t keyword)
{
    if (__builtin_expect(level >= __atomic_load_n(&provider->level_limit, __ATOMIC_RELAXED), 1)) {
        return 0;
    }
    if (keyword != 0) {
        uint64_t all = __atomic_load_n(&provider->match_all_keyword, __ATOMIC_RELAXED);

        return (keyword & __atomic_load_n(&provider->match_any_keyword, __ATOMIC_RELAXED)) != 0 &&
               (keyword & all) == all;
    }
    return 1;
}

/* Returns the provider's GUID; if it has none of its own, the GUID of its name. */
ETWAS_TRACELOGGING_INLINE etwas_guid TraceLoggingProviderId(TraceLoggingHProvider provider)
{
    const etwas_guid none = {0, 0, 0, {0}};
    etwas_guid id = provider->id;

    if (memcmp(&id, &none, sizeof id) == 0) {
        /* The traits are their size in 16 bits, then the name. */
        (void)etwas_name_guid((const char *)(provider->traits + 1) + sizeof(uint16_t), &id);
    }
    return id;
}

/* Enables descriptor types before the first event. Repeated calls change nothing. */
ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_open(TraceLoggingHProvider provider)
{
    uint8_t on = 1;

    (void)EventSetInformation(provider->registration, EventProviderUseDescriptorType, &on,
                              sizeof on);
    (void)EventSetInformation(provider->registration, EventProviderSetTraits,
                              (void *)(uintptr_t)(provider->traits + 1),
                              provider->traits->data_bytes);
    __atomic_store_n(&provider->handle, provider->registration, __ATOMIC_RELAXED);
}

/*
 * Receives the combined settings of all sessions. It may run within EventRegister, and opens the
 * provider for it.
 */
__attribute__((__unused__)) static void etwas_tracelogging_enable(
    const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t match_any_keyword,
    uint64_t match_all_keyword, EVENT_FILTER_DESCRIPTOR *filter, void *context)
{
    TraceLoggingHProvider provider = (TraceLoggingHProvider)context;

    if (__atomic_load_n(&provider->handle, __ATOMIC_RELAXED) == 0) {
        etwas_tracelogging_open(provider);
    }
    if (is_enabled == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
        uint32_t limit = level != 0 ? level + 1u : 256u;

        __atomic_store_n(&provider->match_any_keyword, match_any_keyword, __ATOMIC_RELAXED);
        __atomic_store_n(&provider->match_all_keyword, match_all_keyword, __ATOMIC_RELAXED);
        __atomic_store_n(&provider->level_limit, limit, __ATOMIC_RELAXED);
    } else if (is_enabled == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
        __atomic_store_n(&provider->level_limit, 0, __ATOMIC_RELAXED);
    }
    if (provider->callback != NULL) {
        provider->callback(source, is_enabled, level, match_any_keyword, match_all_keyword, filter,
                           provider->callback_context);
    }
}

/*
 * Registers a provider that is not registered: from here on its events go to the sessions that
 * enable it. A program may ignore the result, an HRESULT, which is not negative for success:
 * without a registration events go nowhere. The callback of RegisterEx is that of EventRegister.
 * Errors are those of EventRegister as HRESULT_FROM_WIN32.
 *
 * The function is not async-signal-safe. No other thread may register or unregister the same
 * provider meanwhile.
 */
ETWAS_TRACELOGGING_INLINE int32_t TraceLoggingRegisterEx(TraceLoggingHProvider provider,
                                                         PENABLECALLBACK callback, void *context)
{
    uint32_t code;

    provider->id = TraceLoggingProviderId(provider);
    provider->callback = callback;
    provider->callback_context = context;
    code =
        EventRegister(&provider->id, etwas_tracelogging_enable, provider, &provider->registration);
    if (code != ERROR_SUCCESS) {
        return HRESULT_FROM_WIN32(code);
    }
    etwas_tracelogging_open(provider);
    return 0;
}

ETWAS_TRACELOGGING_INLINE int32_t TraceLoggingRegister(TraceLoggingHProvider provider)
{
    return TraceLoggingRegisterEx(provider, NULL, NULL);
}

/*
 * Ends the registration, if there is one. Events then go nowhere, and the provider may be
 * registered again. The call waits as EventUnregister does. A library must make it before it is
 * unloaded.
 */
ETWAS_TRACELOGGING_INLINE void TraceLoggingUnregister(TraceLoggingHProvider provider)
{
    (void)EventUnregister(provider->registration);
    provider->registration = 0;
    __atomic_store_n(&provider->level_limit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&provider->handle, 0, __ATOMIC_RELAXED);
}

/* EventSetInformation for the registration. It returns the errors as an HRESULT. */
ETWAS_TRACELOGGING_INLINE int32_t TraceLoggingSetInformation(TraceLoggingHProvider provider,
                                                             EVENT_INFO_CLASS informationClass,
                                                             void *information, uint32_t bytes)
{
    uint32_t code =
        EventSetInformation(provider->registration, informationClass, information, bytes);

    return HRESULT_FROM_WIN32(code);
}

/* ---- what an event has besides its fields ---------------------------------------------------- */

#define TraceLoggingLevel(eventLevel)                                                              \
    (_none, (ETWAS_TRACELOGGING_CHECK_BITS(eventLevel, 0xFF, "TraceLogging: a level has 8 bits")), \
     _none, (), *0 + (eventLevel), , , , , , , ())
#define TraceLoggingChannel(eventChannel)                                                          \
    (_none,                                                                                        \
     (ETWAS_TRACELOGGING_CHECK_BITS(eventChannel, 0xFF, "TraceLogging: a channel has 8 bits")),    \
     _none, (), , *0 + (eventChannel), , , , , , ())
#define TraceLoggingOpcode(eventOpcode)                                                            \
    (_none,                                                                                        \
     (ETWAS_TRACELOGGING_CHECK_BITS(eventOpcode, 0xFF, "TraceLogging: an opcode has 8 bits")),     \
     _none, (), , , *0 + (eventOpcode), , , , , ())
#define TraceLoggingKeyword(eventKeyword) (_none, (), _none, (), , , , | (eventKeyword), , , , ())
#define TraceLoggingIdVersion(eventId, eventVersion)                                               \
    (_none,                                                                                        \
     (ETWAS_TRACELOGGING_CHECK_BITS(eventId, 0xFFFF, "TraceLogging: an id has 16 bits")            \
          ETWAS_TRACELOGGING_CHECK_BITS(eventVersion, 0xFF,                                        \
                                        "TraceLogging: a version has 8 bits")),                    \
     _none, (), , , , , *0 + (eventId), *0 + (eventVersion), , ())
#define TraceLoggingEventTag(eventTag)                                                             \
    (_none, (ETWAS_TRACELOGGING_CHECK_TAG(eventTag)), _none, (), , , , , , , | (eventTag), (, 4))
#define TraceLoggingDescription(description) ETWAS_TRACELOGGING_ARGUMENT(_none, (), _none, ())
#define TraceLoggingCustomAttribute(key, value) ETWAS_TRACELOGGING_ARGUMENT(_none, (), _none, ())

/* ---- events ---------------------------------------------------------------------------------- */

/*
 * TraceLoggingWrite(provider, "Event", arguments...): writes an event to every session that
 * requests it; the name is a literal. WriteActivity has two GUID pointers before the arguments: the
 * event's activity and a related one. Either may be NULL; without an activity the event has the
 * thread's. WriteEx has EventWriteEx's Filter and Flags before these two.
 *
 * It is a statement without a value: a session counts an event that it cannot take as lost. Like
 * EventWriteTransfer, it is thread-safe and async-signal-safe.
 *
 * ETWAS_TRACELOGGING_MANY writes several events of one moment in one call (tracelogging/many.h).
 */
#define TraceLoggingWrite(provider, ...)                                                           \
    ETWAS_TRACELOGGING_WRITE(provider, 0, 0, NULL, NULL, 5, 0, 0,                                  \
                             ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), __VA_ARGS__)
#define TraceLoggingWriteActivity(provider, eventName, pActivityId, ...)                           \
    TraceLoggingWriteEx(provider, eventName, 0, 0, pActivityId, __VA_ARGS__)
#define TraceLoggingWriteEx(provider, eventName, filter, flags, pActivityId, ...)                  \
    ETWAS_TRACELOGGING_WRITE(provider, filter, flags, pActivityId,                                 \
                             ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), 5, 0, 0, eventName,            \
                             __VA_ARGS__)

/* Level, opcode and keyword are defaults. The first of the dots is ignored. */
#define ETWAS_TRACELOGGING_WRITE(provider, filter, flags, activity, related, level, opcode,        \
                                 keyword, event_name, ...)                                         \
    ETWAS_TRACELOGGING_JOIN(ETWAS_TRACELOGGING_WRITE, ETWAS_TRACELOGGING_KIND(__VA_ARGS__))        \
    (provider, filter, flags, activity, related, level, opcode, keyword, event_name, __VA_ARGS__)

/* Rejects an argument that no macro for arguments made. */
#define ETWAS_TRACELOGGING_WRITE_bare(...)                                                         \
    do {                                                                                           \
        ETWAS_STATIC_ASSERT(0, "TraceLogging: an argument is a bare value: each is one of the "    \
                               "macros for fields, such as TraceLoggingUInt32(value) or "          \
                               "TraceLoggingValue(value), or TraceLoggingLevel and its like");     \
    } while (0)

#define ETWAS_TRACELOGGING_WRITE_lists(provider, filter, flags, activity, related, level, opcode,  \
                                       keyword, event_name, ...)                                   \
    do {                                                                                           \
        ETWAS_TRACELOGGING_DESCRIBE(etwas_tracelogging_event, level, opcode, keyword, event_name,  \
                                    __VA_ARGS__);                                                  \
        const TraceLoggingHProvider etwas_tracelogging_to = (provider);                            \
        if (TraceLoggingProviderEnabled(etwas_tracelogging_to,                                     \
                                        etwas_tracelogging_event.descriptor.Level,                 \
                                        etwas_tracelogging_event.descriptor.Keyword)) {            \
            ETWAS_TRACELOGGING_SEND(filter, flags, activity, related, __VA_ARGS__)                 \
        }                                                                                          \
    } while (0)

/* Adds the two items that describe an event. */
ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_add_items(
    struct etwas_tracelogging_list *list, TraceLoggingHProvider provider,
    const struct etwas_tracelogging_item *schema)
{
    etwas_tracelogging_add_typed(list, provider->traits, provider->traits->item_bytes,
                                 EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_ITEM);
    etwas_tracelogging_add_typed(list, schema, schema->item_bytes,
                                 EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM);
}

/* The first two descriptors of `data` are those of the items. */
ETWAS_TRACELOGGING_INLINE void etwas_tracelogging_send(
    TraceLoggingHProvider provider, const EVENT_DESCRIPTOR *descriptor,
    const struct etwas_tracelogging_item *schema, uint64_t filter, uint32_t flags,
    const etwas_guid *activity, const etwas_guid *related,
    const struct etwas_tracelogging_list *list, EVENT_DATA_DESCRIPTOR *data)
{
    REGHANDLE handle = __atomic_load_n(&provider->handle, __ATOMIC_RELAXED);
    uint32_t count = (uint32_t)(list->next - data);
    struct etwas_tracelogging_list items = {data, NULL, NULL};

    etwas_tracelogging_add_items(&items, provider, schema);
    if (filter == 0 && flags == 0) {
        (void)EventWriteTransfer(handle, descriptor, activity, related, count, data);
    } else {
        (void)EventWriteEx(handle, descriptor, filter, flags, activity, related, count, data);
    }
}

#define ETWAS_TRACELOGGING_CHECK_BLOCKS(blocks)                                                    \
    ETWAS_STATIC_ASSERT((blocks) <= MAX_EVENT_DATA_DESCRIPTORS,                                    \
                        "TraceLogging: an event has at most 126 blocks of data: one for a value "  \
                        "or a string, two for what has a count")

#ifdef __cplusplus
#define ETWAS_TRACELOGGING_SEND(filter, flags, activity, related, ...)                             \
    etwas_tracelogging_send_objects(                                                               \
        etwas_tracelogging_to, &etwas_tracelogging_event.descriptor,                               \
        &etwas_tracelogging_event.item, filter, flags, activity,                                   \
        related ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_OBJECT, __VA_ARGS__));

template <typename... Objects>
inline void etwas_tracelogging_send_objects(TraceLoggingHProvider provider,
                                            const EVENT_DESCRIPTOR *descriptor,
                                            const struct etwas_tracelogging_item *schema,
                                            uint64_t filter, uint32_t flags,
                                            const etwas_guid *activity, const etwas_guid *related,
                                            const Objects &...objects)
{
    constexpr unsigned blocks = (2 + ... + Objects::blocks);
    ETWAS_TRACELOGGING_CHECK_BLOCKS(blocks);
    EVENT_DATA_DESCRIPTOR data[blocks];
    alignas(8) uint8_t kept[ETWAS_TRACELOGGING_VALUE_BYTES * (1 + sizeof...(objects))];
    etwas_tracelogging_list list = {&data[2], nullptr, kept};

    (objects.add(&list), ...);
    etwas_tracelogging_send(provider, descriptor, schema, filter, flags, activity, related, &list,
                            data);
}
#else
#define ETWAS_TRACELOGGING_SEND(filter, flags, activity, related, ...)                             \
    ETWAS_TRACELOGGING_SEND_AS(&etwas_tracelogging_event.descriptor, filter, flags, activity,      \
                               related, __VA_ARGS__)
#define ETWAS_TRACELOGGING_SEND_AS(event_descriptor, filter, flags, activity, related, ...)        \
    EVENT_DATA_DESCRIPTOR etwas_tracelogging_data[2 ETWAS_TRACELOGGING_EACH(                       \
        ETWAS_TRACELOGGING_BLOCKS, __VA_ARGS__)];                                                  \
    const etwas_guid *const etwas_tracelogging_activity = (activity);                              \
    const etwas_guid *const etwas_tracelogging_related = (related);                                \
    ETWAS_TRACELOGGING_CHECK_BLOCKS(sizeof etwas_tracelogging_data /                               \
                                    sizeof etwas_tracelogging_data[0]);                            \
    ETWAS_TRACELOGGING_EACH(ETWAS_TRACELOGGING_CHECK, __VA_ARGS__)                                 \
    ETWAS_TRACELOGGING_OPERANDS(ETWAS_TRACELOGGING_COUNT(__VA_ARGS__))                             \
    uint8_t etwas_tracelogging_values[ETWAS_TRACELOGGING_VALUE_BYTES *                             \
                                      ETWAS_TRACELOGGING_COUNT(__VA_ARGS__)]                       \
        __attribute__((__aligned__(8)));                                                           \
    struct etwas_tracelogging_list etwas_tracelogging_list = {&etwas_tracelogging_data[2], NULL,   \
                                                              etwas_tracelogging_values};          \
    ETWAS_TRACELOGGING_ADD_ALL(__VA_ARGS__);                                                       \
    etwas_tracelogging_send(etwas_tracelogging_to, event_descriptor,                               \
                            &etwas_tracelogging_event.item, filter, flags,                         \
                            etwas_tracelogging_activity, etwas_tracelogging_related,               \
                            &etwas_tracelogging_list, etwas_tracelogging_data);
#endif

#include <etwas/tracelogging/many.h>

#endif
