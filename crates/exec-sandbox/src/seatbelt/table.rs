//! The tables of rules for every profile.

/// Readable system directories, and the reason.
pub(super) const READ: &[(&str, &str)] = &[
    ("/usr", "programs and libraries of the system"),
    ("/bin", "programs and libraries of the system"),
    ("/sbin", "programs and libraries of the system"),
    ("/Library", "frameworks, and tools for developers"),
    ("/System", "programs and libraries of the system"),
    ("/opt/homebrew", "programs of Homebrew"),
    ("/usr/local", "programs of Homebrew and of the machine"),
    ("/dev", "devices, by the rights of files"),
    ("/private/etc", "settings of the system"),
    ("/private/var/db/timezone", "the time zone"),
    ("/var/db/timezone", "the time zone"),
    ("/private/var/db/dyld", "libraries of the system"),
    ("/private/tmp", "temporary files"),
    ("/private/var/folders", "temporary files of each user"),
];

/// Writable temporary directories, and the reason.
pub(super) const WRITE: &[(&str, &str)] =
    &[("/private/tmp", "temporary files"), ("/private/var/folders", "temporary files of each user")];

/// Unreadable paths in these directories: passwords and sudo rules.
pub(super) const NEVER_READ: &[&str] = &[
    "/private/etc/master.passwd",
    "/private/etc/sudoers",
    "/private/etc/sudoers.d",
    "/private/etc/security",
    "/private/etc/krb5.keytab",
    "/private/etc/ssh",
    "/Library/Keychains",
    "/System/Library/Keychains",
    "/private/var/db/dslocal",
];

/// Directories at home that are readable with `home: tools`, without their credentials.
pub(super) const TOOLS_AT_HOME: &[(&str, &str)] = &[
    ("Library", "programs and frameworks of the user"),
    ("Projects", "projects of the user"),
    (".local", "programs that the user installed"),
    (".nvm", "versions of Node.js"),
];

/// Paths in them that are never readable, in addition to the table of names, which covers Linux.
pub(super) const NEVER_READ_AT_HOME: &[&str] = &[
    "Library/Keychains",
    "Library/Cookies",
    "Library/HTTPStorages",
    "Library/WebKit",
    "Library/Safari",
    "Library/Messages",
    "Library/Mail",
    "Library/Accounts",
    "Library/IdentityServices",
    "Library/Application Support",
    "Library/Containers",
    "Library/Group Containers",
    "Library/Preferences",
    "Library/Mobile Documents",
    "Library/Calendars",
    "Library/Caches",
    "Library/Logs",
    "Library/Saved Application State",
];

/// Directories that are never writable, nor any path above them.
pub(super) const SHARED_BY_ALL: &[&str] = &[
    "/private/tmp",
    "/private/var",
    "/private/var/tmp",
    "/private/var/folders",
    "/Users",
    "/Volumes",
    "/opt",
];

/// Directories that are never writable, nor any path in them, because programs of the machine run from there.
pub(super) const PROGRAMS: &[&str] = &[
    "/System",
    "/Library",
    "/Applications",
    "/opt/homebrew",
    "/private/etc",
    "/cores",
    "/private/var/db",
    "/private/var/root",
];

/// Symlinks in the root of macOS, and their targets, which profiles must name.
pub(super) const ROOT_LINKS: &[(&str, &str)] =
    &[("/etc", "/private/etc"), ("/tmp", "/private/tmp"), ("/var", "/private/var")];

/// Rules of every profile. The first denies everything that no later rule allows.
pub(super) const ALWAYS: &[(&str, &str)] = &[
    ("(deny default)", "what nothing below allows"),
    ("(allow signal (target same-sandbox))", "signals to what runs in it"),
    ("(allow process-info* (target same-sandbox))", "looks at what runs in it"),
    ("(allow sysctl-read)", "what the machine is like"),
    ("(allow ipc-posix-sem)", "semaphores, by which runtimes wait for themselves"),
    ("(allow file-read-data (literal \"/\"))", "the names at the root"),
    ("(allow file-write-data (literal \"/dev/null\"))", "where nothing is kept"),
    ("(allow file-write-data (literal \"/dev/zero\"))", "where nothing is kept"),
    ("(allow file-write-data (literal \"/dev/dtracehelper\"))", "runtimes announce themselves there"),
    ("(allow file-write* (literal \"/dev/ptmx\"))", "terminals of its own"),
    ("(allow file-write* (regex #\"^/dev/ttys[0-9]+$\"))", "terminals of its own"),
    ("(allow file-ioctl (literal \"/dev/ptmx\"))", "terminals of its own"),
    ("(allow file-ioctl (regex #\"^/dev/ttys[0-9]+$\"))", "terminals of its own"),
    ("(allow pseudo-tty)", "terminals of its own"),
    ("(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))", "names of users"),
    ("(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.membership\"))", "names of users"),
    ("(allow mach-lookup (global-name \"com.apple.system.logger\"))", "messages to the system"),
    (
        "(allow mach-lookup (global-name \"com.apple.system.notification_center\"))",
        "changes of the time zone",
    ),
];

/// Rules for an open network. Unix sockets, through which other programs are reachable, are not included.
pub(super) const OPEN_NETWORK: &[(&str, &str)] = &[
    ("(allow system-socket)", "sockets"),
    ("(allow network-outbound (remote ip \"*:*\"))", "other machines"),
    ("(allow network-bind (local ip \"*:*\"))", "servers of its own"),
    ("(allow network-inbound (local ip \"*:*\"))", "servers of its own"),
    ("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))", "addresses of machines"),
    (
        "(allow mach-lookup (global-name \"com.apple.SystemConfiguration.configd\"))",
        "how the network is set up",
    ),
    ("(allow mach-lookup (global-name \"com.apple.dnssd.service\"))", "addresses of machines"),
    ("(allow mach-lookup (global-name \"com.apple.trustd\"))", "certificates"),
    ("(allow mach-lookup (global-name \"com.apple.trustd.agent\"))", "certificates"),
    ("(allow mach-lookup (global-name \"com.apple.networkd\"))", "how the network is set up"),
];
