# Runs one client in a sandbox, in a workspace of its own, with no variable that speaks of a proxy.
SITE=$1 NAME=$2 ROW=$1/rows/$2
cd "$ROW/work" || exit 1
xargs -a "$ROW/options" -d '\n' sh -c '"$STOCKADE" exec --no-rules --timeout 5m "$@" -- sh run' sh \
    >"$ROW/out" 2>"$ROW/err" </dev/null
echo $? >"$ROW/code"
