#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Installs the Debian packages of the peers of etwas, if any is missing, and prints which peers
# bench/peers can then measure. Configure again afterwards: CMake builds only what it finds.

set -euo pipefail

folder=$(cd "$(dirname "$0")" && pwd)
"$folder/../../.ci/packages" peers

has() {
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true) == installed ]]
}

peer() {
    local name=$1 package
    shift
    for package in "$@"; do
        if ! has "$package"; then
            echo "$name: cannot be measured, $package is missing"
            return
        fi
    done
    echo "$name: can be measured"
    dpkg-query -W -f='    ${Package} ${Version}\n' "$@"
}

peer LTTng-UST lttng-tools liblttng-ust-dev
peer spdlog libspdlog-dev
peer babeltrace2 babeltrace2 lttng-tools liblttng-ust-dev
