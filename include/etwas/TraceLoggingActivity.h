/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGINGACTIVITY_H
#define ETWAS_TRACELOGGINGACTIVITY_H

/*
 * Activities of a provider of TraceLoggingProvider.h, for C++17: Windows' TraceLoggingActivity.h. C
 * has spans in their place (tracelogging/span_c.h):
 *
 *     TraceLoggingSpanStart(request, shop, "Request", TraceLoggingString(path));
 *     TraceLoggingSpanStop(request, "Request", TraceLoggingUInt32(status));
 *
 * In C++:
 *
 *     TraceLoggingActivity<shop, 1, WINEVENT_LEVEL_INFO> request;
 *
 *     TraceLoggingWriteStart(request, "Request", TraceLoggingString(path));
 *     TraceLoggingWriteTagged(request, "Parsed");
 *     TraceLoggingWriteStop(request, "Request", TraceLoggingUInt32(status));
 *
 * Start gives the activity an id of its own, if a session may request its events, and writes an
 * event with that id and opcode 1. Stop writes one with opcode 2. Tagged, between them, writes one
 * with opcode 0. Start and Stop have the activity's level and keyword, which the arguments may
 * change as those of TraceLoggingWrite do. If no session requested an activity when it started, it
 * has no id. It then writes no Stop event, and Tagged uses the thread's id.
 *
 * An activity belongs to the program or library, as its provider does. A class of a library that
 * has one as a member or a base belongs to it too: g++ warns of it (-Wattributes) unless it is
 * compiled with -fvisibility=hidden, or has __attribute__((visibility("hidden"))).
 *
 * One thread at a time uses an object.
 */

#include <etwas/TraceLoggingProvider.h>

#ifdef __cplusplus

#include <string.h>

/* The common part of both kinds of activity; not for programs. */
template <auto &provider, uint64_t keyword, uint8_t level> class etwas_tracelogging_activity
{
  public:
    /* The keyword of the Start and Stop events. */
    static constexpr uint64_t Keyword = keyword;
    static constexpr uint8_t Level = level;

    TraceLoggingHProvider Provider() const
    {
        return provider;
    }

    /* Returns the activity's id, all 0 if it has none. */
    const etwas_guid *Id() const
    {
        return &id;
    }

    /* Returns whether the activity was started and not stopped. */
    bool IsStarted() const
    {
        return started;
    }

    /* The following functions are for the macros only. */

    const etwas_guid *etwas_tag() const
    {
        return has_id ? &id : nullptr;
    }

    bool etwas_has_id() const
    {
        return has_id;
    }

  protected:
    etwas_tracelogging_activity() = default;

    etwas_tracelogging_activity(etwas_tracelogging_activity &&other) noexcept
        : id(other.id), started(other.started), has_id(other.has_id)
    {
        other.forget();
    }

    etwas_tracelogging_activity &operator=(etwas_tracelogging_activity &&) = delete;

    /* Returns whether the activity gets an id. */
    bool begin()
    {
        started = true;
        has_id = TraceLoggingProviderEnabled(provider, level, keyword) != 0;
        return has_id;
    }

    void forget()
    {
        started = false;
        has_id = false;
        id = etwas_guid();
    }

    void write_default_stop()
    {
        ETWAS_TRACELOGGING_WRITE(provider, 0, 0, &id, nullptr, level, WINEVENT_OPCODE_STOP, keyword,
                                 "ActivityStoppedAutomatically", ~);
    }

    etwas_guid id = {};

  private:
    bool started = false;
    bool has_id = false;
};

/*
 * An activity of the events that name it. A related activity, if one is set before the start, is
 * recorded with the Start event.
 *
 * The provider is one of TRACELOGGING_DEFINE_PROVIDER or _DECLARE_PROVIDER, or a
 * `TraceLoggingHProvider` variable with linkage. An activity can be moved, but not copied. If it
 * was started and not stopped when its lifetime ends, an event "ActivityStoppedAutomatically" stops
 * it.
 */
template <auto &provider, uint64_t keyword = 0, uint8_t level = WINEVENT_LEVEL_VERBOSE>
class TraceLoggingActivity : public etwas_tracelogging_activity<provider, keyword, level>
{
  public:
    TraceLoggingActivity() = default;
    TraceLoggingActivity(TraceLoggingActivity &&) noexcept = default;

    ~TraceLoggingActivity()
    {
        if (this->etwas_has_id()) {
            this->write_default_stop();
        }
    }

    template <typename Activity> void SetRelatedActivity(const Activity &activity)
    {
        related = *activity.Id();
    }

    void SetRelatedActivityId(const etwas_guid &id)
    {
        related = id;
    }

    void SetRelatedActivityId(const etwas_guid *id)
    {
        related = *id;
    }

    /* The following functions are for the macros only. */

    void etwas_start()
    {
        if (this->begin()) {
            (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &this->id);
        }
    }

    void etwas_stop()
    {
        this->forget();
    }

    const etwas_guid *etwas_related() const
    {
        static constexpr etwas_guid none = {};

        return memcmp(&related, &none, sizeof none) != 0 ? &related : nullptr;
    }

