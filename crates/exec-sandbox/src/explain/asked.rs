//! Infers what the sandbox probably denied to a failed command, from its system calls.
//!
//! Each request is compared with the plan. Whether a path exists is looked up in the command's mount namespace, so the answer
//! reveals nothing that the command could not find out itself. Programs ask for many paths that they do not need. So writes and
//! connections rank above reads, reads above lookups, and later requests above earlier ones.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::denial::Denial;
use super::judge::{Judge, Use};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::seccomp::PathUse;
use crate::spec::Network;

/// A request of a command to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A path, absolute and without symlinks as far as it exists.
    Path { path: PathBuf, path_use: PathUse, is_there: bool },
    /// An address, and whether a socket listens on this port in the command's network namespace.
    Machine { address: IpAddr, port: u16, is_heard: bool },
}

/// Maximum number of recorded denials per weight.
const KEPT: usize = 16;

/// The port of DNS.
const NAMES: u16 = 53;

/// Prefixes of optional paths that programs look for on every machine.
const USUAL: &[&str] = &[
    "/etc/bash.bash",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/host.conf",
    "/etc/inputrc",
    "/etc/ld-nix.so.preload",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/machine-id",
    "/etc/mailcap",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/pip.conf",
    "/etc/profile",
    "/etc/protocols",
    "/etc/python3",
    "/etc/selinux",
    "/etc/services",
    "/etc/shells",
    "/etc/ssh/ssh_config",
    "/etc/system-fips",
    "/etc/terminfo",
    "/etc/xdg",
    "/run/nscd",
    "/run/systemd",
    "/selinux",
    "/sys",
    "/var/cache/nscd",
    "/var/run/nscd",
];

/// The same, below the home.
const USUAL_AT_HOME: &[&str] = &[
    ".config/git",
    ".config/pip",
    ".inputrc",
    ".local/lib/python",
    ".pip/",
    ".terminfo",
    ".pydistutils.cfg",
];

/// How likely a denial is to explain the failure, least likely first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    AskedAbout,
    Read,
    ChangedOrReached,
}

/// The denied requests of a command.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// By weight, least likely first.
    refused: [VecDeque<Denial>; 3],
}

impl Asked {
    /// Records a request if the plan denies it.
    pub(crate) fn note(&mut self, plan: &Plan, ask: &Ask) {
        let Some((weight, denial)) = judge(plan, ask) else { return };
        let Some(refused) = self.refused.get_mut(weight as usize) else { return };
        refused.retain(|other| *other != denial);
        refused.push_back(denial);
        if refused.len() > KEPT {
            refused.pop_front();
        }
    }

    /// Returns the denials of the highest weight, the latest first.
    pub(crate) fn weightiest(self) -> Vec<Denial> {
        let weightiest = self.refused.into_iter().rev().find(|refused| !refused.is_empty());
        weightiest.into_iter().flatten().rev().collect()
    }
}

/// Whether an address is assigned to the sandbox's loopback, so that the proxy accepts its connections.
fn is_for_proxy(plan: &Plan, address: IpAddr) -> bool {
    let Network::Proxy(handoff) = &plan.network else { return false };
    handoff.sockets().addresses.iter().any(|(own, bits)| match (own, address) {
        (IpAddr::V4(own), IpAddr::V4(four)) => {
            let differ = u32::from(*own) ^ u32::from(four);
            differ.leading_zeros() >= u32::from(*bits)
        }
        (own, address) => *own == address,
    })
}

/// Whether the proxy answers DNS requests at an address.
fn is_answered(plan: &Plan, address: IpAddr) -> bool {
    let Network::Proxy(handoff) = &plan.network else { return false };
    handoff.sockets().answers_names && address.is_loopback()
}

