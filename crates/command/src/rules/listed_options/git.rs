//! The options of git by subcommand. Options that write a file, run a program, read names from a file or read outside the repository
//! are missing: `--output`, `--ext-diff`, `--textconv`, `--no-index`, `-O`, `--open-files-in-pager`, `--contents`, `--show-signature`.

use super::{Listed, subcommands};

/// What the subcommands that show commits and differences have in common.
macro_rules! shown {
    ($($more:literal)?) => {
        concat!(
            "-a -b -B? -c -C? -D -g -G? -i -I? -l? -L? -m -M? -n? -p -P -q -r -R -s -S? -t -u -U? -v -w -W -X? -z -# -1 --abbrev --abbrev-commit --after --all \
             --all-match --anchored --ancestry-path --author --author-date-order --basic-regexp --before --binary --bisect --boundary --branches --break-rewrites \
             --cc --check --cherry --cherry-mark --cherry-pick --clear-decorations --color --color-moved --color-moved-ws --color-words --combined-all-paths \
             --committer --compact-summary --count --cumulative --date --date-order --decorate --decorate-refs --decorate-refs-exclude --default-prefix --dense \
             --diff-algorithm --diff-filter --diff-merges --dirstat --dirstat-by-file --do-walk --dst-prefix --encoding --exclude --exclude-first-parent-only \
             --exclude-hidden --exit-code --expand-tabs --extended-regexp --find-copies --find-copies-harder --find-object --find-renames --first-parent \
             --fixed-strings --follow --format --full-diff --full-history --full-index --function-context --glob --graph --grep --grep-reflog --histogram \
             --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol --ignore-matching-lines --ignore-missing --ignore-space-at-eol --ignore-space-change \
             --ignore-submodules --indent-heuristic --inter-hunk-context --invert-grep --irreversible-delete --ita-invisible-in-index --ita-visible-in-index \
             --left-only --left-right --line-prefix --log-size --mailmap --max-age --max-count --max-parents --merge --merges --min-age --min-parents --minimal \
             --name-only --name-status --no-abbrev --no-abbrev-commit --no-color --no-color-moved --no-decorate --no-diff-merges --no-expand-tabs --no-ext-diff \
             --no-graph --no-indent-heuristic --no-mailmap --no-max-parents --no-merges --no-min-parents --no-notes --no-patch --no-prefix --no-relative \
             --no-rename-empty --no-renames --no-standard-notes --no-textconv --no-use-mailmap --no-walk --not --notes --numstat --oneline --output-indicator-context \
             --output-indicator-new --output-indicator-old --parents --patch --patch-with-raw --patch-with-stat --patience --perl-regexp --pickaxe-all \
             --pickaxe-regex --pretty --quiet --raw --reflog --regexp-ignore-case --relative --relative-date --remerge-diff --remotes --remove-empty \
             --rename-empty --reverse --right-only --root --rotate-to --shortstat --show-linear-break --show-notes --show-notes-by-default --show-pulls \
             --simplify-by-decoration --simplify-merges --since --since-as-filter --single-worktree --skip --skip-to --source --sparse --src-prefix --standard-notes \
             --stat --stat-count --stat-graph-width --stat-name-width --stat-width --submodule --summary --tags --text --topo-order --unified --until \
             --use-mailmap --walk-reflogs --word-diff --word-diff-regex --ws-error-highlight ",
            $($more)?
        )
    };
}

