# In a network and a view of mounts of its own: begins the servers, and runs each client by row.sh, two at a time.
set -eu
SITE=$1 ADDRESS=$2
ip link set lo up
ip addr add "$ADDRESS/32" dev lo
mount --bind "$SITE/hosts" /etc/hosts
/usr/bin/python3 "$SITE/serve.py" "$SITE" "$ADDRESS" >"$SITE/serve.log" 2>&1 &
SERVER=$!
trap 'kill $SERVER $(cat "$SITE/sshd.pid" 2>/dev/null) 2>/dev/null || true' EXIT
if [ -x /usr/sbin/sshd ]; then
    mkdir -p /run/sshd
    /usr/sbin/sshd -f "$SITE/sshd_config" -E "$SITE/sshd.log" || true
fi
tries=0
while [ ! -e "$SITE/ready" ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || exit 1
    sleep 0.1
done
ls "$SITE/rows" | xargs -P 2 -I{} sh "$SITE/row.sh" "$SITE" {}
