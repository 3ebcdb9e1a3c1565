//! The options with which a built-in rule allows a program. With any other or unknown option, the rule does not match.
//!
//! A denylist is never complete: `jobs` only reads, and `jobs -x` runs a command. So shell builtins, and programs with few
//! options, have an allowlist here, in the notation of [`OptionTable`].

use std::borrow::Cow;
use std::sync::LazyLock;

use super::program::trusted;
use stockade_shell::getopt::{self, OptionOrder, OptionTable};
use stockade_shell::lookup::{ByName, by_name};
use stockade_shell::{Arg, Run};

struct Listed {
    programs: &'static [&'static str],
    order: OptionOrder,
    options: OptionTable,
}

/// A shell builtin: its options end at the first operand.
const fn builtin(programs: &'static [&'static str], options: &'static str) -> Listed {
    Listed { programs, order: OptionOrder::Strict, options: OptionTable::new(options) }
}

/// A program that accepts options after operands.
const fn program(programs: &'static [&'static str], options: &'static str) -> Listed {
    Listed { programs, order: OptionOrder::Anywhere, options: OptionTable::new(options) }
}

#[rustfmt::skip]
static LISTED: [Listed; 24] = [
    // bash(1), zshbuiltins(1), dash(1). Letters that differ between shells do not take a command in any of them. The options of
    // `set` are in the crate `shell`; `echo`, `test`, `true` and similar builtins have none.
    builtin(&["jobs"], "-d -l -n -p -r -s"),
    builtin(&["dirs"], "-c -l -p -v -#"),
    builtin(&["times"], ""),
    builtin(&["pwd"], "-L -P -r -W"),
    builtin(&["type"], "-a -f -m -p -P -s -S -t -w"),
    builtin(&["hash"], "-f -l -r -t -v"),
    builtin(&["alias", "ulimit"], "-a -H -S"),
    builtin(&["umask"], "-p -S"),
    builtin(&["cd"], "-e -L -P -q -s -#"),
    builtin(&["getopts", "shift", "return", "break", "continue", "exit"], "-#"),
    builtin(&["printf"], "-v:"),
    builtin(&["read"], "-a: -d: -e -E -i: -n: -N: -p: -r -s -t: -u: -A -c -k? -l -q -z -#"),
    builtin(&["wait"], "-f -n -p:"),
    builtin(&["local", "declare", "typeset", "export", "readonly"],
        "-a -A -f -F -g -i -I -l -n -p -r -t -u -x -U -h -H -E -L -R -Z -T"),
    builtin(&["unset"], "-f -n -v"),
    builtin(&["kill"], ""),
    builtin(&["command"], "-v: -V:"),
    // An operand ends the options. `-W` can set any other option (POSIX).
    builtin(&["awk", "gawk", "mawk", "nawk"],
        "-F: -v: -b -c -C -h -k -M -n -N -O -P -r -s -S -t -V --field-separator= --assign= --posix --traditional --re-interval --csv \
         --characters-as-bytes --sandbox --version --help --copyright --non-decimal-data --use-lc-numeric --optimize --no-optimize --lint-old --bignum"),
    // Some other options of these write or delete files.
    program(&["zcat", "gzcat", "bzcat", "xzcat", "lzcat", "zstdcat", "lz4cat"],
        "-d -f -k -q -s -v -V -L -T: -M: --decompress --force --keep --quiet --silent --verbose --version --help --small --no-warn \
         --no-sparse --threads="),
    // Listing an archive of one volume.
    program(&["tar", "gtar", "bsdtar"],
        "-t -f: -v -z -j -J -Z -a --list --file= --verbose --gzip --bzip2 --xz --zstd --wildcards --no-wildcards --exclude= --strip-components= \
         --numeric-owner --full-time --no-recursion --totals"),
    // Others select another cluster, log requests, write a profile, or start an editor.
    program(&["kubectl", "oc"],
        "-n: -o: -l: -c: -L: -A -w -f -p -R -h -q -i -v: --namespace= --output= --selector= --all-namespaces --watch --watch-only --container= --follow \
         --previous --tail= --since= --since-time= --timestamps --prefix --all-containers --max-log-requests= --limit-bytes= --show-labels --show-kind \
         --show-managed-fields --sort-by= --field-selector= --no-headers --ignore-not-found --chunk-size= --label-columns= --context= --cluster= \
         --request-timeout= --client --short --api-group= --namespaced=? --verbs= --cached --recursive --api-version= --show-events=? --containers \
         --sum --types= --revision= --timeout= --subresource= --quiet --list --dry-run=? --filename= --overwrite --all --replicas= --image= --port= \
         --target-port= --type= --protocol= --name= --external-name= --tcp= --min= --max= --cpu-percent= --labels= --env= --from-literal= --schedule= \
         --class= --rule= --clusterrole= --role= --serviceaccount= --user= --group= --verb= --resource= --resource-name= --hard= --scopes= --limits= \
         --requests= --validate=? --server-side --save-config --record --force --grace-period= --now --wait=? --current-replicas= --resource-version= \
         --match-server-version --help"),
    program(&["helm"],
        "-n: -A -a -o: -q -l: -r -m: -d -h --namespace= --all-namespaces --all --output= --short --selector= --filter= --max= --offset= --date --reverse \
         --deployed --failed --pending --superseded --uninstalled --uninstalling --revision= --show-resources --show-desc --kube-context= --time-format= \
         --template= --client --versions --version= --regexp --devel --max-col-width= --help"),
    // Options for certificate files and for the parts to print.
    program(&["openssl"],
        "-in: -noout -text -subject -issuer -dates -startdate -enddate -serial -fingerprint -sha1 -sha256 -sha384 -sha512 -md5 -purpose -ext: -checkend: \
         -checkhost: -checkip: -checkemail: -modulus -pubkey -hash -subject_hash -issuer_hash -nameopt: -certopt: -inform: -email -ocsp_uri -ocspid -alias \
         -lastupdate -nextupdate -verify: -untrusted: -trusted: -verbose -x509_strict -partial_chain -show_chain -no_check_time -attime: -verify_hostname: \
         -verify_email: -verify_ip: -policy_check -crl_check -crl_check_all -issuer_checks -a -v -V -b -o -p -d -f -r -e -m -s -c -stdname -psk -srp \
         -tls1 -tls1_1 -tls1_2 -tls1_3 -i -dump -dlimit: -offset: -length: -hex -bits: -generate -safe -checks: -help"),
    // The options of grep(1), except those that read patterns or names from files.
    program(&["zgrep", "zegrep", "zfgrep", "bzgrep", "bzegrep", "bzfgrep", "xzgrep", "xzegrep", "xzfgrep"],
        "-a -A: -B: -b -c -C: -d: -D: -e: -E -F -G -h -H -i -l -L -m: -n -o -q -r -R -s -T -u -U -v -w -x -y -z -P -# \
         --after-context= --before-context= --context= --count --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= \
         --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --max-count= --line-number --with-filename --no-filename \
         --files-with-matches --files-without-match --only-matching --quiet --silent --no-messages --null --color=? --colour=? --text --byte-offset \
         --binary-files= --help --version"),
];

