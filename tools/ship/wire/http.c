/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* HTTP requests by libcurl. */

#include "ship/wire/http.h"

#include "math/array.h"
#include "ship/wait.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool etwas_ship_http_escape(char *query, size_t bytes, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = strlen(query);

    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;

        if (bytes - used < 4) {
            return false;
        }
        if (isalnum(byte) || strchr("-._~", byte) != NULL) {
            query[used++] = (char)byte;
        } else {
            query[used++] = '%';
            query[used++] = digits[byte >> 4];
            query[used++] = digits[byte & 15];
        }
    }
    query[used] = '\0';
    return true;
}

#ifdef ETWAS_LIBCURL

#include "ship/wire/curl.h"

#include <etwas/etwas.h>
#include <signal.h>
#include <strings.h>

static const struct etwas_ship_curl *const curl = &etwas_ship_curl;

struct etwas_ship_http {
    const struct etwas_ship_http_options *options;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *heads[2]; /* headers for a plain body and for gzip */
    char trouble[CURL_ERROR_SIZE];

    /* The current request. */
    const struct etwas_ship_request *request;
    struct etwas_ship_reply *reply;
    uint32_t piece; /* the next piece to send, and the offset in it */
    size_t offset;
    size_t head_bytes;
    bool head_too_long;
    bool body_too_long;

    /* The reply's text. */
    char *text;
    size_t room;
};

/*
 * SIGPIPE is ignored, so that OpenSSL's write to a closed connection fails instead of ending the
 * process.
 */
bool etwas_ship_http_begin(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    return etwas_ship_curl_load();
}

/* ---- what libcurl calls ---------------------------------------------------------------------- */

static size_t give_body(char *to, size_t size, size_t count, void *context)
{
    struct etwas_ship_http *http = context;
    const struct etwas_ship_request *request = http->request;
    size_t room = size * count;
    size_t given = 0;

    while (given < room && http->piece < request->piece_count) {
        const struct iovec *piece = &request->pieces[http->piece];
        size_t bytes = piece->iov_len - http->offset;

        if (bytes > room - given) {
            bytes = room - given;
        }
        if (bytes > 0) {
            memcpy(to + given, (const char *)piece->iov_base + http->offset, bytes);
        }
        given += bytes;
        http->offset += bytes;
        if (http->offset == piece->iov_len) {
            http->piece++;
            http->offset = 0;
        }
    }
    return given;
}

/*
 * Rewinds the body to its beginning. libcurl does that if a kept connection turns out to be closed.
 */
static int begin_again(void *context, curl_off_t offset, int origin)
{
    struct etwas_ship_http *http = context;

    if (offset != 0 || origin != SEEK_SET) {
        return CURL_SEEKFUNC_CANTSEEK;
    }
    http->piece = 0;
    http->offset = 0;
    return CURL_SEEKFUNC_OK;
}

static bool begins_with(const char *line, size_t bytes, const char *name)
{
    size_t length = strlen(name);

    return bytes >= length && strncasecmp(line, name, length) == 0;
}

/*
 * Takes a header line of the reply. A "100 Continue" has header lines of its own before the
 * reply's.
 */
static size_t take_head(char *line, size_t size, size_t count, void *context)
{
    static const char own[] = "X-ClickHouse-";
    static const char exception[] = "X-ClickHouse-Exception-Code:";
    struct etwas_ship_http *http = context;
    size_t bytes = size * count;

    http->head_bytes += bytes;
    if (http->head_bytes > ETWAS_SHIP_HEAD_BYTES) {
        http->head_too_long = true;
        return 0;
    }
    if (begins_with(line, bytes, own)) {
        http->reply->is_clickhouse = true;
    }
    if (begins_with(line, bytes, exception)) {
        char number[12] = "";
        size_t length = bytes - (sizeof exception - 1);

        memcpy(number, line + sizeof exception - 1,
               length < sizeof number - 1 ? length : sizeof number - 1);
        http->reply->exception = (uint32_t)strtoul(number, NULL, 10);
    }
    return bytes;
}

static size_t take_body(char *text, size_t size, size_t count, void *context)
{
    struct etwas_ship_http *http = context;
    struct etwas_ship_reply *reply = http->reply;
    size_t bytes = size * count;

    if (bytes > http->request->most_reply_bytes - reply->bytes) {
        http->body_too_long = true;
        return 0;
    }
    if (!etwas_array_reserve(&http->text, &http->room, reply->bytes + bytes + 1, 1)) {
        return 0;
    }
    memcpy(http->text + reply->bytes, text, bytes);
    reply->bytes += bytes;
    return bytes;
}

/* ---- a server -------------------------------------------------------------------------------- */

