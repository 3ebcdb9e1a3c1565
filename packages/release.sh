#!/usr/bin/env bash
# What a release holds for one system: the programs, the wheel and the packages for Node.js, each tried before it is kept.
# usage: packages/release.sh linux-x64|linux-arm64|darwin-arm64|darwin-x64 FOLDER
# STOCKADE_BINARY names a program that was built before; without it, one is built. On Linux, the programs of remote backends lie beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1 folder=$2
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

program=${STOCKADE_BINARY:-target/release/stockade}
if [ -z "${STOCKADE_BINARY:-}" ]; then
    case $name in
    # One file without shared libraries, which runs on any Linux of its kind.
    linux-*) cargo static && cargo static-e2b && cargo static-kubernetes ;;
    *) cargo build --locked --release --package stockade-cli ;;
    esac
fi
# On Linux, remote backends are programs beside it.
programs=("$program")
case $name in
linux-*) for backend in e2b kubernetes; do programs+=("$(dirname "$program")/stockade-backend-$backend"); done ;;
esac
version=$("$program" --version | cut -d' ' -f2)
# A release of another version than its tag would be taken for something that it is not.
if [[ ${GITHUB_REF:-} == refs/tags/v* && $GITHUB_REF != "refs/tags/v$version" ]]; then
    echo "the tag is ${GITHUB_REF#refs/tags/}, and the program is $version" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The programs by themselves.
mkdir "$work/stockade-$name"
cp "${programs[@]}" LICENSE-MIT LICENSE-APACHE README.md "$work/stockade-$name/"
tar -C "$work" -czf "$folder/stockade-$version-$name.tar.gz" "stockade-$name"

# The wheel, tried where nothing else is.
STOCKADE_BINARY=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
export STOCKADE_BINARY
wheel=$(cd packages/python && python3 -B -c "import build_wheel, sys; print(build_wheel.build_wheel(sys.argv[1]))" "$folder")
unset STOCKADE_BINARY
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index --no-deps "$folder/$wheel"
"$work/venv/bin/python" -c 'import stockade
with stockade.Stockade() as client: assert client.sanitize(text="a<!-- b -->")["body"] == "a"'

# The packages for Node.js, likewise. That of the client is the same on every system.
node packages/node/scripts/platform.mjs "$program" "$work/platform"
packed=$(npm pack --silent --pack-destination "$folder" "$work/platform" ./packages/node)
mkdir "$work/app"
(
    cd "$work/app"
    echo '{"private": true}' >package.json
    files=()
    while IFS= read -r file; do files+=("$folder/$file"); done <<<"$packed"
    npm install --offline --silent --no-audit --no-fund "${files[@]}"
    node -e 'const { Stockade } = require("@stockade/client"); const s = new Stockade();
      s.sanitize({ text: "a<!-- b -->" }).then((r) => { if (r.body !== "a") process.exit(1); return s.close(); })'
)
if [ "$name" != linux-x64 ]; then rm "$folder"/stockade-client-*.tgz; fi
if [ "$name" = linux-x64 ]; then npm pack --silent --pack-destination "$folder" ./packages/openclaw; fi
ls -l "$folder"