fn judge(plan: &Plan, ask: &Ask) -> Option<(Weight, Denial)> {
    match ask {
        Ask::Machine { .. } if plan.network == Network::Open => None,
        // The proxy reports its denials itself.
        Ask::Machine { address, .. } if is_for_proxy(plan, *address) => None,
        Ask::Machine { address, port: NAMES, is_heard: true } if is_answered(plan, *address) => None,
        // The wanted host is in the DNS request, which is not read here.
        Ask::Machine { port: NAMES, .. } => Some((Weight::ChangedOrReached, Denial::Reach(None))),
        Ask::Machine { address, port, is_heard } if is_of_its_own(*address) => {
            // A low weight: programs also poll ports like this until a server of their own has started.
            let host = std::net::SocketAddr::new(*address, *port).to_string();
            (!is_heard).then_some((Weight::Read, Denial::Reach(Some(host))))
        }
        Ask::Machine { address, port, .. } => {
            let host = std::net::SocketAddr::new(*address, *port).to_string();
            Some((Weight::ChangedOrReached, Denial::Reach(Some(host))))
        }
        Ask::Path { path, .. } if is_usual(plan, path) => None,
        Ask::Path { path, path_use: PathUse::Look | PathUse::Read, .. } if is_searched(plan, path) => None,
        Ask::Path { path, path_use, is_there } => {
            let judge = Judge::new(plan);
            let wanted = match path_use {
                PathUse::Make if *is_there => return None,
                PathUse::Make | PathUse::Change => Use::Change,
                PathUse::Connect => Use::Connect,
                PathUse::Look | PathUse::Enter if plan.provider == Provider::Landlock => return None,
                PathUse::Look | PathUse::Enter | PathUse::Read | PathUse::Open(_) => Use::Read,
            };
            let denial = judge.path(path, wanted, *is_there)?;
            let weight = match path_use {
                PathUse::Look => Weight::AskedAbout,
                PathUse::Enter | PathUse::Read | PathUse::Open(_) => Weight::Read,
                // A low weight: interpreters try to cache compiled files next to their sources, and go on without.
                _ if judge.is_of_the_system(path) => Weight::Read,
                _ => Weight::ChangedOrReached,
            };
            Some((weight, denial))
        }
    }
}

/// Whether an address belongs to the command's network namespace.
fn is_of_its_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

fn is_usual(plan: &Plan, path: &Path) -> bool {
    let begins = |path: &Path, table: &[&str]| {
        let text = path.as_os_str().as_encoded_bytes();
        table.iter().any(|usual| text.starts_with(usual.as_bytes()))
    };
    let home = plan.environment.iter().find(|(name, _)| name == "HOME");
    let at_home = home.and_then(|(_, home)| path.strip_prefix(home).ok());
    path.parent().is_none() || begins(path, USUAL) || at_home.is_some_and(|path| begins(path, USUAL_AT_HOME))
}

/// Whether a path is in a directory of the search path, where most lookups fail.
fn is_searched(plan: &Plan, path: &Path) -> bool {
    let search = plan.environment.iter().find(|(name, _)| name == "PATH");
    let folders = search.into_iter().flat_map(|(_, folders)| std::env::split_paths(folders));
    folders.into_iter().any(|folder| path.parent() == Some(folder.as_path()))
}

/// Whether one of the sockets in a table of [proc_net(5)] is reachable on a port.
///
/// [proc_net(5)]: https://man7.org/linux/man-pages/man5/proc_net.5.html
pub(crate) fn is_listed(sockets: &str, port: u16) -> bool {
    // TCP_LISTEN, and TCP_CLOSE, which is the state of an unconnected UDP socket.
    const OPEN: &[&str] = &["0A", "07"];
    sockets.lines().skip(1).any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let own = fields.next().and_then(|own| own.rsplit_once(':'));
        let own = own.and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
        own == Some(port) && fields.nth(1).is_some_and(|state| OPEN.contains(&state))
    })
}

/// A socket address that a program passes to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Machine(IpAddr, u16),
    /// A Unix socket with a path, which may be relative.
    Path(Vec<u8>),
}

