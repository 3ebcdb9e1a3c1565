#!/usr/bin/env bash
# What the action does: prints findings as annotations, writes SARIF if asked to, and ends as the scan ended. All that it is told
# comes by variables, so that nothing that a stranger wrote is part of a script.
set -euo pipefail

stockade=${BINARY:-${RUNNER_TEMP:?}/stockade/bin/stockade}

# What the scan is told, line by line. The bash of macOS is old: it reads no lists at once, and has none that are empty.
paths=() options=(--fail-on "$FAIL_ON") skills=()
while IFS= read -r line; do if [ -n "$line" ]; then paths+=("$line"); fi; done <<<"${PATHS:-}"
while IFS= read -r line; do if [ -n "$line" ]; then options+=(--exclude "$line"); fi; done <<<"${EXCLUDE:-}"
while IFS= read -r line; do if [ -n "$line" ]; then skills+=("$line"); fi; done <<<"${SKILLS:-}"
if [ -n "${RULES:-}" ]; then options+=(--rules "$RULES"); fi
if [ -n "${EXCLUDE_FROM:-}" ]; then options+=(--exclude-from "$EXCLUDE_FROM"); fi
if [ -n "${SUPPRESSIONS:-}" ]; then options+=(--suppressions "$SUPPRESSIONS"); fi
if [ -n "${BASELINE:-}" ]; then options+=(--baseline "$BASELINE"); fi

# Nothing to scan is a mistake of whoever wrote the workflow, and not clean.
if [ "${#paths[@]}" -eq 0 ]; then
    echo "::error::stockade: \`paths\` names nothing to scan; name a file or a folder"
    exit 2
fi

code=0
"$stockade" scan --format github "${options[@]}" -- "${paths[@]}" || code=$?
if [ -n "${SARIF:-}" ]; then
    written=0
    "$stockade" scan --format sarif "${options[@]}" -- "${paths[@]}" >"$SARIF" || written=$?
    # Both scans read the same files; where they do not agree, one of them was disturbed.
    if [ "$written" -ne "$code" ]; then code=3; fi
fi
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"

judged=0
if [ "${#skills[@]}" -gt 0 ]; then "$stockade" skill check -- "${skills[@]}" || judged=$?; fi

case $code in
0) exit "$judged" ;;
3) echo "::error::stockade: something could not be scanned, so nothing here is called clean; the lines above say what" ;;
esac
exit "$code"
