#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Makes the Debian packages of a build, looks at what they contain and ask for, unpacks them, and
# builds and runs a program against what was unpacked.
#
# usage: deb_test.sh BUILD_FOLDER SOURCE_FOLDER VERSION ABI C_COMPILER

set -euo pipefail
build=$1 source=$2 version=$3 abi=$4 compiler=$5

for tool in dpkg-shlibdeps dpkg-deb file; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: there is no $tool"
        exit 77
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

(cd "$build" && cpack -G DEB -B "$work/packages") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
rm -rf "$work/packages/_CPack_Packages"

# expect PACKAGE DEPENDENCY... -- FILE...: what it asks for among other things, and has among other
# files.
expect() {
    local package=$1 deb depends files
    shift
    deb=$(echo "$work/packages/${package}_${version}"_*.deb)
    [[ -f $deb ]] || fail "there is no package $package"
    depends=", $(dpkg-deb -f "$deb" Depends),"
    files=$(dpkg-deb --fsys-tarfile "$deb" | tar -t)
    while [[ $1 != -- ]]; do
        [[ $depends == *", $1"[\ ,]* ]] || fail "$package does not depend on $1 but on${depends}"
        shift
    done
    shift
    for file in "$@" "share/doc/$package/copyright"; do
        grep -qE "^\./usr/$file$" <<<"$files" || fail "$package does not contain /usr/$file"
    done
    ! grep -vE '^\./usr/|^\./$' <<<"$files" || fail "$package has files outside /usr"
    dpkg-deb -x "$deb" "$work/root"
    echo "ok: $package, $(grep -vc '/$' <<<"$files") files"
}
same=" (= $version)"
expect "libetwas$abi" libc6 libck0 -- "lib/.*libetwas\.so\.$abi"
expect "libetwas-plain$abi" libc6 libck0 -- "lib/.*libetwas-plain\.so\.$abi"
expect "libetwas-clocks$abi" libc6 "libetwas$abi$same" -- "lib/.*libetwas-clocks\.so\.$abi"
expect "libetwas-tdh$abi" libc6 -- "lib/.*libetwas-tdh\.so\.$abi"
expect libetwas-dev "libetwas$abi$same" "libetwas-plain$abi$same" "libetwas-clocks$abi$same" \
    "libetwas-tdh$abi$same" libck-dev libexpat1-dev -- 'lib/.*libetwas-tdh\.a' \
    'include/etwas/decode\.h' \
    'include/etwas/etwas\.h' 'lib/.*libetwas\.so' 'lib/.*libetwas-plain\.so' \
    'lib/.*libetwas-clocks\.so' \
    'lib/.*libetwas\.a' 'lib/.*libetwas-clocks\.a' 'lib/.*pkgconfig/etwas\.pc' \
    'lib/.*cmake/etwas/etwasConfig\.cmake'
expect etwas libc6 "libetwas$abi$same" "libetwas-clocks$abi$same" "libetwas-tdh$abi$same" \
    -- 'bin/etwas' 'bin/etwas-host' \
    'lib/systemd/system/etwas@\.service' 'lib/systemd/user/etwas@\.service' \
    'lib/systemd/system/etwas-ship\.service' \
    'share/doc/etwas/examples/shop\.autologger' 'share/doc/etwas/examples/ship\.conf'
# Whatever has a copy of d3 has its license.
if grep -q 'https://d3js.org' "$work/root/usr/bin/etwas"; then
    grep -q 'Mike Bostock' "$work/root/usr/share/doc/etwas/copyright" ||
        fail "etwas lacks the license of d3"
fi

pc=$(find "$work/root" -name etwas.pc)
read -ra options <<<"$(PKG_CONFIG_PATH=${pc%/*} pkg-config --cflags --libs etwas)"
"$compiler" "$source/examples/quickstart.c" -o "$work/quickstart" "${options[@]}"
LD_LIBRARY_PATH=${pc%/pkgconfig/*} "$work/quickstart" "$work/quickstart.etl" |
    grep -q ': 1000 events, 0 lost' || fail "the quickstart did not record"
"$work/root/usr/bin/etwas" stat "$work/quickstart.etl" >/dev/null ||
    fail "the unpacked command did not read it"
echo "ok: the quickstart runs with what was unpacked"
