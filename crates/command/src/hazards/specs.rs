//! Options with values, for programs with shapes that need to know.
//!
//! The notation is that of the table of wrappers. For a program that is missing here, every letter is parsed as a flag, which
//! finds too many options rather than too few.

use std::sync::LazyLock;

use stockade_shell::getopt::OptionTable;
use stockade_shell::lookup::ByName;
use stockade_shell::wrapper_options;

/// Returns the options of a program.
pub(super) fn of(name: &str, next: Option<&str>) -> &'static OptionTable {
    static NONE: OptionTable = OptionTable::new("");
    let unversioned = || {
        let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        Some(bare).filter(|bare| bare.len() < name.len()).and_then(|bare| BY_NAME.get(bare))
    };
    let spec = BY_NAME.get(name).or_else(unversioned).copied();
    spec.or_else(|| wrapper_options(name, next)).unwrap_or(&NONE)
}

/// The options by program. The first row with a name is used.
static BY_NAME: LazyLock<ByName<&'static OptionTable>> = LazyLock::new(|| {
    let rows = SPECS.iter().rev();
    rows.flat_map(|(names, spec)| names.iter().map(move |name| (*name, spec))).collect()
});

/// Names of programs, and their options.
type Row = (&'static [&'static str], OptionTable);

static SPECS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    vec![
        (
            &["curl"],
            OptionTable::new(
                "-o: -O -d: -F: -T: -K: -H: -X: -u: -x: -A: -e: -b: -c: -m: -w: -r: -y: -Y: -z: -C: -D: -E: -P: -Q: -t: -U: \
         -f -s -S -L -k -i -I -v -g -G -j -J -l -M -n -N -p -q -R -a -B -V -0 -1 -2 -3 -4 -6 -# -Z --output= --data= \
         --data-binary= --data-raw= --data-ascii= --data-urlencode= --json= --form= --form-string= --upload-file= --config= \
         --header= --request= --user= --proxy= --user-agent= --referer= --cookie= --cookie-jar= --max-time= --write-out= \
         --url= --cacert= --capath= --cert= --key= --connect-timeout= --retry= --retry-delay= --retry-max-time= \
         --output-dir= --resolve= --range= --limit-rate= --dump-header= --netrc-file= --interface= --engine= --libcurl= \
         --trace= --trace-ascii= --stderr= --quote= --*",
            ),
        ),
        (
            &["wget"],
            OptionTable::new(
                "-O: -P: -o: -a: -i: -e: -t: -T: -w: -Q: -U: -l: -A: -R: -D: -I: -X: -B: -q -c -N -S -r -k -m -p -K -E -H -L -x \
         -b -d -v -4 -6 -n: --output-document= --directory-prefix= --output-file= --append-output= --input-file= \
         --execute= --tries= --timeout= --wait= --user-agent= --header= --post-data= --post-file= --body-data= \
         --body-file= --method= --use-askpass= --user= --password= --ca-certificate= --certificate= --private-key= \
         --config= --level= --*",
            ),
        ),
        (
            &["git"],
            OptionTable::new(
                "-c: -C: -p -P -v -h --exec-path=? --git-dir= --work-tree= --namespace= --config-env= --super-prefix= -m: -F: \
         --message= --file= --upload-pack= --receive-pack= --author= --date= --*",
            ),
        ),
        (&["docker", "podman", "nerdctl"], OptionTable::new(DOCKER)),
        (
            &["date", "gdate"],
            OptionTable::new(
                "-d: -f: -r: -s: -v: -I? -j -n -R -u --date= --file= --reference= --set= --iso-8601=? --*",
            ),
        ),
        (
            &["cp", "mv", "ln", "install"],
            OptionTable::new(
                "-t: -S: -m: -o: -g: --target-directory= --suffix= --mode= --owner= --group= --*",
            ),
        ),
        (
            &["tar", "gtar", "bsdtar"],
            OptionTable::new(
                "-f: -C: -T: -X: -b: -I: -F: -g: -H: -K: -L: -N: -V: --file= --directory= --exclude= --files-from= --exclude-from= --*",
            ),
        ),
        (
            &["rsync"],
            OptionTable::new(
                "-e: -f: -B: -T: -M: --rsh= --rsync-path= --exclude= --include= --exclude-from= --include-from= --files-from= --filter= \
         --password-file= --partial-dir= --backup-dir= --temp-dir= --*",
            ),
        ),
        (&["scp", "sftp"], OptionTable::new("-S: -D: -P: -i: -F: -o: -c: -l: -J: -B: -R: -b: -s:")),
        (
            &["ssh-keygen"],
            OptionTable::new(
                "-t: -f: -b: -C: -N: -P: -D: -s: -I: -n: -O: -R: -F: -V: -z: -Z: -m: -a: -Y: -r: -w: -E: -M:",
            ),
        ),
        (&["man"], OptionTable::new("-P: -M: -S: -s: -C: -L: -m: -e: -H? --pager= --manpath= --*")),
        (&["less"], OptionTable::new("-k: -b: -h: -j: -o: -O: -p: -P: -t: -T: -x: -y: -z: --*")),
        (
            &["openssl", "java", "go", "gcc", "g++", "cc", "c++", "clang", "find", "gfind"],
            OptionTable::new(""),
        ),
        (
            &["split"],
            OptionTable::new(
                "-a: -b: -C: -l: -n: -t: --filter= --bytes= --lines= --number= --suffix-length= --*",
            ),
        ),
        (&["chmod", "chown", "chgrp"], OptionTable::new("--reference= --from= --*")),
        (
            &["tee", "touch", "truncate", "shred"],
            OptionTable::new("-d: -r: -s: -n: -t: --size= --reference= --date= --iterations= --*"),
        ),
        (
            &["nc", "ncat", "netcat"],
            OptionTable::new(
                "-e: -c: -s: -p: -w: -x: -X: -i: -q: -g: -G: -m: -I: -O: -P: -T: -o: -l -n -u -v -z -k \
         --exec= --sh-exec= --lua-exec= --listen --source= --source-port= --wait= --proxy= --*",
            ),
        ),
        (&["stockade"], OptionTable::new("--color= --*")),
        (&["kill"], OptionTable::new("-s: -n: -q: -l -L -a -p -# --signal= --*")),
        (
            &["pkill", "pgrep", "killall"],
            OptionTable::new("-u: -U: -g: -G: -P: -s: -t: -F: -# --signal= --euid= --uid= --user= --*"),
        ),
        (&["crontab"], OptionTable::new("-u: -e -l -r -i -s -T: -n:")),
        (
            &["sort"],
            OptionTable::new(
                "-o: -t: -k: -T: -S: --output= --field-separator= --key= --compress-program= --files0-from= --*",
            ),
        ),
        (
            &["grep", "egrep", "fgrep"],
            OptionTable::new(
                "-e: -f: -m: -A: -B: -C: -d: -D: --regexp= --file= --include= --exclude= --exclude-dir= --exclude-from= --directories= \
         --max-count= --*",
            ),
        ),
        (
            &["rg"],
            OptionTable::new(
                "-e: -f: -m: -A: -B: -C: -d: -E: -g: -j: -M: -r: -t: -T: --regexp= --file= --glob= --iglob= --max-count= --pre= --hostname-bin= \
         --type= --type-not= --*",
            ),
        ),
        (&["ag"], OptionTable::new("-g: -G: -m: -p: -W: --*")),
        (
            &["pip", "pip3", "pipx"],
            OptionTable::new(
                "-r: -c: -e: -t: -i: -f: --requirement= --index-url= --extra-index-url= --find-links= \
         --target= --*",
            ),
        ),
        (
            &["make", "gmake"],
            OptionTable::new("-f: -C: -I: -j? -l? -o: -W: --file= --makefile= --directory= --eval= --*"),
        ),
        (&["perl"], OptionTable::new("-e: -E: -i? -I: -M: -m: -n -p -l -a -F: -w -0 -s -S -T -c -v -C?")),
        (&["ruby"], OptionTable::new("-e: -i? -I: -r: -n -p -l -a -F: -w -0? -s -S -T? -c -v -C: --*")),
        (
            &["python", "python2", "python3", "pypy", "pypy3"],
            OptionTable::new("-c! -m! -W: -X: -b -B -d -E -h -i -I -O -P -q -s -S -u -v -V -x -?"),
        ),
        (
            &["node", "nodejs", "deno", "bun"],
            OptionTable::new(
                "-e: -p: -r: -c -i -h -v --eval= --print= --require= --import= --loader= --experimental-loader= --*",
            ),
        ),
        (&["php"], OptionTable::new("-r: -B: -R: -E: -F: -d: -f: -c: -z: -a -i -l -m -n -q -s -w -v")),
        (&["lua", "luajit"], OptionTable::new("-e: -l: -i -v -E -W")),
        (&["osascript"], OptionTable::new("-e: -l: -s:")),
        (
            &["sed", "gsed"],
            OptionTable::new(
                "-e: -f: -i? -l: -E -n -r -s -u -z --expression= --file= --in-place=? --line-length= --*",
            ),
        ),
        (
            &["awk", "gawk", "mawk", "nawk"],
            OptionTable::new(
                "-F: -f: -v: -e: -E: -i: -l: -d? -p? -o? -b -c -C -g -h -I -L? -M -n -N -O -P -r -s \
         -S -t -V --file= --source= --exec= --include= --load= --assign= --field-separator= --*",
            ),
        ),
    ]
});

/// `docker run` and similar commands. Options precede the image.
const DOCKER: &str = "-v: -e: -p: -w: -u: -l: -m: -h: -a: -c: -f: -d -i -t -P -q --volume= --mount= --env= --env-file= --name= \
     --network= --net= --workdir= --user= --publish= --label= --memory= --cpus= --hostname= --entrypoint= --device= \
     --cap-add= --cap-drop= --security-opt= --pid= --ipc= --uts= --userns= --cgroupns= --restart= --platform= --pull= \
     --volumes-from= --add-host= --dns= --gpus= --group-add= --log-driver= --log-opt= --runtime= --shm-size= --stop-signal= \
     --sysctl= --tmpfs= --ulimit= --file= --tag= --build-arg= --target= --cidfile= --context= --host= -H: --*";
