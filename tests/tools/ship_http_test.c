/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which servers a connection may trust: what libcurl is told, since what it does by itself differs
 * from one build of it to the next.
 */

#include "ship/wire/curl.h"
#include "ship/wire/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The last value of each that was set. */
static struct {
    const char *file;
    const char *folder;
    const char *proxy;
    long verifies_peer;
    long verifies_host;
    long follows;
} told;

static const char untold[] = "untold";

static CURLcode note_option(CURL *easy, CURLoption option, ...)
{
    va_list value;

    (void)easy;
    va_start(value, option);
    switch (option) {
    case CURLOPT_CAINFO:
        told.file = va_arg(value, const char *);
        break;
    case CURLOPT_CAPATH:
        told.folder = va_arg(value, const char *);
        break;
    case CURLOPT_PROXY:
        told.proxy = va_arg(value, const char *);
        break;
    case CURLOPT_SSL_VERIFYPEER:
        told.verifies_peer = va_arg(value, long);
        break;
    case CURLOPT_SSL_VERIFYHOST:
        told.verifies_host = va_arg(value, long);
        break;
    case CURLOPT_FOLLOWLOCATION:
        told.follows = va_arg(value, long);
        break;
    default:
        break;
    }
    va_end(value);
    return CURLE_OK;
}

static void open_and_close(const char *ca)
{
    const struct etwas_ship_address address = {
        .is_tls = true, .host = "db", .url = "https://db:8443"};
    const struct etwas_ship_secret secret = {.is_there = false};
    const struct etwas_ship_http_options options = {&address, &secret, ca, -1};
    struct etwas_ship_http *http;

    assert_true(etwas_ship_http_begin());
    etwas_ship_curl.easy_setopt = note_option;
    told.file = untold;
    told.folder = untold;
    told.proxy = untold;
    told.verifies_peer = -1;
    told.verifies_host = -1;
    told.follows = -1;
    http = etwas_ship_http_open(&options);
    assert_non_null(http);
    etwas_ship_http_close(http);
}

static void who_is_not_named_is_not_trusted(void **state)
{
    (void)state;
    open_and_close("our.pem");
    assert_string_equal(told.file, "our.pem");
    assert_null(told.folder); /* libcurl's own, which has all of the system's, is taken away */
    open_and_close(NULL);
    assert_ptr_equal(told.file, untold);
    assert_ptr_equal(told.folder, untold);
}

static void a_server_is_who_it_says_and_nobody_stands_between(void **state)
{
    (void)state;
    open_and_close(NULL);
    assert_int_equal(told.verifies_peer, 1);
    assert_int_equal(told.verifies_host, 2);
    assert_int_equal(told.follows, 0);
    assert_string_equal(told.proxy, ""); /* nor one that the environment names */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_not_named_is_not_trusted),
        cmocka_unit_test(a_server_is_who_it_says_and_nobody_stands_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
