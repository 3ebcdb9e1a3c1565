//! Files, archives, the shell and what a system offers.

use super::{Workflow, all_work};

#[test]
fn files_and_the_shell_work() {
    all_work(ROWS);
}

#[rustfmt::skip]
pub(super) const ROWS: &[Workflow] = &[
    Workflow {
        name: "pack and unpack with tar",
        needs: &["tar", "gzip"],
        before: "mkdir -p d/e; echo a > d/e/a; ln -s a d/e/l; ln d/e/a d/e/h; chmod 750 d/e/a",
        inside: "tar czf d.tgz d; mkdir out; tar xpzf d.tgz -C out; diff -r d out/d",
        after: "test \"$(stat -c %a out/d/e/a)\" = 750; test -L out/d/e/l; test \"$(stat -c %h out/d/e/a)\" = 2",
        ..Workflow::NEW
    },
    Workflow {
        name: "zip and unzip",
        needs: &["zip", "unzip"],
        before: "mkdir d; echo a > d/a",
        inside: "zip -qr d.zip d; unzip -qd out d.zip; diff -r d out/d",
        ..Workflow::NEW
    },
    Workflow {
        name: "compress",
        needs: &["xz", "zstd", "bzip2"],
        inside: "seq 9999 > a; xz -k a; zstd -q a; bzip2 -k a; xz -dc a.xz | cmp - a; zstd -qdc a.zst | cmp - a; bzip2 -dc a.bz2 | cmp - a",
        ..Workflow::NEW
    },
    Workflow {
        name: "diff and patch",
        needs: &["diff", "patch"],
        before: "seq 20 > a; cp a b; sed -i s/7/seven/ b",
        inside: "diff -u a b > p || true; patch -s a p; cmp a b",
        after: "grep -q seven a",
        ..Workflow::NEW
    },
    Workflow {
        name: "find, xargs, sed, sort",
        needs: &["find", "xargs", "sed", "sort", "awk"],
        before: "mkdir -p a/b; for n in 1 2 3; do echo $n > a/b/$n.txt; done",
        inside: "find . -name '*.txt' -print0 | xargs -0 sed -i s/2/two/; cat a/b/*.txt | sort -T . | awk '{print NR, $0}' > out; find a -name 3.txt -delete",
        after: "grep -q two out; test ! -e a/b/3.txt",
        ..Workflow::NEW
    },
    Workflow {
        name: "copy with everything, move, remove",
        before: "mkdir -p a/b; echo x > a/b/x; touch -d 2001-01-01 a/b/x",
        inside: "cp -a a c; mv a/b b; rm -rf a; install -D -m 755 b/x bin/x; test c/b/x -ot b",
        after: "test ! -e a; test -x bin/x; test \"$(stat -c %Y c/b/x)\" = \"$(stat -c %Y b/x)\"",
        ..Workflow::NEW
    },
    Workflow {
        name: "modes, times and links",
        inside: "umask 027; echo x > f; chmod u+x,g-r f; touch -d 2001-01-01 f; ln -s f s; ln f h; mkdir -m 1777 t; chmod 0500 t; truncate -s 1M sparse",
        after: "test \"$(stat -c %a f)\" = 700; test \"$(stat -c %s sparse)\" = 1048576; test \"$(readlink s)\" = f",
        ..Workflow::NEW
    },
    Workflow {
        name: "pipes with names, jobs, signals and traps",
        inside: "mkfifo p; (echo through > p) & cat p; trap 'echo trapped > t' USR1; kill -USR1 $$; sleep 0.01; wait; grep -q trapped t",
        after: "test -p p",
        ..Workflow::NEW
    },
    Workflow {
        name: "locks",
        needs: &["flock"],
        inside: "flock l sh -c 'flock -n l true && exit 1; exit 0'; flock -n l true",
        ..Workflow::NEW
    },
    Workflow {
        name: "temporary files",
        inside: "t=$(mktemp); echo x > $t; d=$(mktemp -d); mv $t $d/x; cp $d/x .; df -P /tmp > /dev/null; cat <<'.' > y\nhere\n.\ncat y | tee z > /dev/null",
        after: "test -e x; grep -q here z",
        ..Workflow::NEW
    },
    Workflow {
        name: "much output",
        inside: "seq 200000; head -c 1000000 /dev/zero | tr '\\0' x | wc -c | grep -q 1000000",
        ..Workflow::NEW
    },
    Workflow {
        name: "JSON with jq",
        needs: &["jq"],
        inside: "echo '{\"a\": [1, 2]}' > f; jq -e '.a[1] == 2' f; jq '.b = 3' f > g; mv g f",
        after: "grep -q b f",
        ..Workflow::NEW
    },
    Workflow {
        name: "editors: ed and vim",
        needs: &["ed", "vim"],
        before: "echo one > f",
        inside: "printf 's/one/two/\\nw\\nq\\n' | ed -s f; vim -es -u NONE -c 's/two/three/' -c wq f < /dev/null",
        after: "grep -q three f",
        ..Workflow::NEW
    },
    Workflow {
        name: "a manual page",
        needs: &["man"],
        inside: "man --version > /dev/null; man -w sh > /dev/null 2>&1 || true",
        ..Workflow::NEW
    },
    Workflow {
        name: "calculate",
        needs: &["bc"],
        inside: "test \"$(echo '2^64' | bc)\" = 18446744073709551616; test $(expr 6 \\* 7) = 42",
        ..Workflow::NEW
    },
    Workflow {
        name: "a database with a log of its own",
        needs: &["sqlite3"],
        inside: "sqlite3 d 'pragma journal_mode=wal; create table t(x); insert into t values(1)' > /dev/null; for n in 1 2 3; do sqlite3 d \"insert into t values($n)\"; done; test \"$(sqlite3 d 'select count(*) from t')\" = 4",
        after: "test \"$(sqlite3 d 'select count(*) from t')\" = 4",
        ..Workflow::NEW
    },
    Workflow {
        name: "keys and certificates",
        needs: &["openssl", "ssh-keygen"],
        inside: "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -out c -subj /CN=x 2> /dev/null; openssl x509 -in c -noout; ssh-keygen -q -t ed25519 -N '' -f id",
        after: "test -e id.pub; test \"$(stat -c %a id)\" = 600",
        ..Workflow::NEW
    },
    Workflow {
        name: "encrypt and decrypt",
        needs: &["gpg"],
        inside: "export GNUPGHOME=/tmp/g; mkdir -m 700 $GNUPGHOME; echo x > f; gpg --batch --quiet --passphrase p --pinentry-mode loopback -c f; gpg --batch --quiet --passphrase p --pinentry-mode loopback -d f.gpg | cmp - f",
        ..Workflow::NEW
    },
    Workflow {
        name: "a terminal within a terminal",
        needs: &["tmux"],
        inside: "SHELL=/bin/sh tmux -f /dev/null new-session -d -s s 'echo in tmux > t; sleep 5'; for n in 1 2 3 4 5 6 7 8 9; do test -s t && break; sleep 0.1; done; tmux kill-server; grep -q tmux t",
        ..Workflow::NEW
    },
    Workflow {
        name: "a server and its client",
        needs: &["python3", "curl"],
        before: "echo page > index.html",
        inside: "python3 -m http.server 8123 --bind 127.0.0.1 > /dev/null 2>&1 & for n in 1 2 3 4 5 6 7 8 9; do curl -fs http://127.0.0.1:8123/index.html > got && break; sleep 0.2; done; kill $!; grep -q page got",
        ..Workflow::NEW
    },
    Workflow {
        name: "who and where one is",
        inside: "id > /dev/null; whoami > /dev/null; hostname > /dev/null; uname -a > /dev/null; date > /dev/null; TZ=Europe/Berlin date > /dev/null; nproc > /dev/null; locale > /dev/null; getent passwd root > /dev/null; getent hosts localhost > /dev/null; cat /etc/os-release > /dev/null",
        ..Workflow::NEW
    },
    Workflow {
        name: "what runs and what is free",
        needs: &["ps", "free"],
        inside: "ps aux > /dev/null; free > /dev/null; uptime > /dev/null 2>&1 || true; cat /proc/cpuinfo > /dev/null; test -r /proc/self/status",
        ..Workflow::NEW
    },
    Workflow {
        name: "a time limit and a lower priority",
        inside: "timeout 5 true; ! timeout 0.1 sleep 5; nice -n 5 true; nohup true > /dev/null 2>&1; setsid true",
        ..Workflow::NEW
    },
    Workflow {
        name: "look at system calls",
        needs: &["strace"],
        inside: "strace -f -o t true; grep -q execve t",
        ..Workflow::NEW
    },
    Workflow {
        name: "a session that is written down",
        needs: &["script"],
        inside: "script -qc 'echo seen' log > /dev/null; grep -q seen log",
        ..Workflow::NEW
    },
];
