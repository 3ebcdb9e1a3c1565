#!/usr/bin/env bash
# Puts the program of the release into a directory; builds it from these sources where that fails. The action and the hook for
# pre-commit use it: packages/action/fetch.sh DIRECTORY
# Both ways end with a program that was checked: by its checksum and signature, or by the commit of these sources.
set -euo pipefail
sources=$(cd "$(dirname "$0")/../.." && pwd)
directory=${1:?usage: fetch.sh DIRECTORY}

# The first line of each key is that of the workspace.
value() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$sources/Cargo.toml" | head -n 1; }

repository=$(value repository)
# An action knows where it came from, in a fork too.
if [ -n "${GITHUB_ACTION_REPOSITORY:-}" ]; then repository=${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_ACTION_REPOSITORY; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -e "s|@VERSION@|$(value version)|g" -e "s|@REPOSITORY@|$repository|g" -e "s|@PUBLIC_KEY@|$(value public-key)|g" \
    "$sources/packages/release/install.sh" >"$work/install.sh"

# What the installer records is about this directory, and not about the user.
if XDG_DATA_HOME=$work sh "$work/install.sh" --dir "$directory" >"$work/log" 2>&1; then
    grep -E '^(signature|checksum|installed):' "$work/log" >&2
    exit 0
fi
cat "$work/log" >&2
echo "fetch.sh: no program of the release, so it is built from these sources, which takes some minutes" >&2
cargo install --locked --quiet --path "$sources/crates/cli" --root "$work/built" >&2
mkdir -p "$directory"
cp "$work/built/bin/stockade" "$directory/.stockade.$$"
mv -f "$directory/.stockade.$$" "$directory/stockade"
