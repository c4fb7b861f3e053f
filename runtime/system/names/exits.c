/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/processes.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/machine.h"
#include "platform/processor.h"

enum {
    SOCKET_BYTES = 8 << 20, /* for thousands of exits between two drains */
    MESSAGE_BYTES = 16384,
    REQUEST_BYTES = 256,
    BYTES_PER_KB = 1024,
};

/* ---- attributes ------------------------------------------------------------------------------ */

struct attributes {
    const uint8_t *at;
    size_t left;
};

struct attribute {
    uint16_t type;
    struct attributes content;
};

static bool next_attribute(struct attributes *attributes, struct attribute *attribute)
{
    struct nlattr head;
    size_t padded;

    if (attributes->left < sizeof head) {
        return false;
    }
    memcpy(&head, attributes->at, sizeof head);
    if (head.nla_len < sizeof head || head.nla_len > attributes->left) {
        return false;
    }
    attribute->type = (uint16_t)(head.nla_type & NLA_TYPE_MASK);
    attribute->content =
        (struct attributes){attributes->at + sizeof head, head.nla_len - sizeof head};
    padded = NLA_ALIGN(head.nla_len);
    padded = padded < attributes->left ? padded : attributes->left;
    attributes->at += padded;
    attributes->left -= padded;
    return true;
}

static bool find_attribute(struct attributes attributes, uint16_t type, struct attributes *content)
{
    struct attribute attribute;

    while (next_attribute(&attributes, &attribute)) {
        if (attribute.type == type) {
            *content = attribute.content;
            return true;
        }
    }
    return false;
}

/* ---- the kernel's reports -------------------------------------------------------------------- */

static void take_statistics(struct etwas_exits *exits, struct attributes content)
{
    struct taskstats statistics = {0};

    memcpy(&statistics, content.at,
           content.left < sizeof statistics ? content.left : sizeof statistics);
    if (statistics.ac_pid != 0) {
        exits->kept[statistics.ac_pid % ETWAS_EXITS_KEPT] = (struct etwas_exit){
            .thread_id = statistics.ac_pid,
            .status = statistics.ac_exitcode,
            .counters = {.page_faults = statistics.ac_minflt + statistics.ac_majflt,
                         .peak_virtual_bytes = statistics.hiwater_vm * BYTES_PER_KB,
                         .peak_resident_bytes = statistics.hiwater_rss * BYTES_PER_KB,
                         .characters_read = statistics.read_char,
                         .characters_written = statistics.write_char,
                         .bytes_read = statistics.read_bytes,
                         .bytes_written = statistics.write_bytes}};
    }
}

static void take_message(struct etwas_exits *exits, struct attributes attributes)
{
    struct attributes aggregate;
    struct attributes statistics;

    if (find_attribute(attributes, TASKSTATS_TYPE_AGGR_PID, &aggregate) &&
        find_attribute(aggregate, TASKSTATS_TYPE_STATS, &statistics)) {
        take_statistics(exits, statistics);
    }
}

void etwas_exits_read(struct etwas_exits *exits, const void *message, size_t bytes)
{
    const uint8_t *at = message;
    struct nlmsghdr head;

    while (bytes >= sizeof head) {
        size_t padded;

        memcpy(&head, at, sizeof head);
        if (head.nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN || head.nlmsg_len > bytes) {
            return;
        }
        if (head.nlmsg_type == exits->family) {
            take_message(exits, (struct attributes){at + NLMSG_HDRLEN + GENL_HDRLEN,
                                                    head.nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN});
        }
        padded = NLMSG_ALIGN(head.nlmsg_len);
        padded = padded < bytes ? padded : bytes;
        at += padded;
        bytes -= padded;
    }
}

/*
 * If reports were lost, all kept ones are dropped: one of them might be taken for that of a later
 * thread with the same number.
 */
static void read_socket(struct etwas_exits *exits)
{
    uint8_t message[MESSAGE_BYTES] __attribute__((aligned(8)));

    for (int rounds = 0; rounds < ETWAS_EXITS_KEPT; rounds++) {
        ssize_t bytes = recv(exits->socket, message, sizeof message, MSG_DONTWAIT);

        if (bytes > 0) {
            etwas_exits_read(exits, message, (size_t)bytes);
        } else if (bytes < 0 && errno == ENOBUFS) {
            memset(exits->kept, 0, sizeof exits->kept);
        } else {
            return;
        }
    }
}

