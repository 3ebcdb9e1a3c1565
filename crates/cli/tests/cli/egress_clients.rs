//! Programs that know of no proxy, and were told of none: each reaches the hosts that are listed, and none else.
//!
//! All run in one network of the test's own, in which a server has an address that looks public, two at a time.
#![expect(clippy::disallowed_methods, reason = "lays out a site, and runs programs")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::support::{STOCKADE, repository};

/// Where the servers are, for everybody but the sandboxes.
const ADDRESS: &str = "93.184.216.34";

/// The content of the file that is fetched.
const HELLO: &str = "hello from outside\n";

/// Variables that speak of proxies, which programs are to do without.
const UNSET: &str = "unset HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy \
                     NODE_USE_ENV_PROXY\n";

/// A program, and what becomes of it.
struct Client {
    name: &'static str,
    /// A program without which it cannot be tried; `{tools}` and `{site}` are replaced by folders.
    needs: &'static str,
    hosts: &'static [&'static str],
    script: &'static str,
    expected: Expected,
}

enum Expected {
    /// It prints this.
    Prints(&'static str),
    /// It prints this among other things, and stockade reports the second to its caller.
    Refused(&'static str, &'static str),
    /// It prints the first where it may reach every host, and the same again where it may reach these and no others, which
    /// stockade advises. The last is what it says besides.
    Needs(&'static str, &'static [&'static str], &'static str),
}

use Expected::{Needs, Prints, Refused};

const REGISTRY: &[&str] = &["registry.test"];
const CA: &str = "{site}/public/ca.pem";

const fn reaches(name: &'static str, needs: &'static str, script: &'static str) -> Client {
    Client { name, needs, hosts: REGISTRY, script, expected: Prints(HELLO) }
}

const fn refused(
    name: &'static str,
    script: &'static str,
    prints: &'static str,
    says: &'static str,
) -> Client {
    Client { name, needs: "/usr/bin/curl", hosts: REGISTRY, script, expected: Refused(prints, says) }
}

/// The nineteen that the project promises.
#[rustfmt::skip]
const CLIENTS: &[Client] = &[
    reaches("curl", "/usr/bin/curl", "curl -sS --cacert {ca} https://registry.test/hello"),
    reaches("curl-http", "/usr/bin/curl", "curl -sS http://registry.test/hello"),
    reaches("wget", "/usr/bin/wget", "wget -q --ca-certificate={ca} -O- https://registry.test/hello"),
    reaches("git-https", "/usr/bin/git", "git -c http.sslCAInfo={ca} clone -q https://registry.test/repo.git repo && cat repo/hello"),
    Client {
        name: "git-ssh", needs: "/usr/sbin/sshd", hosts: &["registry.test:22"],
        script: "chmod 600 key; git -c core.sshCommand='ssh -F none -i key -o IdentitiesOnly=yes -o UserKnownHostsFile=known_hosts' \
                 clone -q ssh://root@registry.test{site}/served/repo.git repo && cat repo/hello",
        expected: Prints(HELLO),
    },
    Client {
        name: "pip", needs: "{tools}/python/bin/python", hosts: REGISTRY,
        script: "{tools}/python/bin/python -m pip download -q --disable-pip-version-check --no-deps --cert {ca} \
                 --index-url https://registry.test/simple/ probe && ls *.whl",
        expected: Prints("probe-1.0-py3-none-any.whl\n"),
    },
    Client {
        name: "npm", needs: "/usr/bin/npm", hosts: REGISTRY,
        script: "npm install --silent --no-audit --no-fund --registry=https://registry.test/npm/ --cafile={ca} probe && \
                 ls node_modules",
        expected: Prints("probe\n"),
    },
    Client {
        name: "cargo", needs: "{cargo}/bin/cargo", hosts: REGISTRY,
        script: "mkdir -p src .cargo home && : > src/lib.rs && \
                 printf '[package]\\nname = \"x\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[dependencies]\\n\
                 probe = { version = \"1\", registry = \"probe\" }\\n' > Cargo.toml && \
                 CARGO_HOME=$PWD/home {cargo}/bin/cargo fetch -q --config 'registries.probe.index=\"sparse+https://registry.test/cargo/\"' \
                 --config 'http.cainfo=\"{ca}\"' && find home -name '*.crate' -printf '%f\\n'",
        expected: Prints("probe-1.0.0.crate\n"),
    },
    Client {
        name: "apt", needs: "/usr/bin/apt-get", hosts: REGISTRY,
        script: "mkdir -p state/lists/partial cache/archives/partial etc; : > state/status; \
                 echo 'deb [trusted=yes] https://registry.test/apt ./' > etc/sources.list; \
                 apt() { apt-get -qq -o Dir=$PWD -o Dir::State=state -o Dir::State::status=$PWD/state/status -o Dir::Cache=cache \
                 -o Dir::Etc=$PWD/etc -o Dir::Bin::methods=/usr/lib/apt/methods -o Dir::Bin::dpkg=/usr/bin/dpkg \
                 -o Acquire::https::CAInfo={ca} -o APT::Architecture=amd64 -o APT::Sandbox::User= \"$@\" 2>/dev/null; }; \
                 apt update; apt download probe; ls *.deb",
        expected: Prints("probe_1.0_all.deb\n"),
    },
    reaches("urllib", "/usr/bin/python3", "/usr/bin/python3 -c 'import ssl, urllib.request as u; \
        print(u.urlopen(\"https://registry.test/hello\", context=ssl.create_default_context(cafile=\"{ca}\")).read().decode(), end=\"\")'"),
    reaches("requests", "{tools}/python/bin/python", "{tools}/python/bin/python -c 'import requests; \
        print(requests.get(\"https://registry.test/hello\", verify=\"{ca}\").text, end=\"\")'"),
    reaches("httpx", "{tools}/python/bin/python", "{tools}/python/bin/python -c 'import httpx, ssl; \
        print(httpx.get(\"https://registry.test/hello\", verify=ssl.create_default_context(cafile=\"{ca}\")).text, end=\"\")'"),
    reaches("aiohttp", "{tools}/python/bin/python", "{tools}/python/bin/python -c '
import aiohttp, asyncio, ssl
async def main():
    async with aiohttp.ClientSession() as session:
        async with session.get(\"https://registry.test/hello\", ssl=ssl.create_default_context(cafile=\"{ca}\")) as answer:
            print(await answer.text(), end=\"\")
asyncio.run(main())'"),
    reaches("node-fetch", "/usr/bin/node", "NODE_EXTRA_CA_CERTS={ca} /usr/bin/node -e \
        'fetch(\"https://registry.test/hello\").then((answer) => answer.text()).then((text) => process.stdout.write(text))'"),
    reaches("node-https", "/usr/bin/node", "/usr/bin/node -e \
        'require(\"https\").get(\"https://registry.test/hello\", { ca: require(\"fs\").readFileSync(\"{ca}\") }, (answer) => answer.pipe(process.stdout))'"),
    reaches("newest-node-fetch", "{tools}/node/node_modules/node/bin/node", "NODE_EXTRA_CA_CERTS={ca} {tools}/node/node_modules/node/bin/node -e \
        'fetch(\"https://registry.test/hello\").then((answer) => answer.text()).then((text) => process.stdout.write(text))'"),
    reaches("newest-node-https", "{tools}/node/node_modules/node/bin/node", "{tools}/node/node_modules/node/bin/node -e \
        'require(\"https\").get(\"https://registry.test/hello\", { ca: require(\"fs\").readFileSync(\"{ca}\") }, (answer) => answer.pipe(process.stdout))'"),
    reaches("go", "{site}/public/get", "{site}/public/get https://registry.test/hello {ca}"),
    reaches("java", "{site}/public/Get.class", "java -cp {site}/public Get https://registry.test/hello {ca}"),
];

/// What else has to work, and what must not.
#[rustfmt::skip]
const BESIDE: &[Client] = &[
    // Authorities of the operator's environment are trusted within, where nothing is inspected as well.
    reaches("own-authority", "/usr/bin/curl", "curl -sS https://registry.test/hello"),
    // It greets with an encrypted name. It ends with 0 whatever comes, so what it shows counts.
    Client {
        name: "chromium", needs: "/usr/bin/chromium", hosts: REGISTRY,
        script: "export HOME=/tmp; chromium --headless --no-sandbox --disable-gpu --user-data-dir=/tmp/profile --ignore-certificate-errors \
                 --dump-dom https://registry.test/echo 2> none | grep -o 'GET registry.test'",
        expected: Prints("GET registry.test\n"),
    },
    Client {
        name: "names-below-one", needs: "/usr/bin/curl", hosts: &["*.registry.test:8443"],
        script: "curl -sS --cacert {ca} https://a.registry.test:8443/hello",
        expected: Prints(HELLO),
    },
    Client {
        name: "an-address", needs: "/usr/bin/curl", hosts: &["93.184.216.34:80"],
        script: "curl -sS http://93.184.216.34/hello",
        expected: Prints(HELLO),
    },
    Client {
        name: "loopback", needs: "/usr/bin/node", hosts: &["localhost:9000"],
        script: "curl -sS http://localhost:9000/hello; curl -sS http://127.0.0.1:9000/echo; /usr/bin/node -e \
                 'fetch(\"http://localhost:9000/hello\").then((answer) => answer.text()).then((text) => process.stdout.write(text))'",
        expected: Prints("hello from outside\nGET localhost:9000\nhello from outside\n"),
    },
    Client {
        name: "own-server", needs: "/usr/bin/curl", hosts: &["registry.test:8443"],
        script: "/usr/bin/python3 -c 'import http.server as h, threading as t, urllib.request as u\n\
s = h.HTTPServer((\"127.0.0.1\", 8443), h.SimpleHTTPRequestHandler)\n\
t.Thread(target=s.handle_request).start()\n\
print(u.urlopen(\"http://127.0.0.1:8443/\").status)' 2>/dev/null; curl -sS --cacert {ca} https://registry.test:8443/hello",
        expected: Prints("200\nhello from outside\n"),
    },
    Client {
        name: "explicit-proxies", needs: "/usr/bin/curl", hosts: REGISTRY,
        script: "curl -sS --cacert {ca} -x socks5h://127.0.0.1:3128 https://registry.test/hello; \
                 curl -sS -x socks5h://127.0.0.1:3128 http://registry.test/echo; \
                 curl -sS --cacert {ca} -x http://127.0.0.1:3128 https://registry.test/hello",
        expected: Prints("hello from outside\nGET registry.test\nhello from outside\n"),
    },
    Client {
        name: "in-pieces", needs: "/usr/bin/curl", hosts: REGISTRY,
        script: "head -c 300000 /dev/zero | curl -sS -H 'Transfer-Encoding: chunked' --data-binary @- http://registry.test/echo; \
                 head -c 300000 /dev/zero | curl -sS --data-binary @- http://registry.test/echo",
        expected: Prints("POST 300000\nPOST 300000\n"),
    },
    Client {
        name: "single-requests", needs: "/usr/bin/curl", hosts: &["registry.test:80 GET /he*", "!registry.test:80 GET /help"],
        script: "curl -sS http://registry.test/hello; for path in echo help hello/../echo; do \
                 curl -sS --path-as-is http://registry.test/$path | grep -o '\"rule\":\"[a-z-]*'; done",
        expected: Prints("hello from outside\n\"rule\":\"not-listed\n\"rule\":\"denied\n\"rule\":\"ambiguous-path\n"),
    },
    Client {
        name: "why-curl", needs: "/usr/bin/curl", hosts: &["registry.test:80 GET /hello"],
        script: "curl -sS http://registry.test/echo > refused; curl -sS $(grep -o 'http://stockade.internal[^\"]*' refused) | cmp - refused; \
                 curl -sS https://evil.test/ 2>&1; curl -sS http://stockade.internal/v1/why/evil.test | grep -o '\"entry\":[^,]*'; \
                 curl -sS -o none -w '%{http_code} %header{x-stockade-rule}\n' http://registry.test/echo",
        expected: Prints("curl: (6) Could not resolve host: evil.test\n\"entry\":\"evil.test\"\n403 not-listed\n"),
    },
    Client {
        name: "why-python", needs: "/usr/bin/python3", hosts: &["registry.test:80 GET /hello"],
        script: "/usr/bin/python3 -c 'import json, urllib.request as u, urllib.error as e
try: u.urlopen(\"http://registry.test/echo?q=1\")
except e.HTTPError as refused: told = json.load(refused)
print(told[\"rule\"], told[\"entry\"], json.load(u.urlopen(told[\"why\"])) == told)'",
        expected: Prints("not-listed registry.test:80 GET /echo ?q True\n"),
    },
    Client {
        name: "why-node", needs: "/usr/bin/node", hosts: &["registry.test:80 GET /hello"],
        script: "/usr/bin/node -e '(async () => {
const told = await (await fetch(\"http://registry.test/echo\", { method: \"POST\", body: \"x\" })).json();
const again = await (await fetch(told.why)).json();
console.log(told.rule, told.entry, again.id === told.id);
})()'",
        expected: Prints("not-listed registry.test:80 POST /echo ? true\n"),
    },
    Client {
        name: "why-git", needs: "/usr/bin/git", hosts: &["registry.test:80 GET /hello"],
        script: "git clone -q http://registry.test/repo.git repo 2>&1 | grep -o '403'; \
                 curl -sS http://stockade.internal/v1/why/registry.test | grep -o '\"entry\":[^,]*'",
        expected: Prints("403\n\"entry\":\"registry.test:80 GET /repo.git/info/refs ?service\"\n"),
    },
    refused("another-name", "curl -sS https://evil.test/ 2>&1", "Could not resolve host: evil.test", "evil.test refused: no entry of the list matches it"),
    refused("another-port", "curl -sS --max-time 5 http://registry.test:8080/ 2>&1", "Failed to connect", ""),
    refused("another-address", "curl -sS --max-time 5 http://93.184.216.34/hello 2>&1", "curl: (7)", ""),
    refused("another-host", "curl -sS -H 'Host: evil.test' http://registry.test/hello", "\"rule\":\"other-host\"", "its `Host` is `evil.test`"),
    refused("another-name-over-tls", "curl -sSk --connect-to evil.test:443:registry.test:443 https://evil.test/hello 2>&1",
        "curl: (35)", "and the request is for `evil.test`"),
    refused("no-tls", "printf 'anything\\n' | curl -sS --max-time 5 telnet://registry.test:443 2>&1; echo over", "over", "it is neither TLS nor HTTP"),
    refused("messages", "/usr/bin/python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((\"93.184.216.34\", 53))' 2>&1", "Network is unreachable", ""),
    refused("secrets-in-names", "/usr/bin/python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
for kind in (16, 10, 28):
    s.sendto(b\"\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\x06secret\\x04evil\\x04test\\0\\0\" + bytes([kind]) + b\"\\0\\x01\", (\"127.0.0.1\", 53))
    print(s.recv(512)[3] & 15, end=\" \")'", "3 3 3 ", "secret.evil.test refused: no entry"),
];

const fn needs(
    name: &'static str,
    needs: &'static str,
    script: &'static str,
    prints: &'static str,
    entries: &'static [&'static str],
) -> Client {
    Client { name, needs, hosts: OBSERVED, script, expected: Needs(prints, entries, "") }
}

/// Which hosts programs turn out to need.
#[rustfmt::skip]
const SEEN: &[Client] = &[
    needs("seen-curl", "/usr/bin/curl", "curl -sS --cacert {ca} https://registry.test/hello; curl -sS 'http://registry.test/hello?q=1&page=2'; \
        curl -sS -o none 'http://registry.test/hello?q=7'; curl -sSI -o none http://registry.test/hello; curl -sS -d 1234 http://registry.test/echo",
        "hello from outside\nhello from outside\nPOST 4\n",
        &["registry.test:443", "registry.test:80 POST /echo ?", "registry.test:80 HEAD /hello ?", "registry.test:80 GET /hello ?page|q"]),
    needs("seen-git", "/usr/bin/git", "git -c http.sslCAInfo={ca} clone -q https://registry.test/repo.git a; cat a/hello", HELLO,
        &["registry.test:443"]),
    Client {
        name: "seen-git-http", needs: "/usr/bin/git", hosts: OBSERVED,
        script: "git clone -q http://registry.test/repo.git b; cat b/hello",
        expected: Needs(HELLO, &[], "--allow-host 'registry.test:80 GET /repo.git/info/refs ?service'"),
    },
    Client {
        name: "seen-git-ssh", needs: "/usr/sbin/sshd", hosts: OBSERVED,
        script: "chmod 600 key; git -c core.sshCommand='ssh -F none -i key -o IdentitiesOnly=yes -o UserKnownHostsFile=known_hosts' \
                 clone -q ssh://root@registry.test{site}/served/repo.git a && cat a/hello",
        expected: Needs(HELLO, &["registry.test:22"], ""),
    },
    needs("seen-python", "/usr/bin/python3", "/usr/bin/python3 -c 'import urllib.request as u; \
        print(u.urlopen(\"http://registry.test/echo\").read().decode(), end=\"\")'", "GET registry.test\n",
        &["registry.test:80 GET /echo ?"]),
    needs("seen-node", "/usr/bin/node", "NODE_EXTRA_CA_CERTS={ca} /usr/bin/node -e \
        'fetch(\"https://registry.test/hello\").then((answer) => answer.text()).then((text) => process.stdout.write(text))'", HELLO,
        &["registry.test:443"]),
    needs("seen-by-proxy", "/usr/bin/curl", "curl -sS --cacert {ca} -x http://127.0.0.1:3128 https://registry.test:8443/hello; \
        curl -sS --cacert {ca} -x socks5h://127.0.0.1:3128 https://a.registry.test:8443/hello", "hello from outside\nhello from outside\n",
        &["a.registry.test:8443", "registry.test:8443"]),
    Client {
        name: "seen-not", needs: "/usr/bin/curl", hosts: OBSERVED,
        script: "for url in http://localhost:9000/hello http://inner.test/ http://169.254.169.254/ http://10.0.0.7/; do \
                 curl -sS -o answer -w '%{http_code}\n' -x http://127.0.0.1:3128 $url; grep -o '\"rule\":\"[a-z-]*' answer; done; \
                 curl -sS -o answer -w '%{http_code}\\n' http://inner.test/; curl -sS -o answer --path-as-is http://registry.test/a/../hello",
        expected: Needs("403\n\"rule\":\"not-listed\n403\n\"rule\":\"leads-elsewhere\n403\n\"rule\":\"metadata\n403\n\"rule\":\"not-listed\n403\n", &[], "no --allow-host entry matches only `GET http://registry.test:80/a/../hello`"),
    },
];

const INSPECTED: &[&str] = &["registry.test inspect"];

const fn inspected(name: &'static str, needs: &'static str, script: &'static str) -> Client {
    Client { name, needs, hosts: INSPECTED, script, expected: Prints(HELLO) }
}

/// Programs whose requests are looked into over TLS, and that were told of no authority.
#[rustfmt::skip]
const LOOKED_INTO: &[Client] = &[
    inspected("in-curl", "/usr/bin/curl", "curl -sS https://registry.test/hello"),
    inspected("in-wget", "/usr/bin/wget", "wget -q -O- https://registry.test/hello"),
    inspected("in-git", "/usr/bin/git", "git clone -q https://registry.test/repo.git repo && cat repo/hello"),
    Client {
        name: "in-pip", needs: "{tools}/python/bin/python", hosts: INSPECTED,
        script: "{tools}/python/bin/python -m pip download -q --disable-pip-version-check --no-deps \
                 --index-url https://registry.test/simple/ probe && ls *.whl",
        expected: Prints("probe-1.0-py3-none-any.whl\n"),
    },
    Client {
        name: "in-npm", needs: "/usr/bin/npm", hosts: INSPECTED,
        script: "npm install --silent --no-audit --no-fund --registry=https://registry.test/npm/ probe && ls node_modules",
        expected: Prints("probe\n"),
    },
    Client {
        name: "in-cargo", needs: "{cargo}/bin/cargo", hosts: INSPECTED,
        script: "mkdir -p src home && : > src/lib.rs && \
                 printf '[package]\\nname = \"x\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[dependencies]\\n\
                 probe = { version = \"1\", registry = \"probe\" }\\n' > Cargo.toml && \
                 CARGO_HOME=$PWD/home {cargo}/bin/cargo fetch -q --config 'registries.probe.index=\"sparse+https://registry.test/cargo/\"' && \
                 find home -name '*.crate' -printf '%f\\n'",
        expected: Prints("probe-1.0.0.crate\n"),
    },
    Client {
        name: "in-apt", needs: "/usr/bin/apt-get", hosts: INSPECTED,
        script: "mkdir -p state/lists/partial cache/archives/partial etc; : > state/status; \
                 echo 'deb [trusted=yes] https://registry.test/apt ./' > etc/sources.list; \
                 apt() { apt-get -qq -o Dir=$PWD -o Dir::State=state -o Dir::State::status=$PWD/state/status -o Dir::Cache=cache \
                 -o Dir::Etc=$PWD/etc -o Dir::Bin::methods=/usr/lib/apt/methods -o Dir::Bin::dpkg=/usr/bin/dpkg \
                 -o APT::Architecture=amd64 -o APT::Sandbox::User= \"$@\" 2>/dev/null; }; \
                 apt update; apt download probe; ls *.deb",
        expected: Prints("probe_1.0_all.deb\n"),
    },
    inspected("in-urllib", "/usr/bin/python3", "/usr/bin/python3 -c 'import urllib.request as u; \
        print(u.urlopen(\"https://registry.test/hello\").read().decode(), end=\"\")'"),
    inspected("in-requests", "{tools}/python/bin/python", "{tools}/python/bin/python -c 'import requests; \
        print(requests.get(\"https://registry.test/hello\").text, end=\"\")'"),
    inspected("in-httpx", "{tools}/python/bin/python", "{tools}/python/bin/python -c 'import httpx; \
        print(httpx.get(\"https://registry.test/hello\").text, end=\"\")'"),
    inspected("in-aiohttp", "{tools}/python/bin/python", "{tools}/python/bin/python -c '
import aiohttp, asyncio
async def main():
    async with aiohttp.ClientSession() as session:
        async with session.get(\"https://registry.test/hello\") as answer:
            print(await answer.text(), end=\"\")
asyncio.run(main())'"),
    inspected("in-node-fetch", "/usr/bin/node", "/usr/bin/node -e \
        'fetch(\"https://registry.test/hello\").then((answer) => answer.text()).then((text) => process.stdout.write(text))'"),
    inspected("in-node-https", "/usr/bin/node", "/usr/bin/node -e \
        'require(\"https\").get(\"https://registry.test/hello\", (answer) => answer.pipe(process.stdout))'"),
    inspected("in-newest-node", "{tools}/node/node_modules/node/bin/node", "{tools}/node/node_modules/node/bin/node -e \
        'fetch(\"https://registry.test/hello\").then((answer) => answer.text()).then((text) => process.stdout.write(text))'"),
    inspected("in-go", "{site}/public/get", "{site}/public/get https://registry.test/hello"),
    inspected("in-java", "{site}/public/Get.class", "java -cp {site}/public Get https://registry.test/hello 2> none"),
    Client {
        name: "in-chromium", needs: "/usr/bin/chromium", hosts: INSPECTED,
        script: "export HOME=/tmp; chromium --headless --no-sandbox --disable-gpu --user-data-dir=/tmp/profile \
                 --dump-dom https://registry.test/echo 2> none | grep -o 'GET registry.test'",
        expected: Prints("GET registry.test\n"),
    },
    inspected("in-proxies", "/usr/bin/curl", "curl -sS -x http://127.0.0.1:3128 https://registry.test/hello > a; \
        curl -sS -x socks5h://127.0.0.1:3128 https://registry.test/hello | cmp - a && cat a"),
    Client {
        name: "in-rules", needs: "/usr/bin/curl", hosts: &["registry.test GET /he*", "registry.test:443 POST /echo upload=400", "!registry.test GET /help"],
        script: "curl -sS https://registry.test/hello; for path in echo help hello/../echo; do \
                 curl -sS --path-as-is https://registry.test/$path | grep -o '\"rule\":\"[a-z-]*'; done; \
                 curl -sS -d 1234 https://registry.test/echo; head -c 3000 /dev/zero | curl -sS -H Expect: --data-binary @- https://registry.test/echo | \
                 grep -o '\"rule\":\"[a-z-]*'; curl -sS https://registry.test/echo > refused; \
                 curl -sS $(grep -o 'http://stockade.internal[^\"]*' refused) | cmp - refused && grep -o '\"entry\":[^,]*' refused",
        expected: Prints("hello from outside\n\"rule\":\"not-listed\n\"rule\":\"denied\n\"rule\":\"ambiguous-path\nPOST 4\n\"rule\":\"too-much\n\
                          \"entry\":\"registry.test:443 GET /echo ?\"\n"),
    },
    Client {
        name: "in-untrusting", needs: "/usr/bin/curl", hosts: INSPECTED,
        script: "curl -sS --cacert {ca} https://registry.test/hello 2>&1 | head -c 9",
        expected: Refused("curl: (60", "pass `/etc/stockade-trust/authorities.pem` to it"),
    },
    Client {
        name: "in-another-host", needs: "/usr/bin/curl", hosts: INSPECTED,
        script: "curl -sS -H 'Host: evil.test' https://registry.test/hello",
        expected: Refused("\"rule\":\"other-host\"", "its `Host` is `evil.test`"),
    },
    Client {
        name: "in-no-tls", needs: "/usr/bin/curl", hosts: INSPECTED,
        script: "printf 'anything\\n' | curl -sS --max-time 5 telnet://registry.test:443 2>&1; echo over",
        expected: Refused("over", "it is neither TLS nor HTTP"),
    },
    Client {
        name: "in-false-host", needs: "/usr/bin/curl", hosts: &["false.test inspect"],
        script: "curl -sS https://false.test/hello",
        expected: Refused("\"rule\":\"not-the-host\"", "the certificate of the host is not valid for `false.test`"),
    },
];

const LENT: &[&str] = &["registry.test", "TOKEN=file:{site}/token@registry.test/closed/**"];

/// Programs that use a secret over TLS and do not see it: the folder `closed` is for clients that have it, and
/// `whoami` there returns what it was told.
#[rustfmt::skip]
const WITH_SECRETS: &[Client] = &[
    Client {
        name: "secret-curl", needs: "/usr/bin/curl", hosts: LENT,
        script: "curl -sS -H \"Authorization: Bearer $TOKEN\" https://registry.test/closed/whoami | sed \"s/$TOKEN/DUMMY/g\"; \
                 curl -sS --compressed -u me:$TOKEN https://registry.test/closed/hello",
        expected: Prints("who has it, Bearer DUMMY\nhello from outside\n"),
    },
    Client {
        name: "secret-git", needs: "/usr/bin/git", hosts: LENT,
        script: "git clone -q https://me:$TOKEN@registry.test/closed/repo.git repo && cat repo/hello",
        expected: Prints(HELLO),
    },
    Client {
        name: "secret-pip", needs: "{tools}/python/bin/python", hosts: LENT,
        script: "{tools}/python/bin/python -m pip download -q --disable-pip-version-check --no-deps \
                 --index-url https://me:$TOKEN@registry.test/closed/simple/ probe && ls *.whl",
        expected: Prints("probe-1.0-py3-none-any.whl\n"),
    },
    Client {
        name: "secret-requests", needs: "{tools}/python/bin/python", hosts: LENT,
        script: "{tools}/python/bin/python -c 'import os, requests; t = os.environ[\"TOKEN\"]; \
                 print(requests.get(\"https://registry.test/closed/whoami\", headers={\"Authorization\": \"token \" + t}).text.replace(t, \"DUMMY\"), end=\"\")'",
        expected: Prints("who has it, token DUMMY\n"),
    },
    Client {
        name: "secret-node", needs: "/usr/bin/node", hosts: LENT,
        script: "/usr/bin/node -e 'const t = process.env.TOKEN; \
                 fetch(\"https://registry.test/closed/whoami\", { headers: { authorization: \"Bearer \" + t } }).then((answer) => answer.text()) \
                 .then((text) => process.stdout.write(text.replace(t, \"DUMMY\")))'",
        expected: Prints("who has it, Bearer DUMMY\n"),
    },
    // In parts that the client puts together, and as the rest of what is there already.
    Client {
        name: "secret-range", needs: "/usr/bin/curl", hosts: LENT,
        script: "get() { curl -sS -H \"Authorization: Bearer $TOKEN\" \"$@\" https://registry.test/closed/long; }; \
                 get > all; { get -r 0-99999; get -r 100000-199999; get -r 200000-; } | cmp - all && head -c 1000 all > rest && \
                 get -C - -o rest && cmp rest all && wc -c < all; get -r 5-9,20-30 | grep -o '\"rule\":\"[a-z-]*'",
        expected: Prints("300000\n\"rule\":\"secret-unreadable\n"),
    },
    Client {
        name: "secret-post", needs: "/usr/bin/curl", hosts: LENT,
        script: "head -c 300000 /dev/zero | curl -sS -H \"Authorization: Bearer $TOKEN\" --data-binary @- https://registry.test/closed/echo",
        expected: Prints("POST 300000\n"),
    },
    Client {
        name: "secret-elsewhere", needs: "/usr/bin/curl", hosts: LENT,
        script: "curl -sS -H \"Authorization: Bearer $TOKEN\" https://registry.test/hello | grep -o '\"rule\":\"[a-z-]*'; \
                 curl -sS -d \"{\\\"t\\\":\\\"$TOKEN\\\"}\" https://registry.test/closed/echo | grep -o '\"rule\":\"[a-z-]*'; \
                 curl -sS http://registry.test/echo?$TOKEN | grep -o '\"rule\":\"[a-z-]*'",
        expected: Refused("\"rule\":\"secret-elsewhere\n\"rule\":\"secret-elsewhere\n\"rule\":\"secret-elsewhere\n", "attempted exfiltration"),
    },
    Client {
        name: "secret-in-clear", needs: "/usr/bin/curl", hosts: &["registry.test", "TOKEN=file:{site}/token@registry.test:80"],
        script: "curl -sS -u me:$TOKEN http://registry.test/closed/hello",
        expected: Refused("\"rule\":\"secret-in-clear\"", "over plain HTTP"),
    },
    Client {
        name: "secret-of-others", needs: "/usr/bin/curl", hosts: LENT,
        script: "curl -sS -H 'Authorization: Bearer mine' https://registry.test/hello",
        expected: Refused("\"rule\":\"other-credential\"", "may only get the secret `TOKEN`"),
    },
];

/// No list: every public host is reached, to see which.
const OBSERVED: &[&str] = &[];

/// What is replaced in scripts and options.
struct Places {
    site: PathBuf,
    tools: PathBuf,
    cargo: PathBuf,
}

impl Places {
    fn put(&self, text: &str) -> String {
        let text = text.replace("{ca}", CA);
        let rows = [("{site}", &self.site), ("{tools}", &self.tools), ("{cargo}", &self.cargo)];
        rows.iter().fold(text, |text, (name, place)| text.replace(name, &place.display().to_string()))
    }
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Lays out what is served, and what clients need.
fn lay_out(places: &Places) {
    let site = &places.site;
    let write = |path: &str, text: &str| fs::write(site.join(path), text).unwrap();
    ["served", "public", "rows", "origin"]
        .iter()
        .for_each(|folder| fs::create_dir(site.join(folder)).unwrap());
    write("serve.py", include_str!("egress_clients/serve.py"));
    write("namespace.sh", include_str!("egress_clients/namespace.sh"));
    write("row.sh", include_str!("egress_clients/row.sh"));
    write("packages.py", include_str!("egress_clients/packages.py"));
    write("Get.java", include_str!("egress_clients/Get.java"));
    write("get.go", include_str!("egress_clients/get.go"));
    write("served/hello", HELLO);
    write("token", "ghp_REALrealREALrealREALrealREALreal0001\n");
    fs::set_permissions(site.join("token"), fs::Permissions::from_mode(0o600)).unwrap();
    write(
        "hosts",
        &format!(
            "127.0.0.1 localhost\n{ADDRESS} registry.test a.registry.test evil.test false.test\n10.0.0.7 inner.test\n"
        ),
    );
    certificates(site);
    repository_in(site);
    assert!(run("/usr/bin/python3", &["packages.py", "served"], site));
    if !run("javac", &["-d", "public", "Get.java"], site) {
        println!("skipped: a client written in Java: `cargo xtask setup` installs it");
    }
    let build = Command::new("go")
        .args(["build", "-o", "public/get", "get.go"])
        .current_dir(site)
        .env("CGO_ENABLED", "0")
        .env("GOCACHE", places.tools.join("go"))
        .status();
    if !build.is_ok_and(|build| build.success()) {
        println!("skipped: a client written in Go: `cargo xtask setup` installs it");
    }
    over_ssh(site);
}

/// A certificate for the server, by an authority that no program knows.
fn certificates(site: &Path) {
    fs::write(site.join("names"), "subjectAltName=DNS:registry.test,DNS:*.registry.test\n").unwrap();
    for arguments in [
        "req -x509 -newkey rsa:2048 -nodes -subj /CN=probe -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out \
         public/ca.pem -days 2",
        "req -new -newkey rsa:2048 -nodes -subj /CN=registry.test -keyout server.key -out server.csr",
        "x509 -req -in server.csr -CA public/ca.pem -CAkey ca.key -CAcreateserial -extfile names -days 2 -out server.pem",
    ] {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        assert!(run("openssl", &arguments, site), "{arguments:?}");
    }
}

fn repository_in(site: &Path) {
    let git = |folder: &str, arguments: &[&str]| {
        let all = [&["-c", "user.name=u", "-c", "user.email=u@example.com"], arguments].concat();
        assert!(run("git", &all, &site.join(folder)), "{arguments:?}");
    };
    fs::write(site.join("origin/hello"), HELLO).unwrap();
    git("origin", &["init", "-q"]);
    git("origin", &["add", "hello"]);
    git("origin", &["commit", "-qm", "first"]);
    git("served", &["clone", "-q", "--bare", "../origin", "repo.git"]);
    git("served/repo.git", &["update-server-info"]);
}

/// A server of SSH that lets one key in.
fn over_ssh(site: &Path) {
    for key in ["host_key", "key"] {
        run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", key], site);
    }
    let public = fs::read_to_string(site.join("host_key.pub")).unwrap_or_default();
    fs::write(site.join("known_hosts"), format!("registry.test {public}")).unwrap();
    let (here, mut config) = (site.display(), String::new());
    write!(
        config,
        "ListenAddress {ADDRESS}\nHostKey {here}/host_key\nPidFile {here}/sshd.pid\nStrictModes no\n"
    )
    .unwrap();
    write!(
        config,
        "AuthorizedKeysFile {here}/key.pub\nPasswordAuthentication no\nPermitRootLogin yes\nUsePAM no\n"
    )
    .unwrap();
    fs::write(site.join("sshd_config"), config).unwrap();
}

/// Lays out the workspace of a client. Nothing where a program is missing, which is said.
fn lay_out_row(client: &Client, places: &Places) -> Option<()> {
    let needed = places.put(client.needs);
    if !Path::new(&needed).exists() {
        println!("skipped: {}: there is no {needed}: `cargo xtask setup` gets it", client.name);
        return None;
    }
    let row = places.site.join("rows").join(client.name);
    let work = row.join("work");
    fs::create_dir_all(&work).unwrap();
    for name in ["key", "known_hosts"] {
        fs::copy(places.site.join(name), work.join(name)).ok();
    }
    fs::write(work.join("run"), format!("{UNSET}{}\n", places.put(client.script))).unwrap();
    let mut options = vec!["-w".to_owned(), work.display().to_string()];
    for folder in [places.site.join("public"), places.tools.clone(), places.cargo.clone()] {
        options.extend(["--ro".to_owned(), folder.display().to_string()]);
    }
    let observes = client.hosts.is_empty().then_some(["--network", "observe"]);
    options.extend(observes.into_iter().flatten().map(str::to_owned));
    let option = |text: &str| if text.starts_with("TOKEN=") { "--secret" } else { "--allow-host" };
    options.extend(client.hosts.iter().flat_map(|text| [option(text).to_owned(), places.put(text)]));
    fs::write(row.join("options"), options.join("\n")).unwrap();
    Some(())
}

#[test]
fn programs_without_proxy_support_work() {
    let folder = tempfile_in_target();
    // Where no tools are installed, what would be kept beside them goes with the folder of this test.
    let tools =
        repository().join("target/tools").canonicalize().unwrap_or_else(|_| folder.path().join("tools"));
    let cargo = Path::new(env!("CARGO")).canonicalize().unwrap();
    let cargo = cargo.parent().and_then(Path::parent).unwrap().to_path_buf();
    let places = Places { site: folder.path().canonicalize().unwrap(), tools, cargo };
    fs::set_permissions(&places.site, fs::Permissions::from_mode(0o755)).unwrap();
    lay_out(&places);
    let rows: Vec<&Client> = CLIENTS
        .iter()
        .chain(BESIDE)
        .chain(LOOKED_INTO)
        .chain(WITH_SECRETS)
        .chain(SEEN)
        .filter(|client| lay_out_row(client, &places).is_some())
        .collect();
    let mut namespace = Command::new("unshare");
    namespace.args(["--net", "--mount", "sh", "namespace.sh"]).arg(&places.site).arg(ADDRESS);
    namespace.current_dir(&places.site).env("STOCKADE", STOCKADE);
    let Ok(output) = namespace.stdin(Stdio::null()).output() else {
        return println!("skipped: clients of the network: there is no `unshare` (util-linux)");
    };
    let why = String::from_utf8_lossy(&output.stderr);
    if why.contains("unshare failed") {
        return println!("skipped: clients of the network: only root may make a network for the test");
    }
    assert!(places.site.join("ready").exists(), "{why}");
    let failures: Vec<String> = rows.iter().filter_map(|client| failure(client, &places)).collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), rows.len(), failures.join("\n"));
    println!("{} programs of {}", rows.len(), CLIENTS.len() + BESIDE.len() + LOOKED_INTO.len() + SEEN.len());
}

/// What is wrong with what became of a client.
fn failure(client: &Client, places: &Places) -> Option<String> {
    let row = places.site.join("rows").join(client.name);
    let read = |name: &str| fs::read_to_string(row.join(name)).unwrap_or_default();
    let (out, err, code) = (read("out"), read("err"), read("code"));
    let is_right = match client.expected {
        Prints(text) => out == text && code.trim() == "0",
        Refused(prints, says) => out.contains(prints) && err.contains(says),
        Needs(prints, entries, says) => {
            let advised: Vec<String> = read("advised").lines().map(str::to_owned).collect();
            // Without entries here, what is advised is too much to be written down; it suffices all the same.
            let are_advised = entries.is_empty() || advised == entries;
            out == prints
                && are_advised
                && err.contains(says)
                && (advised.is_empty() || read("again") == prints)
        }
    };
    let again = read("advised") + &read("again");
    (!is_right).then(|| format!("--- {}: exit {}\n{out}\n{err}\n{again}", client.name, code.trim()))
}

/// A folder in the build's own: what is below `/tmp` is not the same within a sandbox.
fn tempfile_in_target() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}
