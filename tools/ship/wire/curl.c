/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Loads libcurl by dlopen. The name is that of its ABI of 2006, which has only been extended since.
 */

#ifdef ETWAS_LIBCURL

#include "ship/wire/curl.h"

#include <dlfcn.h>
#include <string.h>

struct etwas_ship_curl etwas_ship_curl;

/*
 * ISO C cannot convert a data pointer to a function pointer. POSIX guarantees that both have the
 * same representation.
 */
static bool find_function(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    memcpy(function, &found, sizeof found);
    return found != NULL;
}

bool etwas_ship_curl_load(void)
{
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;

#define FIND(name) all = all && find_function(library, "curl_" #name, &etwas_ship_curl.name);
    ETWAS_SHIP_CURL_FUNCTIONS(FIND)
#undef FIND
    return all && etwas_ship_curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

#else

/* ISO C requires a declaration in each file. */
typedef int etwas_ship_has_no_curl;

#endif
