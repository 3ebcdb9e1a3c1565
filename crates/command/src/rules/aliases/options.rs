//! Options with several names: `-f` of `rm` is `--force`.

use crate::rules::program::base;

/// Programs, their subcommand if only that has the options, and the names of each option, with a bar between options.
type Row = (&'static [&'static str], &'static str, &'static str);

/// From the manual of each program. Only options that a rule could deny, require or except are listed.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    (&["rm"], "", "-r -R --recursive | -f --force | -i --interactive"),
    (&["cp"], "", "-r -R --recursive -a --archive | -f --force | -t --target-directory"),
    (&["mv"], "", "-f --force | -t --target-directory"),
    (&["ln"], "", "-f --force | -s --symbolic"),
    (&["chmod", "chown", "chgrp"], "", "-R --recursive | -f --silent --quiet"),
    (&["grep", "egrep", "fgrep"], "", "-r --recursive -R --dereference-recursive | -f --file"),
    (&["sed", "gsed"], "", "-i --in-place | -f --file | -e --expression"),
    (&["sort"], "", "-o --output | -T --temporary-directory"),
    (&["tar", "gtar", "bsdtar"], "", "-x --extract --get | -c --create | -f --file | -C --directory | -P --absolute-names | -I --use-compress-program"),
    (&["curl"], "", "-o --output | -O --remote-name | -d --data | -T --upload-file | -F --form | -k --insecure | -K --config | -X --request | -L --location | -x --proxy | -u --user"),
    (&["wget"], "", "-O --output-document | -P --directory-prefix | -i --input-file | -r --recursive | -e --execute"),
    (&["rsync"], "", "-e --rsh | -a --archive | -r --recursive"),
    (&["git"], "push", "-f --force | -d --delete | -u --set-upstream | -n --dry-run | -o --push-option"),
    (&["git"], "commit", "-n --no-verify | -a --all | -m --message | -F --file | -S --gpg-sign"),
    (&["git"], "clean", "-f --force | -n --dry-run"),
    (&["git"], "branch", "-d --delete | -m --move | -f --force | -r --remotes | -a --all | -c --copy"),
    (&["git"], "tag", "-d --delete | -f --force | -s --sign | -a --annotate"),
    (&["git"], "checkout", "-f --force"),
    (&["git"], "switch", "-f --force --discard-changes | -c --create | -C --force-create"),
    (&["git"], "add", "-A --all --no-ignore-removal | -f --force | -u --update"),
    (&["git"], "rm", "-f --force"),
    (&["git"], "mv", "-f --force"),
    (&["git"], "rebase", "-i --interactive | -x --exec"),
    (&["git"], "fetch", "-f --force | -p --prune | -t --tags"),
    (&["git"], "stash", "-u --include-untracked | -a --all"),
    (&["npm", "pnpm"], "", "-g --global | -f --force | -D --save-dev | -S --save | -C --prefix"),
    (&["pip", "pip3"], "", "-U --upgrade | -r --requirement | -e --editable | -i --index-url | -t --target | -f --find-links"),
    (&["cargo"], "", "-p --package | -j --jobs | -Z --unstable"),
    (&["docker", "podman", "nerdctl"], "", "-v --volume | -f --force | -i --interactive | -t --tty | -p --publish | -e --env | -a --all | -u --user | -H --host"),
    (&["kubectl", "oc"], "", "-n --namespace | -f --filename | -A --all-namespaces | -l --selector | -k --kustomize | -s --server"),
    (&["apt", "apt-get"], "", "-y --yes --assume-yes | -o --option"),
    (&["dnf", "yum"], "", "-y --assumeyes"),
    (&["kill"], "", "-9 -KILL -SIGKILL"),
    (&["make", "gmake"], "", "-f --file --makefile | -C --directory"),
    (&["systemctl"], "", "-H --host | -f --force"),
    (&["crontab"], "", "-r --remove"),
    (&["sudo"], "", "-u --user | -i --login | -s --shell | -E --preserve-env"),
];

/// Returns the options with several names of any of these programs, with a bar between options.
pub(crate) fn of_programs(programs: &[&str], command: Option<&str>) -> Vec<&'static str> {
    let bases: Vec<&str> = programs.iter().map(|program| base(program)).collect();
    let is_about = |(names, sub, _): &&Row| {
        (sub.is_empty() || command == Some(*sub)) && names.iter().any(|name| bases.contains(name))
    };
    ROWS.iter().filter(is_about).map(|(_, _, options)| *options).collect()
}

/// Returns all names of an option from [`of_programs`], or only its own name.
pub(crate) fn names_of(known: &[&str], option: &str) -> Vec<String> {
    let options = known.iter().flat_map(|options| options.split(" | "));
    let with = options.filter(|names| names.split(' ').any(|name| name == option));
    let mut all: Vec<String> = vec![option.to_owned()];
    all.extend(with.flat_map(|names| names.split(' ')).filter(|name| *name != option).map(str::to_owned));
    all
}

/// Splits a cluster into single options, if one of them has another name.
pub(crate) fn parts_of(known: &[&str], option: &str) -> Vec<String> {
    let letters = option.strip_prefix('-').filter(|letters| {
        (2..=4).contains(&letters.len()) && letters.bytes().all(|letter| letter.is_ascii_alphabetic())
    });
    let alone = || vec![option.to_owned()];
    let Some(letters) = letters else { return alone() };
    let parts: Vec<String> = letters.chars().map(|letter| format!("-{letter}")).collect();
    let has_names = parts.iter().any(|part| names_of(known, part).len() > 1);
    let is_known = names_of(known, option).len() > 1;
    if has_names && !is_known { parts } else { alone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_all_its_names() {
        assert_eq!(names_of(&of_programs(&["/bin/rm"], None), "--force"), ["--force", "-f"]);
        assert_eq!(names_of(&of_programs(&["git"], Some("push")), "-n"), ["-n", "--dry-run"]);
        assert_eq!(names_of(&of_programs(&["git"], Some("commit")), "-n"), ["-n", "--no-verify"]);
        assert_eq!(names_of(&of_programs(&["tool"], None), "-f"), ["-f"]);
        assert_eq!(parts_of(&of_programs(&["rm"], None), "-rf"), ["-r", "-f"]);
        assert_eq!(parts_of(&of_programs(&["kill"], None), "-KILL"), ["-KILL"]);
        assert_eq!(parts_of(&of_programs(&["find"], None), "-exec"), ["-exec"]);
    }
}