static BY_NAME: LazyLock<ByName<Vec<&'static Listed>>> =
    LazyLock::new(|| by_name(LISTED.iter(), |row| row.programs));

/// Returns whether a built-in rule may allow every option of a command. For programs that are not in the table, it always may.
/// Words that are only known at run time are checked elsewhere, for all programs.
pub(super) fn are_listed(run: &Run<'_>) -> bool {
    let Some(rows) = run.program().and_then(|name| BY_NAME.get(trusted(name))) else { return true };
    let known = |arg: &Arg<'_>| Arg::Known(Cow::Owned(arg.known().unwrap_or("x").to_owned()));
    let words: Vec<Arg<'_>> = run.argv.iter().map(known).collect();
    rows.iter().all(|row| !getopt::parse(&words, 1, &row.options, row.order).unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::CommandContext;
    use crate::decision::policy::CommandPolicy;
    use crate::rules::effect::Effect;
    use stockade_shell::{ReadOptions, Shell};

    #[test]
    fn an_option_that_is_not_listed_is_never_allowed() {
        let policy = CommandPolicy::builtin();
        let options = ReadOptions::for_shell(Shell::Bash);
        let effect = |text: &str| policy.decide(text, &options, &CommandContext::default()).effect;
        let mut tried = 0;
        for row in &LISTED {
            for letter in ('a'..='z').chain('A'..='Z') {
                let option = [Arg::Known("x".into()), Arg::Known(format!("-{letter}").into())];
                if !getopt::parse(&option, 1, &row.options, row.order).unknown {
                    continue;
                }
                // The command that `command` runs is checked separately.
                for program in row.programs.iter().filter(|program| **program != "command") {
                    for text in [format!("{program} -{letter} ls"), format!("{program} -{letter}ls")] {
                        assert!(effect(&text) > Effect::Allow, "{text}");
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 1000, "{tried}");
        for text in [
            "jobs -l",
            "zstdcat -f x",
            "zgrep -in x f.gz",
            "read -r line",
            "type -p ls",
            "printf '%s' -x",
            "awk -F: -v n=1 '{print $n}' f",
        ] {
            assert_eq!(effect(text), Effect::Allow, "{text}");
        }
        for text in [
            "zstdcat x -o out",
            "zstdcat -fo out x",
            "lz4cat --rm x",
            "zgrep -f .env x",
            "xzcat --files=x",
            "gawk -W exec=x",
            "mawk -W exec x",
            "awk -Wexec=x f",
            "gawk --profile=x 1 f",
        ] {
            assert!(effect(text) > Effect::Allow, "{text}");
        }
    }
}
