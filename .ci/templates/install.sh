#!/bin/sh
# Installs Repertoire @VERSION@ for this user, without root:
#
#     curl -fsSL @URL@/releases/download/v@VERSION@/install.sh | sh
#
# The archive must have the checksum that is written here. REPERTOIRE_PREFIX names another directory than ~/.local,
# REPERTOIRE_DOWNLOADS another address of the archives.
set -eu

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# The C library of the binaries for Linux: glibc from 2.35 on. Elsewhere, a static one that cannot load libraries of toolsets.
libc() {
    version=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.\([0-9]*\).*/\1/p')
    if [ "${version:-0}" -ge 35 ]; then echo gnu; else echo musl; fi
}

target() {
    case $(uname -s)-$(uname -m) in
        Linux-x86_64 | Linux-amd64) echo "x86_64-unknown-linux-$(libc)" ;;
        Linux-aarch64 | Linux-arm64) echo "aarch64-unknown-linux-$(libc)" ;;
        Darwin-arm64) echo aarch64-apple-darwin ;;
        Darwin-x86_64) echo x86_64-apple-darwin ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m): cargo install repertoire-cli" ;;
    esac
}

sum_of() {
    case $1 in
        x86_64-unknown-linux-gnu) echo @x86_64-unknown-linux-gnu@ ;;
        x86_64-unknown-linux-musl) echo @x86_64-unknown-linux-musl@ ;;
        aarch64-unknown-linux-gnu) echo @aarch64-unknown-linux-gnu@ ;;
        aarch64-unknown-linux-musl) echo @aarch64-unknown-linux-musl@ ;;
        aarch64-apple-darwin) echo @aarch64-apple-darwin@ ;;
        x86_64-apple-darwin) echo @x86_64-apple-darwin@ ;;
    esac
}

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

download() { # ADDRESS FILE
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget --quiet --output-document "$2" "$1"
    else
        fail "neither curl nor wget is installed"
    fi
}

main() {
    prefix=${REPERTOIRE_PREFIX:-$HOME/.local}
    downloads=${REPERTOIRE_DOWNLOADS:-@URL@/releases/download/v@VERSION@}
    target=$(target)
    name=repertoire-v@VERSION@-$target
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    download "$downloads/$name.tar.gz" "$work/archive" || fail "cannot download $downloads/$name.tar.gz"
    [ "$(sha256 "$work/archive")" = "$(sum_of "$target")" ] || fail "$name.tar.gz has not the checksum of this release"
    tar -xzf "$work/archive" -C "$work"
    mkdir -p "$prefix/bin" "$prefix/share"
    # Beside it first: a program that runs cannot be written.
    cp "$work/$name/bin/repertoire" "$prefix/bin/.repertoire.new"
    mv "$prefix/bin/.repertoire.new" "$prefix/bin/repertoire"
    if [ -d "$work/$name/share" ]; then cp -R "$work/$name/share/." "$prefix/share/"; fi
    echo "installed $("$prefix/bin/repertoire" --version | head -n 1) as $prefix/bin/repertoire"
    case :$PATH: in
        *":$prefix/bin:"*) echo "next: repertoire init" ;;
        *) echo "next: add $prefix/bin to your PATH, and run: repertoire init" ;;
    esac
}

# Nothing runs before all of it is here.
main
