//! Attack tools, recognized by name, however they are started.
//!
//! The effect of most commands can be analysed. The effect of these programs cannot, but their names are known: the
//! techniques are those of MITRE ATT&CK. Tools of the same kind that developers use every day, such as a scanner
//! of dependencies, are not listed.

use std::sync::LazyLock;

use super::Floor::Ask;
use super::Hazard;
use super::code;
use super::command::Command;
use super::shape::Shape;
use stockade_shell::lookup::{Names, last_name, names};

/// Techniques and the names of their tools, in lower case and without extensions of scripts.
#[rustfmt::skip]
const TOOLS: &[(&str, &[&str])] = &[
    // T1003, T1555: passwords from memory, from key stores and from browsers.
    ("extracts passwords from memory, key stores or browsers", &[
        "lazagne", "mimipenguin", "mimikatz", "pypykatz", "linikatz", "swap_digger", "3snake", "keychaindump", "chainbreaker",
        "hackbrowserdata", "firefox_decrypt", "firefox-decrypt", "secretsdump", "impacket-secretsdump", "unshadow", "nanodump",
        "dumpert", "gsecdump", "fgdump", "pwdump", "wce", "sharpchrome", "chromepass", "browserpass-dump", "keytabextract",
        "procdump", "cookie_crimes", "dploot", "donpapi", "avml", "fmem", "memdump", "dcsync", "credump",
    ]),
    // T1110: trying passwords.
    ("tries passwords", &[
        "hydra", "thc-hydra", "ncrack", "patator", "crowbar", "kerbrute", "sucrack", "brutespray", "sudo_bruteforce",
        "rsmangler", "john", "hashcat", "ophcrack", "rainbowcrack", "fcrackzip", "pdfcrack", "aircrack-ng", "wifite", "reaver",
        "sprayhound", "trevorspray",
    ]),
    // T1021, T1550, T1558, T1570: lateral movement.
    ("runs commands on other machines with stolen credentials", &[
        "psexec", "wmiexec", "smbexec", "atexec", "dcomexec", "impacket-psexec", "impacket-wmiexec", "impacket-smbexec",
        "getuserspns", "getnpusers", "gettgt", "getst", "ticketer", "ntlmrelayx", "impacket-ntlmrelayx", "crackmapexec", "cme",
        "netexec", "nxc", "evil-winrm", "rubeus", "certipy", "certipy-ad", "bloodhound-python", "sharphound", "bloodyad",
        "petitpotam", "coercer", "responder", "mitm6", "pth-winexe", "winexe", "xfreerdp-brute", "adidnsdump", "ldapdomaindump",
        "winpwn", "powerview", "roadrecon", "pacu", "stratus", "stratus-red-team", "invoke-atomictest", "enumerate-iam", "cloudfox",
    ]),
    // T1046, T1595: scanning for targets.
    ("scans other machines for vulnerabilities", &[
        "nikto", "sqlmap", "rustscan", "naabu", "unicornscan", "arp-scan", "netdiscover", "nbtscan", "enum4linux", "enum4linux-ng",
        "smbmap", "onesixtyone", "snmp-check", "gobuster", "feroxbuster", "ffuf", "wfuzz", "dirb", "dirbuster", "wpscan", "nuclei",
        "whatweb", "amass", "subfinder", "sublist3r", "theharvester", "recon-ng", "commix", "xsstrike", "zgrab", "zgrab2", "fierce",
        "dnsrecon", "dnsenum",
    ]),
    // T1068, T1548, T1611: privilege escalation and container escape.
    ("searches for privilege escalation on this machine", &[
        "linpeas", "winpeas", "macpeas", "linenum", "linux-exploit-suggester", "linux-smart-enumeration", "unix-privesc-check", "pspy",
        "autosuid", "suid3num", "beroot", "linuxprivchecker", "sudo_killer", "traitor", "dirtycow", "dirtypipe", "pwnkit", "deepce",
        "peirates", "kube-hunter", "kubeletctl", "botb", "amicontained", "gtfonow", "seatbelt", "sharpup", "powerup", "privesccheck",
        "juicypotato", "printspoofer", "godpotato",
    ]),
    // T1014, T1055, T1071, T1090, T1219, T1572: persistence, concealment and remote control.
    ("is a backdoor into this machine", &[
        "msfconsole", "msfvenom", "meterpreter", "sliver-server", "sliver-client", "ligolo-proxy", "ligolo-agent", "ligolo-ng",
        "dnscat", "dnscat2", "iodine", "iodined", "ptunnel", "ptunnel-ng", "hans", "icmpsh", "pupysh", "koadic", "evilginx", "evilginx2",
        "setoolkit", "regeorg", "neoregeorg", "villain", "pwncat-cs", "diamorphine", "reptile", "jynx", "azazel", "bdvl", "vlany",
        "weevely", "beef-xss", "bettercap", "ettercap", "arpspoof", "dsniff", "mitmf", "shellter", "veil-evasion", "invoke-mimikatz",
    ]),
    // T1056, T1113, T1115, T1123: recording of input, screen and audio.
    ("records what the user types", &["logkeys", "xspy", "keysniffer", "lkl", "simple-key-logger", "pykeylogger"]),
    // T1496: resource hijacking.
    ("mines cryptocurrency or sells the bandwidth of this machine", &[
        "xmrig", "xmr-stak", "minerd", "cpuminer", "cpuminer-multi", "ccminer", "cgminer", "bfgminer", "ethminer", "nbminer",
        "phoenixminer", "lolminer", "teamredminer", "t-rex-miner", "gminer", "nanominer", "kawpowminer",
    ]),
];

