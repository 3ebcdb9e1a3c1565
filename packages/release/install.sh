#!/bin/sh
# Installs `stockade` @VERSION@ for the user who runs it, without root.
#
#   sh install.sh [--dir DIR] [--version VERSION] [--dry-run] [--require-signature]
#   sh install.sh --uninstall
#
# It downloads the list of checksums, its signature and one archive, checks both, and renames the program into its directory.
# Nothing else is downloaded, and nothing that was downloaded runs before it was checked.
#
# STOCKADE_BASE_URL   directory of a mirror that has the files of the release; otherwise those at @REPOSITORY@
set -eu

# All of it is in functions, so that a script that was cut off on its way does nothing.

version=@VERSION@
repository=@REPOSITORY@
# Ed25519, as minisign writes it. The signature of SHA256SUMS has to be made by this key.
public_key='@PUBLIC_KEY@'

fail() {
    echo "install.sh: $1" >&2
    if [ $# -gt 1 ]; then echo "help: $2" >&2; fi
    exit 1
}

say() { echo "$1" >&2; }

has() { command -v "$1" >/dev/null 2>&1; }

usage() {
    cat <<END
Install stockade $version for the current user, without root

Usage: install.sh [OPTIONS]

  --dir DIR             directory of the program (default: ~/.local/bin)
  --version VERSION     another version than $version; latest: the newest, unless that is older than the installed one
  --dry-run             download and check, print what would be written, and write nothing
  --require-signature   fail when neither minisign nor openssl can check the signature
  --uninstall           delete what the installer wrote
  -h, --help            print help

STOCKADE_BASE_URL names the directory of a mirror.
END
}

parse() {
    dir='' dry_run=no uninstall=no require_signature=no
    while [ $# -gt 0 ]; do
        case $1 in
        --dir | --version)
            if [ -z "${2:-}" ]; then fail "$1 needs a value" "install.sh --help"; fi
            if [ "$1" = --dir ]; then dir=$2; else version=${2#v}; fi
            shift
            ;;
        --dry-run) dry_run=yes ;;
        --require-signature) require_signature=yes ;;
        --uninstall) uninstall=yes ;;
        -h | --help) usage && exit 0 ;;
        *) fail "unknown option $1" "install.sh --help" ;;
        esac
        shift
    done
    # It becomes part of an address and of names of files.
    case $version in
    '' | *[!0-9A-Za-z.+-]*) fail "invalid version $version" "write it as in 0.1.0" ;;
    esac
    [ -n "${HOME:-}" ] || fail "HOME is not set"
    if [ -z "$dir" ]; then dir=$HOME/.local/bin; fi
    case $dir in /*) ;; *) dir=$(pwd)/$dir ;; esac
    # Which files are ours. `stockade self update` reads it as well.
    receipt=${XDG_DATA_HOME:-$HOME/.local/share}/stockade/installed
}

# The triple of Rust by which releases are named.
platform() {
    system=$(uname -s) machine=$(uname -m)
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) machine=unknown ;;
    esac
    case $system-$machine in
    Linux-unknown | Darwin-unknown) ;;
    Linux-*) triple=$machine-unknown-linux-gnu && return ;;
    Darwin-*) triple=$machine-apple-darwin && return ;;
    esac
    fail "no release for $(uname -s) on $(uname -m)" \
        "build it: cargo install --locked --git $repository stockade-cli (releases are for Linux and macOS, x86_64 and arm64)"
}

# fetch NAME: one file of the release, into the temporary directory.
fetch() {
    address=$base/$1
    # A mirror may be an address of the own network; without one, only TLS.
    if has curl; then
        if [ -n "${STOCKADE_BASE_URL:-}" ]; then protocols='=https,http'; else protocols='=https'; fi
        curl -fsSL --retry 2 --proto "$protocols" --proto-redir "$protocols" -o "$work/$1" "$address" ||
            fail "cannot download $address" "check the address and the proxy; STOCKADE_BASE_URL names a mirror"
    elif has wget; then
        wget -q -O "$work/$1" "$address" ||
            fail "cannot download $address" "check the address and the proxy; STOCKADE_BASE_URL names a mirror"
    else
        fail "curl and wget are missing" "install one of them"
    fi
}

sha256() {
    if has sha256sum; then
        sha256sum <"$1" | cut -d ' ' -f 1
    elif has shasum; then
        shasum -a 256 <"$1" | cut -d ' ' -f 1
    elif has openssl; then
        openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
    else
        fail "sha256sum, shasum and openssl are missing, so the download cannot be checked" "install one of them"
    fi
}

# Old and other versions of openssl have no Ed25519, which must not look like a wrong signature.
has_ed25519() {
    has openssl && has base64 || return 1
    case $(openssl version) in "OpenSSL 3."* | "OpenSSL 4."*) ;; *) return 1 ;; esac
}

# The format of minisign, by openssl: the hash of the list is signed, then that signature with its trusted comment.
check_by_openssl() {
    # The twelve bytes in front of a key in DER are sixteen letters of base64, so the key can be written behind them.
    key=$(printf %s "$public_key" | base64 -d | tail -c 32 | base64)
    printf -- '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA%s\n-----END PUBLIC KEY-----\n' "$key" >"$work/key.pem"
    sed -n 2p "$work/SHA256SUMS.minisig" | base64 -d >"$work/packet" || return 1
    tail -c 64 "$work/packet" >"$work/signature"
    openssl dgst -blake2b512 -binary -out "$work/hash" "$work/SHA256SUMS"
    openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/hash" -sigfile "$work/signature" \
        >/dev/null 2>&1
}

check_signature() {
    if [ -z "$public_key" ]; then
        unchecked="this installer has no public key"
    elif has minisign; then
        minisign -V -q -P "$public_key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" >/dev/null 2>&1 ||
            fail "the signature of SHA256SUMS is wrong: the files at $base are not those of the release"
        say "signature: checked by minisign" && return
    elif has_ed25519; then
        check_by_openssl ||
            fail "the signature of SHA256SUMS is wrong: the files at $base are not those of the release"
        say "signature: checked by openssl" && return
    else
        unchecked="minisign and openssl 3 are missing"
    fi
    if [ "$require_signature" = yes ]; then fail "cannot check the signature: $unchecked" "install minisign"; fi
    say "signature: not checked, $unchecked; the checksum is checked"
}

# older A B: whether version A is older than B.
older() {
    awk -v a="$1" -v b="$2" 'BEGIN {
        split(a, x, "[.+-]"); split(b, y, "[.+-]")
        for (i = 1; i <= 3; i++) if (x[i] + 0 != y[i] + 0) exit !(x[i] + 0 < y[i] + 0)
        exit 1
    }'
}

# The list is signed, and its archives carry their version. An old list is signed as well, so `latest` never goes back.
resolve_latest() {
    version=$(sed -n "s/^[0-9a-f]*  stockade-\(.*\)-$triple\.tar\.gz\$/\1/p" "$work/SHA256SUMS" | head -n 1)
    installed=$(sed -n 's/^version //p' "$receipt" 2>/dev/null || true)
    [ -n "$version" ] || fail "SHA256SUMS at $base lists no archive for $triple"
    if [ -n "$installed" ] && older "$version" "$installed"; then
        fail "the latest version at $base is $version, which is older than $installed" "another mirror: STOCKADE_BASE_URL"
    fi
    if [ "$version" = "$installed" ] && [ -x "$dir/stockade" ]; then say "stockade $version is the latest version" && exit 0; fi
}

check_list() {
    archive=stockade-$version-$triple.tar.gz
    listed=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
    [ -n "$listed" ] || fail "SHA256SUMS at $base does not list $archive" "is $version a version with a release?"
}

check_sum() {
    found=$(sha256 "$work/$archive")
    [ "$found" = "$listed" ] ||
        fail "the checksum of $archive is wrong: it is $found, and SHA256SUMS lists $listed" \
            "the download was cut off or changed: try again, or use another mirror"
    say "checksum:  checked"
}

unpack() {
    mkdir "$work/unpacked"
    tar -xzf "$work/$archive" -C "$work/unpacked"
    unpacked=$work/unpacked/stockade-$version-$triple
    if [ ! -f "$unpacked/stockade" ] || [ -L "$unpacked/stockade" ]; then fail "$archive has no program"; fi
    # A program that cannot start here must not replace one that does.
    says=$("$unpacked/stockade" --version 2>&1) || fail "the program does not run on this machine: $says"
    [ "$says" = "stockade $version" ] || fail "the program in $archive is \"$says\""
}

# Each file is complete under its name, or absent: written beside it, then renamed.
place() {
    new=$dir/.$2.$$
    cp "$1" "$new" && chmod 755 "$new" && mv -f "$new" "$dir/$2" && return
    rm -f "$new"
    fail "cannot write $dir/$2" "choose a directory of your own: --dir DIR"
}

install() {
    if ! mkdir -p "$dir" 2>/dev/null || [ ! -w "$dir" ]; then
        fail "cannot write to $dir" "choose a directory of your own: --dir DIR"
    fi
    mkdir -p "${receipt%/*}" 2>/dev/null || fail "cannot write to ${receipt%/*}" "XDG_DATA_HOME names another directory"
    # Remote backends are programs beside it.
    programs=stockade
    for program in e2b kubernetes; do
        if [ -f "$unpacked/stockade-backend-$program" ]; then programs="$programs stockade-backend-$program"; fi
    done
    for program in $programs; do place "$unpacked/$program" "$program"; done
    {
        echo "version $version"
        echo "from $base"
        for program in $programs; do echo "file $dir/$program"; done
    } >"$receipt.$$"
    mv -f "$receipt.$$" "$receipt"
    # For `stockade self update`, with the public key of this version.
    cp "$unpacked/install.sh" "$receipt.$$" && mv -f "$receipt.$$" "${receipt%/*}/install.sh"
    say "installed: $dir/stockade ($version)"
    case :${PATH:-}: in
    *":$dir:"*) ;;
    *) say "note: $dir is not in PATH; add this line to ~/.profile: export PATH=\"$dir:\$PATH\"" ;;
    esac
    say "next:      stockade install claude"
}

uninstall() {
    [ -f "$receipt" ] || fail "$receipt is missing: this installer installed nothing here" \
        "a package manager that installed stockade also removes it"
    say "note: hooks stay in the settings of agents, which then refuse each call; remove them first: stockade uninstall AGENT"
    while IFS= read -r line; do
        case $line in
        "file "*)
            if [ "$dry_run" = yes ]; then say "would delete ${line#file }"; else rm -f "${line#file }" && say "deleted ${line#file }"; fi
            ;;
        esac
    done <"$receipt"
    if [ "$dry_run" = no ]; then rm -f "$receipt" "${receipt%/*}/install.sh"; fi
}

main() {
    parse "$@"
    if [ "$uninstall" = yes ]; then uninstall && return; fi
    platform
    if [ "$version" = latest ]; then base=$repository/releases/latest/download; else base=$repository/releases/download/v$version; fi
    base=${STOCKADE_BASE_URL:-$base}
    base=${base%/}
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    say "download:  stockade $version for $triple from $base"
    fetch SHA256SUMS
    fetch SHA256SUMS.minisig
    check_signature
    if [ "$version" = latest ]; then resolve_latest; fi
    check_list
    fetch "$archive"
    check_sum
    unpack
    if [ "$dry_run" = yes ]; then
        say "dry run:   would write $dir/stockade and $receipt"
    else
        install
    fi
}

main "$@"
