//! Programs that print information about the machine and its services. Options that change something, choose another machine or root
//! directory, or read settings from a file are missing.

use super::{Listed, program, words};

#[rustfmt::skip]
pub(super) static MACHINE: [Listed; 48] = [
    program(&["whoami", "uname", "id", "groups", "arch", "nproc", "tty", "sleep", "users", "logname", "factor"],
        "-a -A -c -F -g -G -h -i -m -M -n -o -p -P -r -s -u -v -z -Z --all --context --exponents --group --groups --hardware-platform --help --ignore \
         --kernel-name --kernel-release --kernel-version --machine --name --nodename --operating-system --processor --quiet --real --silent --user --version \
         --zero"),
    program(&["which", "whereis"],
        "-a -b -f -i -l -m -s -u -v -V --all --help --read-alias --read-functions --show-dot --show-tilde --skip-alias --skip-dot --skip-functions --skip-tilde \
         --tty-only --version"),
    program(&["cal", "ncal"], "-1 -3 -A? -B? -b -c -C -d? -e -h -H? -i -j -J -m? -M -n? -N -o -p -s -S -v -V -w -y -Y --color --help --iso --julian --monday \
        --months --one --reform --span --sunday --three --twelve --vertical --version --week --year"),
    program(&["locale"], "-a -c -k -m -v -V --all-locales --category-name --charmaps --help --keyword-name --usage --verbose --version"),
    program(&["ps"],
        "-1 -a -A -c -C? -d -e -f -F -g? -G? -h -H -j -l -L -m -M -n -N -o? -O? -p? -q? -r -s? -S -t? -T -u? -U? -v -V -w -x -X -y -Z --cols --columns --context \
         --cumulative --deselect --forest --format --group --Group --headers --help --info --lines --no-headers --no-heading --pid --ppid --quick-pid --rows --sid --sort \
         --tty --user --User --version --width"),
    program(&["pgrep", "pidof"],
        "-a -A -c -d? -f -g? -G? -h -i -I -l -L -n -o -O? -P? -q -r? -s? -t? -u? -U? -v -V -w -x -z --cgroup --count --delimiter --env --euid --exact --full --group \
         --help --ignore-ancestors --ignore-case --inverse --lightweight --list-full --list-name --newest --ns --nslist --older --oldest --parent --pgroup \
         --runstates --session --terminal --uid --version"),
    program(&["pstree"],
        "-a -A -c -C? -g -G -h -H? -l -n -N? -p -s -S -t -T -u -U -V -Z --arguments --ascii --color --compact-not --help --hide-threads --highlight-all \
         --highlight-pid --long --ns-changes --ns-sort --numeric-sort --security-context --show-parents --show-pgids --show-pids --thread-names --uid-changes \
         --unicode --version --vt100"),
    program(&["lsof"], "-a -b -c? -C -d? -F? -g? -h -i? -K? -l -L? -M -n -N -o? -O -p? -P -Q -r? -R -s? -S? -t -T? -u? -U -v -V -w -x? -X -z? -Z?"),
    program(&["ss"],
        "-0 -4 -6 -a -A? -b -B -d -e -E -f? -h -H -i -l -m -M -n -o -O -p -P -q -Q -r -s -S -t -T -u -V -w -W -x -z -Z --all --bpf --bound-inactive --cgroup --context \
         --contexts --dccp --events --extended --family --help --info --inet-sockopt --ipv4 --ipv6 --listening --memory --mptcp --no-header --no-queues --numeric \
         --oneline --options --packet --processes --query --raw --resolve --sctp --socket --summary --tcp --threads --tipc --tipcinfo --tos --udp --unix \
         --version --vsock --xdp"),
    program(&["netstat"],
        "-4 -6 -a -A? -b -c -C -d -e -f? -F -g -h -i -I? -l -L -m -M -n -N -o -p? -P -q -Q -r -R -s -S -t -T -u -U -v -V -w -W -x -Z --all --cache --context \
         --continuous --extend --fib --groups --help --interfaces --listening --masquerade --numeric --numeric-hosts --numeric-ports --numeric-users --programs \
         --raw --route --statistics --symbolic --tcp --timers --udp --unix --verbose --version --wide"),
    program(&["lscpu", "lsblk", "lsns", "lsipc", "lslocks"],
        "-a -A -b -B -c -C -d -D -e? -E? -f -g -h -i? -I? -J -l -m -M -n -N -o? -O -p? -P -q -r -s -S -t? -T? -u -V -w? -W -x? -y -z --all --ascii --bytes --caches \
         --creator --dedup --discard --exclude --export --extended --fs --global --help --hex --id --include --inverse --json --list --merge --newline --nodeps \
         --noempty --noheadings --noinaccessible --notruncate --nowrap --numeric-perms --offline --online --output --output-all --pairs --parse --paths --perms \
         --persistent --physical --pid --queues --raw --scsi --semaphores --shell --shmems --sort --task --time --time-format --topology --tree --type --version \
         --width --zoned"),
    program(&["lsusb", "lsmod", "modinfo", "sw_vers"],
        "-0 -a -d? -D? -F? -h -l -n -p -s? -t -v -V -buildVersion -productName -productVersion -productVersionExtra --author --buildVersion --description --field \
         --filename --help --license --null --parameters --productName --productVersion --tree --verbose --version"),
    program(&["lsattr"], "-a -d -l -p -R -v -V"),
    program(&["getconf"], "-a"),
    program(&["w", "who"],
        "-a -b -d -f -h -H -i -l -m -o -p -q -r -s -t -T -u -V -w --all --boot --count --dead --from --heading --help --ip-addr --ips --login --lookup --mesg \
         --message --no-current --no-header --old-style --process --runlevel --short --time --users --version --writable"),
    program(&["last"],
        "-a -d -F -h -i -n? -p? -R -s? -t? -V -w -x -# --dns --fullnames --fulltimes --help --hostlast --ip --limit --nohostname --present --since --system \
         --time-format --until --version"),
    program(&["free", "uptime"],
        "-b -c? -g -h -k -l -L -m -p -r -s -t -v -V -w --bytes --committed --count --gibi --giga --help --human --kibi --kilo --line --lohi --mebi --mega --pebi --peta \
         --pretty --raw --seconds --si --since --tebi --tera --total --version --wide"),
    program(&["vmstat", "iostat", "mpstat"],
        "-a -A -c -d -D -f -g? -h -H -I? -j? -k -m -n -N? -o? -p? -P? -s -S? -t -T -u -v -V -w -x -y -z --active --compact --dec --disk --disk-sum --forks --help --human \
         --no-first --one-header --partition --pretty --slabs --stats --timestamp --unit --version --wide"),
    program(&["findmnt"],
        "-a -A -b -c -C -d? -D -e -f -h -i -I -J -k -l -M? -n -N? -o? -O? -p? -P -q -r -R -s -S? -t? -T? -u -U -v -V -w? -x -y --all --ascii --bytes --canonicalize \
         --deleted --df --dfi --direction --evaluate --first-only --fstab --help --id --invert --json --kernel --list --mountpoint --mtab --nocanonicalize \
         --nofsroot --noheadings --notruncate --options --output --output-all --pairs --poll --pseudo --raw --real --shadowed --shell --source --submounts \
         --target --task --timeout --tree --types --uniq --verbose --verify --version --vfs-all"),
    program(&["namei"], "-h -l -m -n -o -v -V -x -Z --context --help --long --modes --mountpoints --nosymlinks --owners --version --vertical"),
    program(&["getfacl"],
        "-a -c -d -e -E -h -L -n -p -P -R -s -t -v --absolute-names --access --all-effective --default --help --logical --no-effective --numeric --omit-header \
         --physical --recursive --skip-base --tabular --version"),
    program(&["tput"], "-V -x"),
    program(&["numfmt"],
        "-d? -z --debug --delimiter --field --format --from --from-unit --grouping --header --help --invalid --padding --round --suffix --to --to-unit \
         --unit-separator --version --zero-terminated"),
    program(&["mdls"], "-n? -r --name --nullMarker --raw"),
    words(&["lspci"], "-b -d? -D -k -m -mm -n -nn -P -PP -s? -t -v -vv -vvv -x -xx -xxx -xxxx --help --version"),
    program(&["apropos", "whatis"],
        "-a -d -e -l -L? -r -s? -v -V -w --and --debug --exact --help --locale --long --regex --section --sections --usage --verbose --version --wildcard"),
    words(&["nvidia-smi"],
        "-q -L -i: -d: -l? -lms? -x -u -m -p2p -mp -h --query --list-gpus --id= --display= --format= --loop --loop-ms --xml-format --unit --matrix --topo --help \
         --version --query-gpu --query-compute-apps --query-retired-pages --query-accounted-apps --query-remapped-rows --query-supported-clocks"),
    program(&["mount", "ifconfig", "arp", "swapon", "stty", "losetup", "blockdev"],
        "-a -A -e -g -h -J -l -n -O? -q -s -v -V --all --bytes --help --json --list --noheadings --numeric --output --output-all --raw --report --save --show \
         --show-labels --summary --verbose --version"),
    program(&["timedatectl", "hostnamectl", "localectl", "loginctl"],
        "-a -h -j -l -n? -o? -p? -P? --all --full --help --json --lines --monitor --no-ask-password --no-legend --no-pager --output --pretty --property --static \
         --transient --value --version"),
    program(&["dmesg"],
        "-e -f? -h -H -J -k -l? -L? -p -P -r -s? -S -t -T -u -V -w -W -x --buffer-size --color --ctime --decode --facility --follow --follow-new --force-prefix --help \
         --human --json --kernel --level --nopager --notime --raw --reltime --show-delta --since --syslog --time-format --until --userspace --version"),
    program(&["blkid"], "-d -D -h -k -l -o? -s? -t? -V --help --list-filesystems --list-one --match-tag --match-token --no-encoding --no-part-details --output --version"),
    program(&["systemd-detect-virt"], "-c -h -q -r -v --chroot --container --cvm --help --list --list-cvm --private-users --quiet --version --vm"),
    words(&["ip"],
        "-0 -4 -6 -a -all -B -br -brief -c -color -d -details -f: -family: -h -human -human-readable -iec -j -json -l: -loops: -M -N -Numeric -o -oneline -p -pretty -r \
         -resolve -s -stats -statistics -t -timestamp -ts -tshort -V -Version"),
    program(&["sysctl"], "-a -A -b -d -e -h -n -N -q -r? -V -x -X --all --binary --deprecated --dry-run --help --ignore --names --pattern --quiet --values --version"),
    program(&["printenv"], "-0 --help --null --version"),
    program(&["dpkg"], "-l -L -s -S --list --listfiles --no-pager --search --status"),
    program(&["rpm"],
        "-a -c -d -f -g -h -i -l -q -R -s -v --all --changelog --changes --configfiles --conflicts --docfiles --dump --enhances --file --filesbypkg --group --info --last \
         --list --obsoletes --provides --qf --query --queryformat --recommends --requires --scripts --state --suggests --supplements --triggers --verbose \
         --version --whatconflicts --whatenhances --whatobsoletes --whatprovides --whatrecommends --whatrequires --whatsuggests"),
    program(&["apt", "apt-cache", "apt-mark"],
        "-a -f -h -i -n -q -v --all-names --all-versions --full --generate --help --important --installed --manual-installed --names-only --no-all-versions \
         --no-breaks --no-conflicts --no-depends --no-enhances --no-recommends --no-replaces --no-suggests --quiet --recurse --upgradable --upgradeable --verbose \
         --version"),
    program(&["brew"],
        "-1 -d -l -n -q -r -t -v --1 --all --analytics --annotate --cask --casks --debug --description --eval-all --fetch-HEAD --for-each --formula --formulae --full-name \
         --greedy --help --include-build --include-optional --include-test --installed --json --missing --multiple --pinned --prefix --quiet --skip-recommended \
         --sizes --topological --tree --union --variations --verbose --version --versions"),
    program(&["systemctl"],
        "-a -h -i -l -n? -o? -p? -P? -q -r -t? -T --after --all --before --failed --full --global --help --job-mode --legend --lines --no-ask-password --no-legend --no-pager \
         --output --plain --property --quiet --recursive --reverse --show-transaction --show-types --state --system --timestamp --type --user --value --version \
         --with-dependencies"),
    program(&["service", "launchctl"], ""),
    program(&["journalctl"],
        "-a -b? -c? -e -f -F? -g? -h -k -l -m -n? -N -o? -p? -q -r -S: -t: -T: -u: -U: -x --after-cursor= --all --boot --case-sensitive --catalog --cursor --disk-usage --dmesg \
         --dump-catalog --exclude-identifier --facility --field --fields --follow --full --grep --header --help --identifier --invocation --lines --list-boots --list-catalog --list-invocations \
         --merge --namespace --no-full --no-hostname --no-pager --no-tail --output --output-fields --pager-end --priority --quiet --reverse --show-cursor --since= \
         --system --this-boot --truncate-newline --unit= --until= --user --user-unit= --utc --verify --version"),
    program(&["date"],
        "-d? -I? -j -n -r? -R -u -v? --date --debug --help --iso-8601 --reference --resolution --rfc-2822 --rfc-3339 --rfc-email --universal --utc --version"),
    program(&["hostname"],
        "-a -A -d -f -h -i -I -s -V -y --alias --all-fqdns --all-ip-addresses --domain --fqdn --help --ip-address --long --nis --short --version --yp"),
    program(&["man"],
        "-7 -a -d -D -E? -f -i -I -k -K -L? -s: -S: -u -V -w -W --all --apropos --ascii --default --encoding --global-apropos --help --ignore-case --locale --location \
         --location-cat --match-case --names-only --nh --nj --no-hyphenation --no-justification --no-subpages --path --regex --sections= --usage --version \
         --warnings --whatis --where --where-cat --wildcard"),
    program(&["crontab"], "-l"),
    program(&["ssh"], "-V"),
    program(&["ssh-keygen"], "-E? -f: -l -q -v"),
];