/// Parses a `sockaddr`; nothing if it has another family or is truncated.
pub(crate) fn address(bytes: &[u8]) -> Option<Address> {
    const UNIX: u16 = 1;
    const INET: u16 = 2;
    const INET6: u16 = 10;
    let (family, rest) = bytes.split_first_chunk::<2>()?;
    let port = || rest.first_chunk::<2>().map(|port| u16::from_be_bytes(*port));
    match u16::from_ne_bytes(*family) {
        INET => {
            let address = rest.get(2..)?.first_chunk::<4>()?;
            Some(Address::Machine(IpAddr::from(*address), port()?))
        }
        INET6 => {
            let address = rest.get(6..)?.first_chunk::<16>()?;
            Some(Address::Machine(IpAddr::from(*address), port()?))
        }
        UNIX => {
            let path: Vec<u8> = rest.iter().copied().take_while(|byte| *byte != 0).collect();
            // An abstract socket, whose name begins with NUL, has no path.
            (!path.is_empty()).then_some(Address::Path(path))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::planned;
    use super::*;

    fn asked(plan: &Plan, asks: &[Ask]) -> Vec<Denial> {
        let mut asked = Asked::default();
        asks.iter().for_each(|ask| asked.note(plan, ask));
        asked.weightiest()
    }

    fn path(path: &str, path_use: PathUse, is_there: bool) -> Ask {
        Ask::Path { path: path.into(), path_use, is_there }
    }

    #[test]
    fn system_calls_are_explained_by_the_plan() {
        use PathUse::{Change, Connect, Look, Make, Read};
        let read = |path: &str| Some(Denial::Read(path.into()));
        let write = |path: &str| Some(Denial::Write(path.into()));
        let rows = [
            (path("/opt/x", Read, false), read("/opt/x")),
            (path("/opt/x", Look, false), read("/opt/x")),
            (path("/opt/data/x", Change, false), write("/opt/data/x")),
            (path("/srv/data/x", Change, true), write("/srv/data/x")),
            (path("/srv/data/x", Make, false), write("/srv/data/x")),
            (path("/data", Make, false), write("/data")),
            (path("/var/lib/x.sock", Connect, false), Some(Denial::Socket("/var/lib/x.sock".into()))),
            // Own paths, existing paths, and paths that would be missing without a sandbox, too.
            (path("/srv/data/x", Make, true), None),
            (path("/srv/data/x", Read, false), None),
            (path("/srv/work/x", Change, false), None),
            (path("/tmp/x", Read, true), None),
            (path("/tmp/x", Make, false), None),
            (path("/home/u/x", Change, true), None),
            (path("/home", Make, true), None),
            (path("/home", Look, true), None),
            (path("/dev/null", Change, true), None),
            (path("/proc/self/oom_score_adj", Change, true), None),
            (path("/tmp/x.sock", Connect, true), None),
            // Optional paths, and directories of the search path.
            (path("/opt/programs/sh", Read, false), None),
            (path("/", Read, true), None),
            (path("/etc/ld.so.preload", Look, false), None),
            (path("/home/u/.local/lib/python3.11/site-packages", Look, false), None),
            (path("/sys/devices/system/cpu/online", Read, false), None),
        ];
        for (ask, expected) in rows {
            assert_eq!(asked(&planned(), std::slice::from_ref(&ask)).pop(), expected, "{ask:?}");
        }
        let never = [
            ("/home/u/.ssh/id_rsa", Read, false),
            ("/etc/x", Make, false),
            ("/etc/shadow", Read, false),
            ("/usr/lib/x", Change, false),
            ("/opt/x", Change, false),
            ("/var/run/docker.sock", Connect, false),
            ("/proc/sys/kernel/core_pattern", Change, true),
            ("/dev/kvm", Change, false),
        ];
        for (text, path_use, is_there) in never {
            let found = asked(&planned(), &[path(text, path_use, is_there)]);
            assert!(matches!(&found[..], [Denial::Never(path, _)] if path == Path::new(text)), "{found:?}");
        }
    }

    #[test]
    fn landlock_permits_stat_and_denies_open() {
        use PathUse::{Change, Look, Read};
        let plan = Plan { provider: Provider::Landlock, ..planned() };
        let rows = [
            (path("/opt/x", Read, true), Some(Denial::Read("/opt/x".into()))),
            (path("/opt/x", Look, true), None),
            (path("/opt/x", Read, false), None),
            (path("/opt/x", PathUse::Enter, true), None),
            (path("/tmp/x", Read, true), Some(Denial::Read("/tmp/x".into()))),
            (path("/opt/data/x", Change, false), Some(Denial::Write("/opt/data/x".into()))),
            (path("/dev/null", Change, true), None),
        ];
        for (ask, expected) in rows {
            assert_eq!(asked(&plan, std::slice::from_ref(&ask)).pop(), expected, "{ask:?}");
        }
    }

    #[test]
    fn machines() {
        let reach = |host: Option<&str>| vec![Denial::Reach(host.map(str::to_owned))];
        let rows = [
            ("192.0.2.1", 443, reach(Some("192.0.2.1:443"))),
            ("2001:db8::1", 443, reach(Some("[2001:db8::1]:443"))),
            ("192.0.2.1", 53, reach(None)),
            ("127.0.0.53", 53, reach(None)),
            ("127.0.0.1", 80, reach(Some("127.0.0.1:80"))),
            ("::1", 80, reach(Some("[::1]:80"))),
            ("0.0.0.0", 80, reach(Some("0.0.0.0:80"))),
        ];
        let open = Plan { network: Network::Open, ..planned() };
        for (address, port, expected) in rows {
            let address: IpAddr = address.parse().unwrap();
            let ask = |is_heard| Ask::Machine { address, port, is_heard };
            assert_eq!(asked(&planned(), &[ask(false)]), expected, "{address}");
            assert_eq!(asked(&open, &[ask(false)]), [], "{address}");
            // A socket in its own network namespace is reachable there, and nowhere else.
            let expected = if is_of_its_own(address) && port != NAMES { vec![] } else { expected };
            assert_eq!(asked(&planned(), &[ask(true)]), expected, "{address}");
        }
    }

    #[test]
    fn the_most_important_denials_come_first_and_are_limited() {
        let number = |number: usize, path_use| path(&format!("/opt/{number}/x"), path_use, false);
        let mut asks: Vec<Ask> = (0..1000).map(|it| number(it, PathUse::Read)).collect();
        asks.push(number(990, PathUse::Read));
        asks.extend((0..1000).map(|it| number(it, PathUse::Look)));
        let found = asked(&planned(), &asks);
        assert_eq!((found.len(), &found[0]), (KEPT, &Denial::Read("/opt/990/x".into())));
        assert_eq!(found[1], Denial::Read("/opt/999/x".into()));
        asks.insert(5, number(7, PathUse::Change));
        assert_eq!(asked(&planned(), &asks), [Denial::Write("/opt/7/x".into())]);
    }

    #[test]
    fn sockets_that_listen_are_found_by_their_port() {
        let list = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n\
                    \x20  0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n\
                    \x20  1: 0100007F:0016 0100007F:9C40 01 00000000:00000000 00:00000000 00000000\n\
                    \x20 12: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 07 0\n";
        for (port, expected) in [(5432, true), (22, false), (8080, true), (0, false), (40000, false)] {
            assert_eq!(is_listed(list, port), expected, "{port}");
        }
        for odd in ["", "\n", "x\n0: zz:zz 0 0A", "x\n0:", "x\n0: 0100007F:1538"] {
            assert!(!is_listed(odd, 5432), "{odd:?}");
        }
    }

    #[test]
    fn partial_addresses_are_rejected() {
        let inet = [2u16.to_ne_bytes().as_slice(), &[1, 187, 192, 0, 2, 1, 0, 0, 0, 0]].concat();
        let machine = |text: &str, port| Some(Address::Machine(text.parse().unwrap(), port));
        assert_eq!(address(&inet), machine("192.0.2.1", 443));
        let flow = [10u16.to_ne_bytes().as_slice(), &[0, 53, 0, 0, 0, 0], &[0; 15], &[1]].concat();
        assert_eq!(address(&flow), machine("::1", 53));
        let unix = |name: &[u8]| address(&[1u16.to_ne_bytes().as_slice(), name].concat());
        assert_eq!(unix(b"/run/x\0junk"), Some(Address::Path(b"/run/x".to_vec())));
        assert_eq!(unix(b"x.sock"), Some(Address::Path(b"x.sock".to_vec())));
        assert_eq!((unix(b"\0abstract"), unix(b"")), (None, None));
        for whole in [inet, flow] {
            let least = if whole.len() > 20 { 24 } else { 8 };
            (0..least).for_each(|length| assert_eq!(address(&whole[..length]), None, "{length}"));
            assert!(address(&whole[..least]).is_some());
        }
        // Arbitrary bytes do not panic.
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bytes = [state.to_le_bytes(), state.rotate_left(17).to_be_bytes()].concat();
            let bytes = [[(state >> 33) as u8 % 12, 0].as_slice(), &bytes].concat();
            match address(&bytes[..(state >> 40) as usize % 19]) {
                Some(Address::Path(path)) => assert!(!path.is_empty() && !path.contains(&0)),
                Some(Address::Machine(..)) => assert!(matches!(bytes[0], 2 | 10)),
                None => {}
            }
        }
    }
}
