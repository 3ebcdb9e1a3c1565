//! Programs that read files and text. Options that write, run a program, or read names or patterns from a file are missing: the
//! content of that file is shown in messages, or decides what else is read.

use super::{Listed, program, words};

#[rustfmt::skip]
pub(super) static TEXT: [Listed; 43] = [
    program(&["ls"],
        "-a -A -b -B -c -C -d -D -e -f -F -g -G -h -H -i -I? -k -l -L -m -n -N -o -p -P -q -Q -r -R -s -S -t -T? -u -U -v -w? -x -X -y -Z -1 -@ \
         --all --almost-all --author --block-size --classify --color --context --dereference --dereference-command-line \
         --dereference-command-line-symlink-to-dir --directory --dired --escape --file-type --format --full-time --group-directories-first --help --hide \
         --hide-control-chars --human-readable --hyperlink --ignore --ignore-backups --indicator-style --inode --kibibytes --literal --no-group \
         --numeric-uid-gid --quote-name --quoting-style --recursive --reverse --show-control-chars --si --size --sort --tabsize --time --time-style --version \
         --width --zero"),
    program(&["cat"],
        "-A -b -e -E -n -s -t -T -u -v --help --number --number-nonblank --show-all --show-ends --show-nonprinting --show-tabs --squeeze-blank --version"),
    program(&["head", "tail"],
        "-b? -c: -f -F -n: -q -r -s? -v -z -# --bytes= --follow --help --lines= --max-unchanged-stats --pid --quiet --retry --silent --sleep-interval \
         --verbose --version --zero-terminated"),
    program(&["grep", "egrep", "fgrep"],
        "-a -A: -b -B: -c -C: -d? -D? -e: -E -F -G -h -H -i -I -l -L -m: -n -o -P -q -r -R -s -T -u -U -v -V -w -x -y -z -Z -# --after-context \
         --basic-regexp --before-context --binary --binary-files --byte-offset --color --colour --context --count --dereference-recursive --devices \
         --directories --exclude --exclude-dir --extended-regexp --files-with-matches --files-without-match --fixed-strings --group-separator --help \
         --ignore-case --include --initial-tab --invert-match --label --line-buffered --line-number --line-regexp --max-count --no-filename \
         --no-group-separator --no-ignore-case --no-messages --null --null-data --only-matching --perl-regexp --quiet --recursive --regexp= --silent --text \
         --version --with-filename --word-regexp"),
    program(&["cut"],
        "-b: -c: -d: -f: -n -s -w -z --bytes --characters --complement --delimiter --fields --help --only-delimited --output-delimiter --version \
         --zero-terminated"),
    program(&["paste"], "-d: -s -z --delimiters --help --serial --version --zero-terminated"),
    // `-l` starts pr(1).
    program(&["diff"],
        "-a -b -B -c -C? -d -D? -e -E -F? -H -i -I? -L? -n -N -p -P -q -r -s -t -T -u -U? -v -w -W? -x? -y -Z -# --brief --color --context --ed \
         --exclude --expand-tabs --help --horizon-lines --ifdef --ignore-all-space --ignore-blank-lines --ignore-case --ignore-file-name-case \
         --ignore-matching-lines --ignore-space-change --ignore-tab-expansion --ignore-trailing-space --initial-tab --label --left-column --line-format \
         --minimal --new-file --new-group-format --new-line-format --changed-group-format --no-dereference --no-ignore-file-name-case --normal \
         --old-group-format --old-line-format --palette --rcs --recursive --report-identical-files --show-c-function --show-function-line --side-by-side \
         --speed-large-files --starting-file --strip-trailing-cr --suppress-blank-empty --suppress-common-lines --tabsize --text --unchanged-group-format \
         --unchanged-line-format --unidirectional-new-file --unified --version --width"),
    program(&["cmp"], "-b -h -i? -l -n? -s -v -x -z --bytes --help --ignore-initial --print-bytes --quiet --silent --verbose --version"),
    program(&["comm"], "-1 -2 -3 -i -z --check-order --help --nocheck-order --output-delimiter --total --version --zero-terminated"),
    program(&["wc"], "-c -l -L -m -w --bytes --chars --help --lines --max-line-length --total --version --words"),
    program(&["nl"],
        "-b? -d? -f? -h? -i? -l? -n? -p -s? -v? -w? --body-numbering --footer-numbering --header-numbering --help --join-blank-lines --line-increment \
         --no-renumber --number-format --number-separator --number-width --section-delimiter --starting-line-number --version"),
    program(&["tac"], "-b -r -s? --before --help --regex --separator --version"),
    program(&["rev"], "-h -V -0 --help --version --zero"),
    program(&["fold"], "-b -s -w? -# --bytes --help --spaces --version --width"),
    program(&["column"],
        "-c? -d -e -E? -h -H? -i? -J -l? -L -n? -N? -o: -O? -p? -r? -R? -s: -t -T? -V -W? -x --fillrows --help --json --keep-empty-lines \
         --output-separator --output-width --separator --table --table-columns --table-columns-limit --table-empty-lines --table-header-repeat --table-hide \
         --table-name --table-noextreme --table-noheadings --table-order --table-right --table-truncate --table-wrap --tree --tree-id --tree-parent --version"),
    program(&["od"],
        "-a -A? -b -B -c -d -D -e -f -F -h -H -i -I -j? -l -L -N? -o -O -s -S? -t? -v -w? -x -X --address-radix --endian --format --help \
         --output-duplicates --read-bytes --skip-bytes --strings --traditional --version --width"),
    program(&["hexdump"],
        "-b -c -C -d -e? -h -L? -n? -o -s? -v -V -x --canonical --color --format --help --length --no-squeezing --one-byte-char --one-byte-octal --skip \
         --two-bytes-decimal --two-bytes-hex --two-bytes-octal --version"),
    program(&["strings"],
        "-a -e? -f -h -n? -o -s? -t? -U? -v -V -w - -# --all --bytes --encoding --help --include-all-whitespace --output-separator --print-file-name --radix \
         --unicode --version"),
    program(&["stat"], "-c? -f -F -l -L -n -q -r -s -t? -x --cached --dereference --file-system --format --help --printf --terse --version"),
    program(&["du"],
        "-0 -a -A -b -B? -c -d? -D -g -h -H -i -I? -k -l -L -m -n -P -r -s -S -t? -x --all --apparent-size --block-size --bytes --count-links --dereference \
         --dereference-args --exclude --help --human-readable --inodes --max-depth --no-dereference --null --one-file-system --separate-dirs --si \
         --summarize --threshold --time --time-style --total --version"),
    program(&["df"],
        "-a -b -B? -c -g -h -H -i -I -k -l -m -n -P -t? -T? -v -x? -Y --all --block-size --exclude-type --help --human-readable --inodes --local --no-sync \
         --output --portability --print-type --si --total --type --version"),
    program(&["tr"], "-c -C -d -s -t -u --complement --delete --help --squeeze-repeats --truncate-set1 --version"),
    program(&["join"], "-1? -2? -a? -e? -i -j? -o? -t: -v? -z --check-order --header --help --ignore-case --nocheck-order --version --zero-terminated"),
    program(&["look"], "-a -d -f -h -t? -V --alphanum --alternative --help --ignore-case --terminate --version"),
    program(&["basename", "dirname"], "-a -s? -z --help --multiple --suffix --version --zero"),
    program(&["realpath", "readlink"],
        "-e -E -f -m -n -L -P -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --help --logical --no-newline --no-symlinks \
         --physical --quiet --relative-base --relative-to --silent --strip --verbose --version --zero"),
    program(&["sha1sum", "sha256sum", "sha512sum", "md5sum", "cksum", "b2sum"],
        "-a? -b -c -l? -t -w -z --algorithm --base64 --binary --check --help --ignore-missing --length --quiet --status --strict --tag --text --untagged --version \
         --warn --zero"),
    program(&["sort"],
        "-b -c -C -d -f -g -h -i -k: -m -M -n -r -R -s -S? -t: -u -V -z --batch-size --buffer-size --check --debug --dictionary-order --field-separator= \
         --general-numeric-sort --help --human-numeric-sort --ignore-case --ignore-leading-blanks --ignore-nonprinting --key= --merge --month-sort \
         --numeric-sort --parallel --random-sort --reverse --sort --stable --unique --version --version-sort --zero-terminated"),
    program(&["uniq"],
        "-c -d -D -f? -i -s? -u -w? -z -# --all-repeated --check-chars --count --group --help --ignore-case --repeated --skip-chars --skip-fields --unique \
         --version --zero-terminated"),
    program(&["xxd"], "-a -b -c? -C -d -e -E -g? -h -i -l? -n? -o? -p -ps -plain -r -s? -u -v"),
    program(&["tree"],
        "-a -A -c -C -d -D -f -F -g -h -i -I? -J -l -L? -n -N -p -P? -q -Q -r -s -S -t -u -U -v -x -X --charset --device --dirsfirst --du --filelimit \
         --filesfirst --gitignore --help --ignore-case --inodes --matchdirs --noreport --nolinks --prune --si --sort --timefmt --version"),
    // `-z` starts decompressors, and `-f` reads names from a file.
    program(&["file"],
        "-0 -b -d -e? -E -F? -h -i -I -k -l -L -n -N -p -P? -r -s -v --apple --brief --debug --dereference --exclude --extension --help --keep-going --list \
         --mime --mime-encoding --mime-type --no-buffer --no-dereference --no-pad --parameter --preserve-date --print0 --raw --separator --special-files \
         --version"),
    words(&["find"],
        "-H -L -P -E -X -s -x -O? -help -version -regextype: -maxdepth: -mindepth: -depth -d -xdev -mount -follow -noleaf -daystart -warn -nowarn \
         -ignore_readdir_race -noignore_readdir_race -name: -iname: -path: -ipath: -wholename: -iwholename: -lname: -ilname: -regex: -iregex: -type: -xtype: \
         -fstype: -size: -empty -perm: -executable -readable -writable -user: -group: -uid: -gid: -nouser -nogroup -inum: -links: -samefile: -newer: -anewer: \
         -cnewer: -newermt: -newerct: -newerat: -newermm: -newerBt: -amin: -atime: -cmin: -ctime: -mmin: -mtime: -Bmin: -Btime: -used: -context: -true -false \
         -prune -quit -print -print0 -printf: -ls -a -and -o -or -not"),
    program(&["rg"],
        "-. -0 -a -A: -b -B: -c -C: -d? -e: -E? -F -g: -h -H -i -I -j? -l -L -m: -M? -n -N -o -p -P -q -r: -s -S -t: -T: -u -U -v -V -w -x --after-context \
         --auto-hybrid-regex --before-context --binary --block-buffered --byte-offset --case-sensitive --color --colors --column --context --context-separator \
         --count --count-matches --crlf --debug --dfa-size-limit --encoding --engine --field-context-separator --field-match-separator --files \
         --files-with-matches --files-without-match --fixed-strings --follow --glob= --glob-case-insensitive --heading --help --hidden --iglob= --ignore-case \
         --include-zero --invert-match --json --line-buffered --line-number --line-regexp --max-columns --max-columns-preview --max-count --max-depth \
         --max-filesize --maxdepth --mmap --multiline --multiline-dotall --no-config --no-filename --no-heading --no-hidden --no-ignore --no-ignore-dot \
         --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-line-number --no-messages \
         --no-mmap --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator --pcre2 --pcre2-version \
         --pretty --quiet --regex-size-limit --regexp= --replace= --smart-case --sort --sortr --stats --stop-on-nonmatch --text --threads --trace --trim \
         --type --type-add --type-clear --type-list --type-not --unrestricted --version --vimgrep --with-filename --word-regexp"),
    program(&["ag"],
        "-0 -a -A? -B? -c -C? -D -f -F -g? -G? -h -H -i -l -L -m? -n -o -Q -r -R -s -S -t -u -U -v -V -w --ackmate --after --all-text --all-types --before --break \
         --case-sensitive --cc --color --column --context --count --cpp --css --debug --depth --file-search-regex --filename --files-with-matches \
         --files-without-matches --fixed-strings --follow --go --group --heading --help --hidden --html --ignore --ignore-case --ignore-dir --invert-match \
         --java --js --json --list-file-types --literal --markdown --match --max-count --nobreak --nocolor --nofilename --nogroup --noheading --nonumbers \
         --norecurse --no-filename --numbers --null --one-device --only-matching --parallel --print-long-lines --print0 --python --recurse --ruby --rust \
         --search-binary --silent --skip-vcs-ignores --smart-case --stats --ts --unrestricted --version --vimgrep --width --word-regexp --yaml"),
    program(&["ack"],
        "-1 -A? -B? -c -C? -f -g? -h -H -i -I -l -L -m? -n -o -Q -r -R -s -S -t? -T? -v -V -w --after-context --before-context --break --color --column --context \
         --count --files-with-matches --files-without-matches --follow --group --heading --help --help-types --ignore-case --ignore-dir --ignore-directory \
         --ignore-file --invert-match --lines --literal --match --max-count --no-filename --nobreak --nocolor --noenv --nofollow --nogroup --noheading \
         --no-recurse --passthru --print0 --recurse --smart-case --sort-files --type --version --with-filename --word-regexp"),
    program(&["jq"],
        "-a -b -c -C -e -h -j -M -n -r -R -s -S -V --arg= --argjson= --args --ascii-output --binary --build-configuration --color-output --compact-output \
         --exit-status --help --indent= --join-output --jsonargs --monochrome-output --null-input --raw-input --raw-output --raw-output0 --seq --slurp \
         --sort-keys --stream --stream-errors --tab --unbuffered --version"),
    // Two programs have this name: `-s` reads all documents at once in one, and writes files in the other.
    program(&["yq"],
        "-0 -c -C -e -h -I? -j -M -n -N -o? -p? -P -r -R -S -v -V -y -Y --arg= --argjson= --args --colors --compact-output --exit-status --help --indent \
         --input-format --jsonargs --no-colors --no-doc --null-input --output-format --prettyPrint --raw-input --raw-output --sort-keys --tab --unwrapScalar \
         --verbose --version --yaml-output --yaml-roundtrip --yml-output"),
    program(&["sed", "gsed"],
        "-a -e: -E -n -r -s -u -z --debug --expression= --help --null-data --posix --quiet --regexp-extended --sandbox --separate --silent --unbuffered \
         --version"),
    // Some other options of these write or delete files.
    program(&["zcat", "gzcat", "bzcat", "xzcat", "lzcat", "zstdcat", "lz4cat"],
        "-d -f -k -q -s -v -V -L -T: -M: --decompress --force --keep --quiet --silent --verbose --version --help --small --no-warn \
         --no-sparse --threads="),
    // Listing an archive of one volume.
    program(&["tar", "gtar", "bsdtar"],
        "-t -f: -v -z -j -J -Z -a --list --file= --verbose --gzip --bzip2 --xz --zstd --wildcards --no-wildcards --exclude= --strip-components= \
         --numeric-owner --full-time --no-recursion --totals"),
    program(&["unzip"], "-1 -2 -C -h -l -m -M -q -s -t -T -U -v -z -Z"),
    // The options of grep(1), except those that read patterns or names from files, or whole directories.
    program(&["zgrep", "zegrep", "zfgrep", "bzgrep", "bzegrep", "bzfgrep", "xzgrep", "xzegrep", "xzfgrep"],
        "-a -A: -B: -b -c -C: -e: -E -F -G -h -H -i -l -L -m: -n -o -q -s -T -u -U -v -w -x -y -z -P -# \
         --after-context= --before-context= --context= --count --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= \
         --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --max-count= --line-number --with-filename --no-filename \
         --files-with-matches --files-without-match --only-matching --quiet --silent --no-messages --null --color=? --colour=? --text --byte-offset \
         --binary-files= --help --version"),
];