bool etwas_exits_remove(struct etwas_exits *exits, uint32_t thread_id, struct etwas_exit *exit)
{
    struct etwas_exit *kept;

    if (exits == NULL || thread_id == 0) {
        return false;
    }
    read_socket(exits);
    kept = &exits->kept[thread_id % ETWAS_EXITS_KEPT];
    if (kept->thread_id != thread_id) {
        return false;
    }
    *exit = *kept;
    kept->thread_id = 0;
    return true;
}

int32_t etwas_exit_status(uint32_t status)
{
    return WIFSIGNALED((int)status) ? -WTERMSIG((int)status) : WEXITSTATUS((int)status);
}

/* ---- requests -------------------------------------------------------------------------------- */

struct request {
    struct nlmsghdr head;
    struct genlmsghdr generic;
    struct nlattr attribute;
    char text[REQUEST_BYTES];
};

static bool ask(int socket_number, uint16_t family, uint8_t command, uint16_t attribute,
                const char *text)
{
    struct request request = {
        .head = {.nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
        .generic = {.cmd = command, .version = 1},
        .attribute = {.nla_type = attribute,
                      .nla_len = (uint16_t)(sizeof(struct nlattr) + strlen(text) + 1)}};

    (void)snprintf(request.text, sizeof request.text, "%s", text);
    request.head.nlmsg_len = (uint32_t)offsetof(struct request, attribute) +
                             (uint32_t)NLA_ALIGN(request.attribute.nla_len);
    return send(socket_number, &request, request.head.nlmsg_len, 0) ==
           (ssize_t)request.head.nlmsg_len;
}

/* Reads the attributes of the next answer. Returns false with errno on an error. */
static bool answer(int socket_number, uint8_t *message, struct attributes *attributes)
{
    struct nlmsghdr head;
    ssize_t bytes = recv(socket_number, message, MESSAGE_BYTES, 0);
    int32_t error;

    if (bytes < (ssize_t)(sizeof head + sizeof error)) {
        errno = bytes < 0 ? errno : EPROTO;
        return false;
    }
    memcpy(&head, message, sizeof head);
    memcpy(&error, message + sizeof head, sizeof error);
    if (head.nlmsg_type == NLMSG_ERROR) {
        *attributes = (struct attributes){0};
        errno = -error;
        return error == 0;
    }
    *attributes = (struct attributes){message + sizeof head + GENL_HDRLEN,
                                      (size_t)bytes - sizeof head - GENL_HDRLEN};
    return true;
}

static bool find_family(struct etwas_exits *exits)
{
    uint8_t message[MESSAGE_BYTES] __attribute__((aligned(8)));
    struct attributes attributes;
    struct attributes family;

    if (!ask(exits->socket, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
             TASKSTATS_GENL_NAME) ||
        !answer(exits->socket, message, &attributes) ||
        !find_attribute(attributes, CTRL_ATTR_FAMILY_ID, &family) ||
        family.left < sizeof exits->family) {
        return false;
    }
    memcpy(&exits->family, family.at, sizeof exits->family);
    return answer(exits->socket, message, &attributes); /* the acknowledgement */
}

/* Reports may come before the acknowledgement. EINVAL: the namespace is not the first one. */
static bool listen_everywhere(struct etwas_exits *exits)
{
    uint8_t message[MESSAGE_BYTES] __attribute__((aligned(8)));
    struct attributes attributes;
    char processors[REQUEST_BYTES];

    if (!etwas_this_machine.text(ETWAS_PROCESSORS_POSSIBLE, processors, sizeof processors)) {
        return false;
    }
    processors[strcspn(processors, "\n")] = 0;
    if (!ask(exits->socket, exits->family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK,
             processors)) {
        return false;
    }
    do {
        if (!answer(exits->socket, message, &attributes)) {
            errno = errno == EINVAL ? EPERM : errno;
            return false;
        }
        take_message(exits, attributes);
    } while (attributes.at != NULL);
    return true;
}

struct etwas_exits *etwas_exits_open(struct etwas_unavailability *reason)
{
    const struct timeval timeout = {.tv_sec = 1};
    const int bytes = SOCKET_BYTES;
    struct etwas_exits *exits = calloc(1, sizeof *exits);

    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_TASKSTATS, ENOMEM};
    if (exits == NULL) {
        return NULL;
    }
    exits->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (exits->socket >= 0) {
        (void)setsockopt(exits->socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
        (void)setsockopt(exits->socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        if (find_family(exits) && listen_everywhere(exits)) {
            return exits;
        }
    }
    reason->error = errno;
    etwas_exits_close(exits);
    return NULL;
}

void etwas_exits_close(struct etwas_exits *exits)
{
    if (exits != NULL && exits->socket >= 0) {
        (void)close(exits->socket);
    }
    free(exits);
}
