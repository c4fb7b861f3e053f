#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Compiles programs that include the public headers: with every warning, alone, together, and beside
# headers that bring their own Windows names.
#
# usage: compile_test.sh language INCLUDE_FOLDER COMPILER c|c++ STANDARD
#        compile_test.sh beside INCLUDE_FOLDER unixodbc|pcsclite|winpr|x11
#
# Exits with 77 where the compiler or the package is not installed.

set -euo pipefail

mode=$1
include=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Werror)
failed=0

# check WHAT COMMAND...: runs the command and says what failed.
check() {
    local what=$1
    shift
    if ! "$@"; then
        echo "FAILED: $what: $*" >&2
        failed=1
    fi
}

skip() {
    echo "skipped: $1"
    exit 77
}

# The symbols an object needs, but for what compilers add by themselves.
needs() {
    nm --undefined-only --format=posix "$1" |
        sed 's/ .*//' | grep -Ev '^(_GLOBAL_OFFSET_TABLE_|__(asan|tsan|ubsan)_.*)$' | sort || true
}

test_language() {
    local compiler=$1 language=$2 standard=$3
    command -v "$compiler" >/dev/null || skip "$compiler is not installed"
    local compile=("$compiler" -x "$language" "-std=$standard" "${warnings[@]}" "-I$include")
    local header program define suffix

    # Each header stands alone, and may be included twice.
    while read -r header; do
        printf '#include <%s>\n#include <%s>\nextern int nothing;\n' "$header" "$header" \
            >"$work/alone"
        check "$header alone" "${compile[@]}" -fsyntax-only "$work/alone"
        check "$header alone" "${compile[@]}" -DETWAS_NO_WINDOWS_TYPES -fsyntax-only "$work/alone"
    done < <(cd "$include" && find etwas -name '*.h' | sort)

    # BOOL comes with the Windows names alone.
    for header in "$include"/etwas/windows/*.h; do
        printf '#include "%s"\nextern BOOL nothing;\n' "$header" >"$work/bool"
        check "BOOL of $header" "${compile[@]}" -fsyntax-only "$work/bool"
    done

    for define in NOTHING ETWAS_NO_WINDOWS_TYPES UNICODE _UNICODE INITGUID; do
        check "every header with $define" \
            "${compile[@]}" "-D$define" -fsyntax-only "$here/compile/every_header.c"
    done
    for program in no_windows_types own_identifiers; do
        check "$program" "${compile[@]}" -fsyntax-only "$here/compile/$program.c"
    done
    for define in INITGUID=1 UNICODE; do
        check "a Windows program with $define" "${compile[@]}" "-I$include/etwas/windows" \
            "-D$define" -fsyntax-only "$here/compile/windows_style.c"
    done

    # Every symbol has our prefix; the unsuffixed names are bound to A, or to W under UNICODE.
    check "labels" "${compile[@]}" -c "$here/compile/labels.c" -o "$work/all.o"
    if needs "$work/all.o" | grep -v '^etwas_'; then
        echo "FAILED: these symbols have no label" >&2
        failed=1
    fi
    for suffix in A W; do
        define=NOTHING
        [[ $suffix == A ]] || define=UNICODE
        check "labels with $define" "${compile[@]}" -DONLY_UNSUFFIXED "-D$define" \
            -c "$here/compile/labels.c" -o "$work/$suffix.o"
        printf "etwas_%s$suffix\n" ControlTrace FlushTrace OpenTrace QueryTrace RegisterTraceGuids \
            StartTrace StopTrace | LC_ALL=C sort >"$work/expected"
        check "unsuffixed names are bound to $suffix" \
            diff "$work/expected" <(needs "$work/$suffix.o" | LC_ALL=C sort)
    done
}

test_beside() {
    local host=$1 header package folder define language compiler
    local -A languages=([gcc]="c c11" [clang]="c c17" [g++]="c++ c++17" [clang++]="c++ c++17")
    case $host in
    unixodbc) header=sql.h package=unixodbc-dev module=odbc define=BESIDE_UNIXODBC ;;
    pcsclite) header=winscard.h package=libpcsclite-dev module=libpcsclite define=BESIDE_PCSCLITE ;;
    winpr) header=winpr/wtypes.h package=libwinpr2-dev module=winpr2 define=BESIDE_WINPR ;;
    x11) header=X11/Xmd.h package=x11proto-dev module=xproto ;;
    *)
        echo "no host is called '$host'" >&2
        exit 2
        ;;
    esac
    # As system headers: their warnings are not ours.
    read -ra flags <<<"$(pkg-config --cflags-only-I "$module" 2>/dev/null | sed 's/-I/-isystem /g')"

    local tried=0
    for compiler in gcc clang g++ clang++; do
        command -v "$compiler" >/dev/null || continue
        read -r language standard <<<"${languages[$compiler]}"
        local compile=("$compiler" -x "$language" "-std=$standard" "${flags[@]}")
        if ! "${compile[@]}" -E -include "$header" /dev/null >/dev/null 2>&1; then
            skip "$header is not installed (Debian: $package)"
        fi
        tried=1
        if [[ $host == x11 ]]; then
            for define in ETWAS_FIRST X11_FIRST; do
                check "$define beside X11" "${compile[@]}" "${warnings[@]}" "-I$include" \
                    "-D$define" -fsyntax-only "$here/compile/beside_x11.c"
            done
            continue
        fi
        check "every header beside $host" "${compile[@]}" "${warnings[@]}" "-I$include" \
            "-D$define" \
            -DETWAS_NO_WINDOWS_TYPES -fsyntax-only "$here/compile/every_header.c"
    done
    [[ $tried -eq 1 ]] || skip "no compiler is called gcc or clang"
}

shift 2
case $mode in
language) test_language "$@" ;;
beside) test_beside "$@" ;;
*)
    echo "no mode is called '$mode'" >&2
    exit 2
    ;;
esac
exit "$failed"
