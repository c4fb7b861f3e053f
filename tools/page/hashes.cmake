# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Writes a header file with the SHA-256 of files in base64, as in a content security policy.
#
# usage: cmake -DHEAD=FILE "-DFILES=NAME=PATH;..." -P hashes.cmake

set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)

# 32 bytes are ten times 24 bits, and 16 bits, which two zero bits extend to three letters.
function(base64_of hex result)
    set(text "")
    foreach(at RANGE 0 60 6)
        string(SUBSTRING "${hex}0" ${at} 6 part)
        string(LENGTH ${part} digits)
        math(EXPR bits "0x${part}")
        math(EXPR first "${digits} * 4 - 6")
        foreach(shift RANGE ${first} 0 -6)
            math(EXPR letter "(${bits} >> ${shift}) & 63")
            string(SUBSTRING ${alphabet} ${letter} 1 letter)
            string(APPEND text ${letter})
        endforeach()
    endforeach()
    set(${result} "${text}=" PARENT_SCOPE)
endfunction()

set(head "")
foreach(entry IN LISTS FILES)
    string(REGEX MATCH "^([^=]+)=(.+)$" entry "${entry}")
    file(SHA256 "${CMAKE_MATCH_2}" hex)
    set(name ${CMAKE_MATCH_1})
    base64_of(${hex} base64)
    string(APPEND head "#define ETWAS_PAGE_HASH_${name} \"sha256-${base64}\"\n")
endforeach()
file(WRITE "${HEAD}" "${head}")
