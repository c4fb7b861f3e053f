/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_CURL_H
#define ETWAS_TOOLS_SHIP_WIRE_CURL_H

/*
 * libcurl, loaded at its first use. It comes with thirty other libraries, and loading these takes
 * ten times as long as the start of any other command.
 */

#include <curl/curl.h>
#include <stdbool.h>

/* The functions that are used: X(NAME) for curl_NAME. */
#define ETWAS_SHIP_CURL_FUNCTIONS(X)                                                               \
    X(global_init)                                                                                 \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(easy_cleanup)                                                                                \
    X(multi_init)                                                                                  \
    X(multi_add_handle)                                                                            \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_info_read)                                                                             \
    X(multi_remove_handle)                                                                         \
    X(multi_cleanup)                                                                               \
    X(slist_append)                                                                                \
    X(slist_free_all)

/*
 * libcurl's header defines these as macros that check types. They cannot be called through a
 * pointer.
 */
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct etwas_ship_curl {
#define ETWAS_SHIP_CURL_MEMBER(name) __typeof__(&curl_##name) name;
    ETWAS_SHIP_CURL_FUNCTIONS(ETWAS_SHIP_CURL_MEMBER)
#undef ETWAS_SHIP_CURL_MEMBER
};

/* Filled in by etwas_ship_curl_load; shared by all threads. */
extern struct etwas_ship_curl etwas_ship_curl;

/* Returns false if libcurl is missing, lacks a function, or cannot be initialized. */
bool etwas_ship_curl_load(void);

#endif
