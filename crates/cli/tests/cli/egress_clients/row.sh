# Runs one client in a sandbox, in a workspace of its own, with no variable that speaks of a proxy.
SITE=$1 NAME=$2 ROW=$1/rows/$2
cd "$ROW/work" || exit 1
# What stockade itself trusts where it looks into TLS. No program inside is told of it.
export SSL_CERT_FILE="$SITE/public/ca.pem"
xargs -a "$ROW/options" -d '\n' sh -c '"$STOCKADE" exec --no-rules --timeout 5m "$@" -- sh run' sh \
    >"$ROW/out" 2>"$ROW/err" </dev/null
echo $? >"$ROW/code"

# What was only observed is run once more, with the options that were advised and no others.
if grep -qx observe "$ROW/options"; then
    eval "set -- $(sed -n 's/^stockade:   \(--allow-host .*\)$/\1/p' "$ROW/err" | tr '\n' ' ')"
    for word; do [ "$word" = --allow-host ] || echo "$word"; done >"$ROW/advised"
    [ $# -gt 0 ] || exit 0
    rm -rf a b    # what was cloned
    grep -vx -e --network -e observe "$ROW/options" >"$ROW/options-again"
    xargs -a "$ROW/options-again" -d '\n' sh -c '"$STOCKADE" exec --no-rules --timeout 5m "$@" -- sh run' sh "$@" \
        >"$ROW/again" 2>"$ROW/again-err" </dev/null
fi
