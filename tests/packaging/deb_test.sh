#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# Makes the Debian packages of the sources as they stand, looks at what they contain and ask for,
# has lintian look at them, unpacks them, and builds and runs a program against what was unpacked.
#
# usage: deb_test.sh SOURCE_FOLDER VERSION ABI C_COMPILER

set -euo pipefail
source=$1 version=$2 abi=$3 compiler=$4

for tool in dpkg-buildpackage dpkg-checkbuilddeps dh; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: there is no $tool (.ci/packages deb)"
        exit 77
    fi
done
if ! lacks=$(dpkg-checkbuilddeps "$source/packaging/debian/control" 2>&1); then
    echo "skipped: ${lacks#*error: } (.ci/packages build deb)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# A compiler that the tests are built with is not the package's.
env -u CC -u CXX nice "$source/packaging/deb.sh" --as-is "$work/packages" >/dev/null
changes=("$work/packages"/*.changes)
full=$(sed -n 's/^Version: //p' "${changes[0]}")
[[ $full == "$version"-* ]] || fail "packaging/debian/changelog has $full, CMakeLists.txt $version"
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "${changes[0]}" 2>&1 || fail "lintian found errors"
else
    echo "note: there is no lintian (.ci/packages deb)"
fi

# expect PACKAGE DEPENDENCY... -- FILE...: what it asks for among other things, and has among other
# files. Units are where systemd of this release looks for them.
expect() {
    local package=$1 deb depends files
    shift
    deb=$(echo "$work/packages/${package}_${full}"_*.deb)
    [[ -f $deb ]] || fail "there is no package $package"
    depends=", $(dpkg-deb -f "$deb" Depends),"
    [[ $depends != *jemalloc* ]] || fail "$package depends on jemalloc:${depends}"
    files=$(dpkg-deb --fsys-tarfile "$deb" | tar -t)
    while [[ $1 != -- ]]; do
        [[ $depends == *", $1"[\ ,]* ]] || fail "$package does not depend on $1 but on${depends}"
        shift
    done
    shift
    for file in "$@" "share/doc/$package/copyright" "share/doc/$package/changelog\.gz"; do
        grep -qE "^\./(usr/)?$file$" <<<"$files" || fail "$package does not contain /usr/$file"
    done
    ! grep -vE '^\./usr/|^\./(lib/(systemd/(system/.*)?)?)?$' <<<"$files" ||
        fail "$package has files outside /usr"
    dpkg-deb -x "$deb" "$work/root"
    echo "ok: $package, $(grep -vc '/$' <<<"$files") files"
}
same=" (= $full)"
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
    'lib/.*cmake/etwas/etwasConfig\.cmake' 'share/man/man3/StartTraceA\.3\.gz' \
    'share/doc/libetwas-dev/examples/quickstart\.c'
expect etwas libc6 "libetwas$abi$same" "libetwas-clocks$abi$same" "libetwas-tdh$abi$same" libdw1 \
    libjansson4 zlib1g -- 'bin/etwas' 'bin/etwas-host' 'share/man/man1/etwas\.1\.gz' \
    'share/man/man1/etwas-dump\.1\.gz' 'share/man/man1/etwas-host\.1\.gz' \
    'share/bash-completion/completions/etwas' 'share/zsh/vendor-completions/_etwas' \
    'share/fish/vendor_completions\.d/etwas\.fish' \
    'lib/systemd/system/etwas@\.service' 'lib/systemd/user/etwas@\.service' \
    'lib/systemd/system/etwas-ship\.service' 'share/doc/etwas/howto/install\.md' \
    'share/doc/etwas/reference/json\.md' 'share/doc/etwas/README\.md' \
    'share/doc/etwas/examples/shop\.autologger' 'share/doc/etwas/examples/ship\.conf'

# What is copied in is named, and its license is there.
for pair in "libetwas$abi=jemalloc=Jason Evans" "etwas=node-d3=Mike Bostock"; do
    IFS='=' read -r package copied holder <<<"$pair"
    deb=$(echo "$work/packages/${package}_${full}"_*.deb)
    [[ $(dpkg-deb -f "$deb" Static-Built-Using) == "$copied (= "* ]] ||
        fail "$package does not say that it has a copy of $copied"
    grep -q "$holder" "$work/root/usr/share/doc/$package/copyright" ||
        fail "$package lacks the license of $copied"
done
dpkg-deb --ctrl-tarfile "$work/packages/etwas_${full}"_*.deb | tar -xO ./postinst |
    grep -q "deb-systemd-invoke.*'etwas-ship.service'" || fail "nothing restarts etwas-ship"
while read -r file; do
    ! readelf -d "$file" 2>/dev/null | grep -E 'RPATH|RUNPATH' || fail "$file has an rpath"
done < <(find "$work"/root/usr/{bin,lib} -type f \( -name 'etwas*' -o -name '*.so.*' \))

pc=$(find "$work/root" -name etwas.pc)
read -ra options <<<"$(PKG_CONFIG_PATH=${pc%/*} pkg-config --cflags --libs etwas)"
"$compiler" "$source/examples/quickstart.c" -o "$work/quickstart" "${options[@]}"
export LD_LIBRARY_PATH=${pc%/pkgconfig/*}
"$work/quickstart" "$work/quickstart.etl" | grep -q ': 1000 events, 0 lost' ||
    fail "the quickstart did not record"
"$work/root/usr/bin/etwas" stat "$work/quickstart.etl" >/dev/null ||
    fail "the unpacked command did not read it"
echo "ok: the quickstart runs with what was unpacked"
