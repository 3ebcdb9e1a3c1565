#!/usr/bin/env bash
# The hook for pre-commit: scans files with the program of the release, which is fetched once a version.
set -euo pipefail
sources=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$sources/Cargo.toml" | head -n 1)
directory=${XDG_CACHE_HOME:-$HOME/.cache}/stockade/pre-commit/$version
if [ "$("$directory/stockade" --version 2>/dev/null || true)" != "stockade $version" ]; then
    "$sources/packages/action/fetch.sh" "$directory"
fi
exec "$directory/stockade" scan -- "$@"
