//! Searches of process lists for security software, and for signs of a virtual machine.
//!
//! Attackers first look for monitoring (MITRE T1518.001), and for an analysis sandbox (T1497.001). A process list by itself is
//! harmless, and is searched every day; the search terms make the difference.

use super::table::{SEARCH_HISTORY, SEARCH_VIRTUAL, SEARCH_WATCHERS, Together};
use crate::hazards::command::{Command, name_of};
use stockade_shell::Run;

/// The contents of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    /// Running programs and services.
    Programs,
    /// Devices, kernel modules and firmware.
    Devices,
}

/// Names of monitoring software: one of them is sufficient.
#[rustfmt::skip]
const WATCHERS: &[&str] = &[
    "falcond", "falcon-sensor", "falconctl", "csfalcon", "crowdstrike", "cbosxsensorservice", "cbagentd", "cbdaemon", "cbdefense", "cbsensor",
    "carbonblack", "carbon-black", "osqueryd", "osquery", "santad", "nessusd", "wazuh", "wazuh-agent", "wazuh-agentd", "ossec", "ossec-agentd",
    "mdatp", "wdavdaemon", "sentinelone", "sentineld", "sentinelagent", "xagt", "fireeye", "cylance", "cylancesvc", "sophos", "sophosav", "savd",
    "esets", "ds_agent", "symantec", "mcafee", "kaspersky", "bitdefender", "malwarebytes", "jamfagent", "snitch", "littlesnitch", "littlesnitchd",
    "blockblock", "knockknock", "qualys", "qualys-cloud-agent", "taniumclient", "rkhunter", "chkrootkit", "traps_agent", "cortexd", "elastic-endpoint",
    "endpointsecurity", "auoms", "microsoft-defender", "rapid7", "ir_agent", "tetragon", "sysmon",
];

/// Names that a developer may search for as well: two of them are required.
#[rustfmt::skip]
const PERHAPS_WATCHERS: &[&str] = &[
    "falcon", "auditd", "clamd", "clamav", "falco", "suricata", "snort", "filebeat", "packetbeat", "auditbeat", "td-agent", "icinga", "icinga2",
    "bareos-fd", "lulu", "aide", "tripwire", "santa", "fail2ban", "apparmor", "selinux", "splunkd", "zabbix_agentd", "syslog", "rsyslog", "rsyslogd",
];

/// Guest components, which no physical machine has.
#[rustfmt::skip]
const GUESTS: &[&str] = &[
    "vboxsf", "vboxguest", "vboxservice", "vmxnet", "vmw_balloon", "vmw_baloon", "vmtoolsd", "vmmouse", "hv_vmbus", "hv_blkvsc", "hv_netvsc",
    "hv_utils", "hv_storvsc", "xen-vbd", "xen-vnif", "prl_tools", "droplet",
];

/// Names of hypervisor products: a user of one searches for that one, so two of them are suspicious.
#[rustfmt::skip]
const PERHAPS_GUESTS: &[&str] = &[
    "virtualbox", "vbox", "vmware", "vmw", "parallels", "qemu", "kvm", "xen", "hvm", "hyper-v", "hyperv", "virtio_pci", "virtio_net", "virtual",
    "bochs", "bhyve", "oracle", "microsoft", "amazon", "innotek",
];

/// Words for secrets in a shell history.
const SECRET_WORDS: &[&str] = &[
    "pass",
    "passwd",
    "password",
    "secret",
    "token",
    "apikey",
    "api_key",
    "credential",
    "credentials",
    "aws_secret_access_key",
    "sshpass",
];

/// Returns the contents of a program's list.
pub(super) fn listing(name: &str) -> Option<Listing> {
    match name {
        "ps" | "top" | "htop" | "systemctl" | "launchctl" | "service" | "chkconfig" | "initctl"
        | "pstree" | "tasklist" => Some(Listing::Programs),
        "lsmod" | "kldstat" | "kextstat" | "ioreg" | "dmidecode" | "lspci" | "lscpu" | "system_profiler"
        | "sysctl" | "dmesg" | "lshw" | "hostnamectl" | "biosdecode" => Some(Listing::Devices),
        _ => None,
    }
}

/// Returns the hazard of a program that searches its input.
pub(super) fn searched(
    run: &Run<'_>,
    programs: bool,
    devices: bool,
    history: bool,
) -> Option<&'static Together> {
    let is_search = name_of(run).is_some_and(|name| {
        matches!(
            name,
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "awk" | "gawk" | "sed" | "pcregrep" | "ggrep"
        )
    });
    if !is_search {
        return None;
    }
    let command = Command::of(run)?;
    let is =
        |wanted: bool, certain: &[&str], perhaps: &[&str]| wanted && speaks_of(&command, certain, perhaps);
    if is(programs, WATCHERS, PERHAPS_WATCHERS) {
        Some(&SEARCH_WATCHERS)
    } else if is(devices, GUESTS, PERHAPS_GUESTS) {
        Some(&SEARCH_VIRTUAL)
    } else if is(history, SECRET_WORDS, &[]) {
        Some(&SEARCH_HISTORY)
    } else {
        None
    }
}

/// Returns the hazard of a program that lists processes by name.
pub(super) fn asked(run: &Run<'_>) -> Option<&'static Together> {
    let is_asked = name_of(run).is_some_and(|name| {
        matches!(name, "pgrep" | "pidof" | "systemctl" | "service" | "launchctl" | "pkill" | "killall")
    });
    let command = is_asked.then(|| Command::of(run)).flatten()?;
    speaks_of(&command, WATCHERS, PERHAPS_WATCHERS).then_some(&SEARCH_WATCHERS)
}

/// Whether the words of a command contain one of the certain names, or two of the others.
fn speaks_of(command: &Command<'_, '_>, certain: &[&str], perhaps: &[&str]) -> bool {
    /// Maximum number of names in a command that are checked.
    const MAX_NAMES: usize = 200;
    let is_within = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let names = command.known().flat_map(|word| word.split(move |letter| !is_within(letter)));
    let names =
        names.filter(|name| name.len() > 2 && name.len() < 40).take(MAX_NAMES).map(str::to_ascii_lowercase);
    let mut some = 0;
    for name in names {
        let name = name.trim_start_matches('-').trim_end_matches(".service");
        if certain.contains(&name) {
            return true;
        }
        some += usize::from(perhaps.contains(&name));
    }
    some > 1
}
