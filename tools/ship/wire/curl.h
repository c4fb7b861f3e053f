/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_CURL_H
#define ETWAS_TOOLS_SHIP_WIRE_CURL_H

/*
 * libcurl, loaded when it is used first: it comes with thirty other libraries, for which each of
 * the other commands would wait ten times as long as for itself.
 */

#include <curl/curl.h>
#include <stdbool.h>

/* What is used of it. X(NAME) of curl_NAME. */
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

/* libcurl's header makes these macros, which check types and cannot be called by a pointer. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct etwas_ship_curl {
#define ETWAS_SHIP_CURL_MEMBER(name) __typeof__(&curl_##name) name;
    ETWAS_SHIP_CURL_FUNCTIONS(ETWAS_SHIP_CURL_MEMBER)
#undef ETWAS_SHIP_CURL_MEMBER
};

/* Once it was loaded; the same for all threads. */
extern struct etwas_ship_curl etwas_ship_curl;

/* False: it is not there, or another one. */
bool etwas_ship_curl_load(void);

#endif