  private:
    etwas_guid related = {};
};

/*
 * An activity of the thread that starts it. Between Start and Stop every event of the thread that
 * names no activity has its id, also events of other providers. The thread's previous activity is
 * the related one of the Start event, and the thread's again after Stop. The same thread calls
 * Stop, in the reverse order of the starts. Otherwise it is like TraceLoggingActivity.
 */
template <auto &provider, uint64_t keyword = 0, uint8_t level = WINEVENT_LEVEL_VERBOSE>
class TraceLoggingThreadActivity : public etwas_tracelogging_activity<provider, keyword, level>
{
  public:
    TraceLoggingThreadActivity() = default;
    TraceLoggingThreadActivity(TraceLoggingThreadActivity &&) noexcept = default;

    ~TraceLoggingThreadActivity()
    {
        if (this->etwas_has_id()) {
            this->write_default_stop();
            etwas_stop();
        }
    }

    /* The following functions are for the macros only. */

    void etwas_start()
    {
        if (this->begin()) {
            (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &this->id);
            before = this->id;
            (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &before);
        }
    }

    void etwas_stop()
    {
        if (this->etwas_has_id()) {
            (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &before);
        }
        this->forget();
    }

    const etwas_guid *etwas_related() const
    {
        static constexpr etwas_guid none = {};

        return memcmp(&before, &none, sizeof none) != 0 ? &before : nullptr;
    }

  private:
    etwas_guid before = {};
};

/*
 * Gives the thread an activity id for the lifetime of the object, and then the previous one again.
 */
class TraceLoggingThreadActivityIdSetter
{
  public:
    explicit TraceLoggingThreadActivityIdSetter(const etwas_guid *activityId) : before(*activityId)
    {
        (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &before);
    }

    explicit TraceLoggingThreadActivityIdSetter(const etwas_guid &activityId)
        : TraceLoggingThreadActivityIdSetter(&activityId)
    {
    }

    template <auto &provider, uint64_t keyword, uint8_t level>
    explicit TraceLoggingThreadActivityIdSetter(
        const TraceLoggingActivity<provider, keyword, level> &activity)
        : TraceLoggingThreadActivityIdSetter(activity.Id())
    {
    }

    TraceLoggingThreadActivityIdSetter(const TraceLoggingThreadActivityIdSetter &) = delete;
    TraceLoggingThreadActivityIdSetter &operator=(const TraceLoggingThreadActivityIdSetter &) =
        delete;

    ~TraceLoggingThreadActivityIdSetter()
    {
        (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &before);
    }

  private:
    etwas_guid before;
};

/*
 * Call Start once, then Tagged as often as needed, then Stop. The dots are the event's name and
 * arguments.
 */
#define TraceLoggingWriteStart(activity, ...)                                                      \
    do {                                                                                           \
        auto &etwas_tracelogging_started = (activity);                                             \
                                                                                                   \
        etwas_tracelogging_started.etwas_start();                                                  \
        if (etwas_tracelogging_started.etwas_has_id()) {                                           \
            ETWAS_TRACELOGGING_WRITE(                                                              \
                etwas_tracelogging_started.Provider(), 0, 0, etwas_tracelogging_started.Id(),      \
                etwas_tracelogging_started.etwas_related(),                                        \
                ETWAS_TRACELOGGING_OF_ACTIVITY(etwas_tracelogging_started, Level),                 \
                WINEVENT_OPCODE_START,                                                             \
                ETWAS_TRACELOGGING_OF_ACTIVITY(etwas_tracelogging_started, Keyword),               \
                ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), __VA_ARGS__);                               \
        }                                                                                          \
    } while (0)
#define TraceLoggingWriteTagged(activity, ...)                                                     \
    ETWAS_TRACELOGGING_WRITE((activity).Provider(), 0, 0, (activity).etwas_tag(), nullptr, 5, 0,   \
                             0, ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), __VA_ARGS__)
#define TraceLoggingWriteStop(activity, ...)                                                       \
    do {                                                                                           \
        auto &etwas_tracelogging_stopped = (activity);                                             \
                                                                                                   \
        if (etwas_tracelogging_stopped.etwas_has_id()) {                                           \
            ETWAS_TRACELOGGING_WRITE(                                                              \
                etwas_tracelogging_stopped.Provider(), 0, 0, etwas_tracelogging_stopped.Id(),      \
                nullptr, ETWAS_TRACELOGGING_OF_ACTIVITY(etwas_tracelogging_stopped, Level),        \
                WINEVENT_OPCODE_STOP,                                                              \
                ETWAS_TRACELOGGING_OF_ACTIVITY(etwas_tracelogging_stopped, Keyword),               \
                ETWAS_TRACELOGGING_FIRST(__VA_ARGS__), __VA_ARGS__);                               \
        }                                                                                          \
        etwas_tracelogging_stopped.etwas_stop();                                                   \
    } while (0)

#define ETWAS_TRACELOGGING_OF_ACTIVITY(activity, member)                                           \
    std::remove_reference_t<decltype(activity)>::member

#else
#include <etwas/tracelogging/span_c.h>
#endif

#endif