#[rustfmt::skip]
pub(super) static GIT: [Listed; 16] = [
    subcommands(&["git"], &["log", "diff", "show", "whatchanged", "reflog", "range-diff", "diff-tree", "diff-index", "diff-files", "stash"],
        shown!("-0 -2 -3 --base --cached --creation-factor --dual-color --expire --include-untracked --merge-base --no-commit-id --no-dual-color --only-untracked \
                --ours --staged --stdin --theirs --updateref --verbose")),
    subcommands(&["git"], &["rev-list", "shortlog", "merge-base", "cherry", "patch-id"],
        shown!("-e -h --bisect-all --bisect-vars --children --disk-usage --email --fork-point --group --header --independent --in-commit-order \
                --is-ancestor --numbered --object-names --objects --objects-edge --octopus --no-object-names --stable --timestamp --unpacked --unstable --verbatim \
                --verbose")),
    subcommands(&["git"], &["status"],
        "-b -M? -s -u? -v -z --ahead-behind --branch --column --find-renames --ignore-submodules --ignored --long --no-ahead-behind --no-column --no-renames --null \
         --porcelain --renames --short --show-stash --untracked-files --verbose"),
    subcommands(&["git"], &["rev-parse"],
        "-q --abbrev-ref --absolute-git-dir --after --all --before --bisect --branches --default --disambiguate --exclude --exclude-hidden --flags --git-common-dir \
         --git-dir --git-path --glob --is-bare-repository --is-inside-git-dir --is-inside-work-tree --is-shallow-repository --local-env-vars --no-flags --no-revs --not \
         --path-format --prefix --quiet --remotes --revs-only --shared-index-path --short --show-cdup --show-object-format --show-prefix --show-ref-format \
         --show-superproject-working-tree --show-toplevel --since --sq --symbolic --symbolic-full-name --tags --until --verify"),
    subcommands(&["git"], &["describe", "name-rev"],
        "--abbrev --all --always --annotate-stdin --broken --candidates --contains --debug --dirty --exact-match --exclude --first-parent --long --match --name-only \
         --no-undefined --refs --tags --undefined"),
    subcommands(&["git"], &["ls-files", "ls-tree"],
        "-c -d -f -i -k -l -m -o -r -s -t -u -v -x? -z --abbrev --cached --debug --deduplicate --deleted --directory --eol --error-unmatch --exclude \
         --exclude-per-directory --exclude-standard --format --full-name --full-tree --ignored --killed --long --modified --name-only --name-status \
         --no-empty-directory --object-only --others --recurse-submodules --resolve-undo --sparse --stage --unmerged"),
    subcommands(&["git"], &["cat-file"],
        "-e -p -s -t -Z -z --allow-unknown-type --batch --batch-all-objects --batch-check --buffer --follow-symlinks --mailmap --unordered --use-mailmap"),
    subcommands(&["git"], &["blame", "annotate"],
        "-b -c -C? -e -f -h -l -L? -M? -n -p -s -t -w --abbrev --color-by-age --color-lines --date --encoding --first-parent --ignore-rev --incremental --line-porcelain \
         --minimal --porcelain --progress --reverse --root --score-debug --show-email --show-name --show-number --show-stats --since"),
    subcommands(&["git"], &["show-ref", "show-branch", "for-each-ref", "count-objects", "check-ignore", "check-attr", "verify-pack", "merge-tree"],
        "-a -d -g? -H -n -q -r -s? -v -z --abbrev --all --allow-unrelated-histories --branches --cached --color --contains --count --current --date-order --dereference --exclude \
         --exists --format --hash --head --heads --human-readable --ignore-case --include-root-refs --independent --list --merge-base --merged --messages --more --name-only \
         --no-color --no-contains --no-index --no-merged --no-messages --no-name --non-matching --object-format --omit-empty --points-at --quiet --reflog --remotes --sha1-name --shell \
         --sort --sparse --stat-only --tags --topics --topo-order --trivial-merge --verbose --verify"),
    subcommands(&["git"], &["grep"],
        "-a -A: -B: -c -C: -e: -E -F -G -h -H -i -I -l -L -m? -n -o -p -P -q -r -v -w -W -z -# --after-context --all-match --and --basic-regexp --before-context --break \
         --cached --color --column --context --count --exclude-standard --extended-regexp --files-with-matches --files-without-match --fixed-strings --full-name \
         --function-context --heading --ignore-case --invert-match --line-number --max-count --max-depth --name-only --no-color --no-exclude-standard --no-recursive --not --null \
         --only-matching --or --perl-regexp --quiet --recurse-submodules --recursive --show-function --text --threads --untracked --word-regexp"),
    subcommands(&["git"], &["version", "var", "-v"], "-l --build-options"),
    subcommands(&["git"], &["help"], "-a -c -g -m -v --all --config --developer-interfaces --guides --man --no-aliases --no-external-commands --no-verbose --user-interfaces --verbose"),
    subcommands(&["git"], &["branch", "tag", "remote", "worktree", "notes"],
        "-a -i -l -n? -q -r -v -vv -z --abbrev --all --color --column --contains --expire --format --ignore-case --list --merged --no-abbrev --no-color --no-column \
         --no-contains --no-merged --omit-empty --points-at --porcelain --push --quiet --remotes --show-current --sort --verbose --with --without"),
    subcommands(&["git"], &["submodule", "bisect", "lfs"],
        "-a -d -j -l -n -q -s --all --cached --deleted --include --exclude --json --long --name-only --porcelain --quiet --recursive --size"),
    subcommands(&["git"], &["config"],
        "-l -z --all --bool --bool-or-int --bool-or-str --default --expiry-date --fixed-value --get --get-all --get-color --get-colorbool --get-regexp --get-urlmatch --global \
         --includes --int --list --local --name-only --no-includes --no-type --null --path --regexp --show-names --show-origin --show-scope --system --type --url --value --worktree"),
    subcommands(&["git"], &["add", "stage"],
        "-A -f -n -N -u -v --all --chmod --dry-run --force --ignore-errors --ignore-missing --ignore-removal --intent-to-add --no-all --no-ignore-removal \
         --no-warn-embedded-repo --refresh --renormalize --sparse --update --verbose"),
];