static bool add_head(struct curl_slist **heads, const char *name, const char *value)
{
    char line[ETWAS_SHIP_SECRET_BYTES + 32];
    struct curl_slist *more;

    /* "NAME;" means a header without a value to libcurl. */
    (void)snprintf(line, sizeof line, *value != '\0' ? "%s: %s" : "%s;", name, value);
    more = curl->slist_append(*heads, line);
    explicit_bzero(line, sizeof line);
    if (more != NULL) {
        *heads = more;
    }
    return more != NULL;
}

static bool add_heads(struct curl_slist **heads, const struct etwas_ship_secret *secret,
                      bool is_gzip)
{
    /*
     * Sends the body at once. Waiting for "100 Continue" takes a second if a server never sends it.
     */
    struct curl_slist *first = curl->slist_append(NULL, "Expect:");

    *heads = first;
    return first != NULL && add_head(heads, "Content-Type", "application/octet-stream") &&
           (!is_gzip || add_head(heads, "Content-Encoding", "gzip")) &&
           (!secret->is_there || (add_head(heads, "X-ClickHouse-User", secret->user) &&
                                  add_head(heads, "X-ClickHouse-Key", secret->password)));
}

static void free_heads(struct curl_slist *heads)
{
    for (struct curl_slist *head = heads; head != NULL; head = head->next) {
        explicit_bzero(head->data, strlen(head->data));
    }
    curl->slist_free_all(heads);
}

/*
 * Lets the process end although a resolver hangs, if libcurl supports that. An older one refuses
 * the option, which does not matter.
 */
static void set_up_end(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075700
    (void)curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
#endif
}

/*
 * Many builds of libcurl also trust a folder of the system's certificates. Builds that cannot use a
 * folder refuse the option, which is as good.
 */
static bool trust_no_folder(CURL *easy)
{
    const char *none = NULL;
    CURLcode code = curl->easy_setopt(easy, CURLOPT_CAPATH, none);

    return code == CURLE_OK || code == CURLE_NOT_BUILT_IN;
}

/* A file of certificates makes them the only ones that are trusted. */
static bool trust(CURL *easy, const char *ca)
{
    return ca == NULL ||
           (curl->easy_setopt(easy, CURLOPT_CAINFO, ca) == CURLE_OK && trust_no_folder(easy));
}

static bool set_up_tls(CURL *easy, const char *ca)
{
    return curl->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           trust(easy, ca);
}

static bool set_up(struct etwas_ship_http *http)
{
    static const char agent[] = "etwas/";
    CURL *easy = http->easy;
    char name[32];
    bool good;

    (void)snprintf(name, sizeof name, "%s%s", agent, etwas_version());
    set_up_end(easy);
    good = curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, http->trouble) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)ETWAS_SHIP_CONNECT_LIMIT_S) ==
               CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_USERAGENT, name) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_READFUNCTION, give_body) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_READDATA, http) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_SEEKFUNCTION, begin_again) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_SEEKDATA, http) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HEADERDATA, http) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_WRITEDATA, http) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 512L * 1024) == CURLE_OK;
    return good && (!http->options->address->is_tls || set_up_tls(easy, http->options->ca));
}

struct etwas_ship_http *etwas_ship_http_open(const struct etwas_ship_http_options *options)
{
    struct etwas_ship_http *http = calloc(1, sizeof *http);

    if (http == NULL) {
        return NULL;
    }
    http->options = options;
    http->multi = curl->multi_init();
    http->easy = curl->easy_init();
    if (http->multi == NULL || http->easy == NULL || !set_up(http) ||
        !add_heads(&http->heads[false], options->secret, false) ||
        !add_heads(&http->heads[true], options->secret, true)) {
        etwas_ship_http_close(http);
        return NULL;
    }
    return http;
}

void etwas_ship_http_close(struct etwas_ship_http *http)
{
    if (http == NULL) {
        return;
    }
    if (http->easy != NULL) {
        curl->easy_cleanup(http->easy);
    }
    if (http->multi != NULL) {
        (void)curl->multi_cleanup(http->multi);
    }
    free_heads(http->heads[false]);
    free_heads(http->heads[true]);
    free(http->text);
    free(http);
}

/* ---- a request ------------------------------------------------------------------------------- */

/*
 * Returns the timeout, which includes connecting. It also limits a server that sends a byte now and
 * then.
 */
static int64_t limit_ms(const struct etwas_ship_request *request)
{
    int64_t limit = request->limit_s * INT64_C(1000);
    int64_t left = request->deadline_ms - etwas_ship_now_ms();

    if (request->deadline_ms == 0 || left > limit) {
        return limit;
    }
    return left > 0 ? left : 1; /* 0 would mean no limit */
}

static bool begin(struct etwas_ship_http *http, const struct etwas_ship_request *request,
                  struct etwas_ship_reply *reply)
{
    const char *address = http->options->address->url;
    size_t bytes = strlen(address) + strlen(request->query) + 2;
    char *url = malloc(bytes);
    bool good;