static KNOWN: LazyLock<Names> = LazyLock::new(|| {
    let all: Vec<&'static str> = TOOLS.iter().flat_map(|(_, tools)| tools.iter().copied()).collect();
    names(&all)
});

/// Returns the hazard of a program that is such a tool, or runs one as a script.
pub(super) fn of_command(command: &Command<'_, '_>, found: &mut Vec<Hazard>) {
    if SHAPES.iter().any(|shape| (shape.fires)(command)) {
        let does = tool(command).unwrap_or_default();
        let shape = SHAPES.first();
        found.extend(shape.map(|shape| Hazard {
            reason: format!("is a tool that {does}"),
            ..shape.hazard(command.run.span)
        }));
    }
}

/// Returns the technique of a command that is such a tool, or an interpreter with such a script.
fn tool(command: &Command<'_, '_>) -> Option<&'static str> {
    let script = || {
        let is_interpreter =
            code::is_interpreter(command.name) || matches!(command.name, "java" | "mono" | "wine");
        is_interpreter.then(|| command.texts("-m").next().or_else(|| command.operand(0))).flatten()
    };
    of_name(command.name).or_else(|| script().and_then(|script| of_name(last_name(script))))
}

/// Returns the technique of a tool name.
fn of_name(name: &str) -> Option<&'static str> {
    /// Maximum length of a tool name.
    const MAX_NAME: usize = 40;
    if name.len() > MAX_NAME || !name.is_ascii() {
        return None;
    }
    let name = super::in_small_letters(name);
    let name = without_ending(&name);
    if !KNOWN.contains(name) {
        return None;
    }
    TOOLS.iter().find(|(_, tools)| tools.contains(&name)).map(|(does, _)| *does)
}

/// Returns a name without suffixes for architectures and script languages: `pspy64`, `linpeas.sh`.
fn without_ending(name: &str) -> &str {
    const ENDINGS: &[&str] = &[".py", ".sh", ".pl", ".rb", ".exe", ".ps1", ".jar", ".bin", ".elf", ".out"];
    const MACHINES: &[&str] =
        &["_linux", "-linux", "_darwin", "-darwin", "_amd64", "-amd64", "_x64", "64", "32"];
    // Most names have none of their first letters, which is a cheap check.
    if !name.contains(['.', '_', '-', '6', '3']) {
        return name;
    }
    let name = ENDINGS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let cut = MACHINES.iter().filter_map(|end| name.find(end)).filter(|at| *at > 2).min();
    cut.and_then(|at| name.get(..at)).unwrap_or(name)
}

pub(super) const SHAPES: &[Shape] = &[Shape {
    id: "attack-tool",
    floor: Ask,
    // Checked by `of_command`, which looks up names without extensions.
    programs: &[],
    fires: |command| tool(command).is_some() && !command.only_asks_for_help(),
    reason: "is a tool to attack machines",
    fix: "ask an authorized person to do it",
    matches: &[
        "python2 laZagne.py all",
        "python3 /tmp/LaZagne/Linux/laZagne.py browsers -firefox",
        "bash ./mimipenguin.sh",
        "sudo ./pspy64 -pf",
        "./linpeas_linux_amd64 -a",
        "hydra -l root -P words ssh://10.0.0.1",
        "psexec.py 'a:b@127.0.0.1' whoami",
        "impacket-secretsdump x",
        "./stratus detonate x",
        "python3 -m lazagne all",
        "xmrig -o pool:3333",
        "timeout 9 nuclei -u https://x.example",
    ],
    clean: &[
        "grep -r mimikatz rules",
        "cat linpeas.sh",
        "python3 hydra_config.py",
        "python3 -m pytest tests/test_hydra.py",
        "git log --grep=xmrig",
        "john --help",
        "npm test -- responder",
        "medusa develop",
    ],
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_found_by_its_name() {
        for (does, tools) in TOOLS {
            for tool in *tools {
                assert_eq!(of_name(tool), Some(*does), "{tool}");
            }
        }
    }
}
