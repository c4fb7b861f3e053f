/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * spdlog's asynchronous logger with its defaults: a queue of 8,192 messages, one thread that
 * empties it, the default pattern. The words of `what`:
 *
 *     block | overrun    what happens when the queue is full: the caller waits, or the oldest
 *                        message is replaced
 *     null | file        a sink that only counts, or spdlog's basic_file_sink
 *
 * The 64 bytes are passed as text, spdlog's cheapest way for them.
 */
#include <spdlog/async.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "peer.h"

namespace
{

class counting_sink : public spdlog::sinks::base_sink<std::mutex>
{
  public:
    uint64_t messages = 0;

  protected:
    void sink_it_(const spdlog::details::log_msg &) override
    {
        messages++;
    }

    void flush_() override
    {
    }
};

constexpr std::size_t queue_messages = spdlog::details::default_async_q_size;

std::shared_ptr<spdlog::details::thread_pool> pool;
std::shared_ptr<spdlog::async_logger> logger;
std::shared_ptr<counting_sink> counter; /* null: the messages go to `path` */
std::string path;

uint64_t recorded_messages()
{
    if (counter) {
        return counter->messages;
    }

    std::ifstream file(path);
    std::string line;
    uint64_t lines = 0;

    while (std::getline(file, line)) {
        lines++;
    }
    return lines;
}

inline void log_u64_u32(uint64_t first, uint32_t second)
{
    logger->info("{} {}", first, second);
}

inline void log_blob64(const uint8_t *blob)
{
    logger->info(spdlog::string_view_t(reinterpret_cast<const char *>(blob), PEER_BLOB_BYTES));
}

} // namespace

bool peer_start(const char *what, const char *folder)
{
    auto policy = std::strstr(what, "overrun") != nullptr
                      ? spdlog::async_overflow_policy::overrun_oldest
                      : spdlog::async_overflow_policy::block;
    spdlog::sink_ptr sink;

    if (std::strstr(what, "file") != nullptr) {
        path = std::string(folder) + "/spdlog.log";
        sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, true);
    } else {
        counter = std::make_shared<counting_sink>();
        sink = counter;
    }
    pool = std::make_shared<spdlog::details::thread_pool>(queue_messages, 1);
    logger = std::make_shared<spdlog::async_logger>("etwas_peers", sink, pool, policy);
    return true;
}

/* The pool's destructor empties the queue and joins its thread. */
bool peer_stop(uint64_t attempted, struct peer_counts *counts)
{
    counts->lost = pool->overrun_counter();
    counts->known = true;
    pool.reset();
    logger.reset();
    if (recorded_messages() + counts->lost != attempted) {
        (void)std::fprintf(stderr, "messages are missing\n");
        return false;
    }
    return true;
}

bool peer_producer_begin(void)
{
    return true;
}

void peer_settle(void)
{
    while (pool->queue_size() != 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

PEER_LOOPS(log_u64_u32, log_blob64)