    if (url == NULL) {
        return false;
    }
    (void)snprintf(url, bytes, "%s/%s", address, request->query);
    memset(reply, 0, sizeof *reply);
    http->request = request;
    http->reply = reply;
    http->head_bytes = 0;
    http->head_too_long = false;
    http->body_too_long = false;
    http->trouble[0] = '\0';
    (void)begin_again(http, 0, SEEK_SET);
    good = etwas_array_reserve(&http->text, &http->room, 1, 1) &&
           curl->easy_setopt(http->easy, CURLOPT_URL, url) == CURLE_OK &&
           curl->easy_setopt(http->easy, CURLOPT_HTTPHEADER, http->heads[request->is_gzip]) ==
               CURLE_OK &&
           curl->easy_setopt(http->easy, CURLOPT_TIMEOUT_MS, (long)limit_ms(request)) == CURLE_OK &&
           curl->easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->bytes) ==
               CURLE_OK &&
           curl->multi_add_handle(http->multi, http->easy) == CURLM_OK;
    free(url);
    return good;
}

/*
 * Runs the transfer until it ends. Returns true with *result if libcurl ended it. Otherwise
 * *stopped says whether `stop` became readable; the request then had a few seconds more.
 */
static bool transfer(struct etwas_ship_http *http, CURLcode *result, bool *stopped)
{
    struct curl_waitfd stop = {.fd = http->options->stop, .events = CURL_WAIT_POLLIN};
    int64_t until = INT64_MAX;
    int running = 1;
    int queued;
    const CURLMsg *message;

    while (curl->multi_perform(http->multi, &running) == CURLM_OK && running != 0 &&
           etwas_ship_now_ms() < until) {
        bool looks = stop.fd >= 0 && until == INT64_MAX;

        stop.revents = 0;
        if (curl->multi_poll(http->multi, &stop, looks ? 1 : 0, 1000, NULL) != CURLM_OK) {
            break;
        }
        if (looks && stop.revents != 0) {
            until = etwas_ship_now_ms() + ETWAS_SHIP_STOP_LIMIT_S * 1000;
        }
    }
    *stopped = running != 0 && until != INT64_MAX;
    message = curl->multi_info_read(http->multi, &queued);
    if (message == NULL || message->msg != CURLMSG_DONE) {
        return false;
    }
    *result = message->data.result;
    return true;
}

/* The beginning of an error text is sufficient, so a body that is too long is a reply then. */
static enum etwas_ship_came came(const struct etwas_ship_http *http, CURLcode result, long status)
{
    if (http->body_too_long && status >= 400) {
        return ETWAS_SHIP_CAME_REPLY;
    }
    switch (result) {
    case CURLE_OK:
        return ETWAS_SHIP_CAME_REPLY;
    case CURLE_PEER_FAILED_VERIFICATION:
        return ETWAS_SHIP_CAME_UNTRUSTED;
    case CURLE_SSL_CACERT_BADFILE:
        return ETWAS_SHIP_CAME_BAD_CA;
    default:
        return http->head_too_long || http->body_too_long ? ETWAS_SHIP_CAME_TOO_LONG
                                                          : ETWAS_SHIP_CAME_NOTHING;
    }
}

void etwas_ship_http_run(struct etwas_ship_http *http, const struct etwas_ship_request *request,
                         struct etwas_ship_reply *reply)
{
    CURLcode result = CURLE_OUT_OF_MEMORY;
    bool stopped;
    long status = 0;

    if (!begin(http, request, reply)) {
        memset(reply, 0, sizeof *reply);
        reply->came = ETWAS_SHIP_CAME_NOTHING;
        (void)snprintf(reply->trouble, sizeof reply->trouble, "not enough memory");
        return;
    }
    if (transfer(http, &result, &stopped)) {
        (void)curl->easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
        reply->came = came(http, result, status);
    } else {
        reply->came = stopped ? ETWAS_SHIP_CAME_STOP : ETWAS_SHIP_CAME_NOTHING;
    }
    (void)curl->multi_remove_handle(http->multi, http->easy);
    reply->status = (uint32_t)status;
    reply->text = http->text;
    reply->text[reply->bytes] = '\0';
    (void)snprintf(reply->trouble, sizeof reply->trouble, "%s",
                   http->trouble[0] != '\0' ? http->trouble : curl->easy_strerror(result));
}

#else

bool etwas_ship_http_begin(void)
{
    return false;
}

struct etwas_ship_http *etwas_ship_http_open(const struct etwas_ship_http_options *options)
{
    (void)options;
    return NULL;
}

void etwas_ship_http_close(struct etwas_ship_http *http)
{
    (void)http;
}

void etwas_ship_http_run(struct etwas_ship_http *http, const struct etwas_ship_request *request,
                         struct etwas_ship_reply *reply)
{
    (void)http;
    (void)request;
    memset(reply, 0, sizeof *reply);
    reply->came = ETWAS_SHIP_CAME_NOTHING;
}

#endif
