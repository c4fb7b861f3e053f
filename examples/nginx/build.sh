#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Builds the module FOLDER/ngx_http_etwas_module.so for Debian's nginx (package nginx-dev), with the
# library of a build of etwas.
#
# usage: examples/nginx/build.sh [BUILD [FOLDER]]
#
#   BUILD   a build folder of etwas in which etwas_plain is built (build/default)
#   FOLDER  where the module is built; files there are reused (BUILD/examples/nginx)
#
# Exit code: 0 when it is built, 1 on failure, 77 when nginx-dev is missing.

set -euo pipefail

sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$sources/../.." && pwd)
build=$(cd "${1:-$root/build/default}" && pwd)
folder=${2:-$build/examples/nginx}
nginx=/usr/share/nginx/src

if [[ ! -e $nginx/conf_flags ]]; then
    echo "skipped: $nginx is missing (on Debian: apt-get install nginx-dev)" >&2
    exit 77
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# A module must be configured as its server is; nginx-dev has these flags. Debian's configure writes
# only into --builddir. It runs again only when its inputs have changed.
export ETWAS_CFLAGS="-I$root/include" \
    ETWAS_LIBS="-L$build/runtime -letwas-plain -Wl,-rpath,$build/runtime"
configured=$folder/configured
if [[ ! -e $configured || $sources/config -nt $configured ||
    $nginx/conf_flags -nt $configured ]]; then
    (
        cd "$nginx"
        # shellcheck source=/dev/null
        . ./conf_flags
        ./configure "${NGX_CONF_FLAGS[@]}" --with-cc-opt='-O2 -g -fPIC' \
            --with-ld-opt='-Wl,-z,relro -Wl,-z,now' \
            --add-dynamic-module="$sources" --builddir="$folder" >"$folder/configure.out" 2>&1
    ) || { tail -n 20 "$folder/configure.out" >&2; exit 1; }
    touch "$configured"
fi
make -s -C "$nginx" -f "$folder/Makefile" modules >"$folder/make.out" 2>&1 ||
    { cat "$folder/make.out" >&2; exit 1; }
