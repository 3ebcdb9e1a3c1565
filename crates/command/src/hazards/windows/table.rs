//! Windows commands: names of programs, verbs of cmdlets, variables, and words that determine the effect.

/// Programs that only exist on Windows, in lower case and without `.exe`.
#[rustfmt::skip]
pub(super) const PROGRAMS: &[&str] = &[
    "powershell", "powershell_ise", "copy", "move", "del", "erase", "rd", "xcopy", "robocopy", "ren", "md", "cls", "chkdsk", "diskpart", "bcdedit",
    "bootcfg", "vssadmin", "wbadmin", "diskshadow", "reg", "regedit", "regsvr32", "regsvcs", "regasm", "installutil", "rundll32", "mshta",
    "certreq", "bitsadmin", "wmic", "schtasks", "netsh", "icacls", "cacls", "takeown", "fsutil", "wevtutil", "tasklist", "taskkill",
    "systeminfo", "nltest", "dsquery", "cmdkey", "runas", "msiexec", "cscript", "wscript", "forfiles", "findstr", "setx", "ipconfig",
    "sc.exe", "net1", "tzutil", "gpupdate", "gpresult", "secedit", "auditpol", "ntdsutil", "esentutl", "makecab", "extrac32", "odbcconf",
    "pcalua", "cmstp", "wsl", "winrm", "winrs", "qwinsta", "quser", "klist.exe", "route.exe", "msbuild.exe", "psexec64", "wusa",
    "dism", "sfc", "powercfg", "manage-bde", "mountvol", "pnputil", "driverquery", "openfiles", "typeperf", "logman", "wbemtest", "explorer",
    "notepad", "control.exe", "mmc", "eventvwr", "fodhelper", "computerdefaults", "sdclt", "mpcmdrun", "iwr", "irm", "gci", "saps", "spps",
];

/// Programs that also exist on Unix or in projects: they count as Windows commands only with a Windows switch, drive or variable.
#[rustfmt::skip]
pub(super) const AMBIGUOUS: &[&str] = &[
    "cmd", "type", "dir", "format", "start", "where", "net", "sc", "shutdown", "whoami", "expand", "attrib", "cipher", "at", "fc",
    "comp", "label", "choice", "assoc", "ftype", "subst", "tree", "find", "sort", "more", "set", "mkdir", "rmdir", "cd", "pushd", "call",
    "pwsh", "python", "java", "hostname", "ping", "route", "nslookup", "arp", "netstat", "cat", "ls", "cp", "rm", "mv", "curl", "tar",
];

/// Programs whose switches start with a slash. For others, `/s` is a directory: `ls /s`.
pub(super) const SWITCHED: &[&str] = &[
    "cmd", "type", "dir", "format", "start", "where", "net", "sc", "shutdown", "whoami", "expand", "attrib",
    "cipher", "at", "fc", "comp", "label", "choice", "assoc", "ftype", "tree", "sort", "more", "rmdir",
    "find", "ping", "route",
];

/// Options of the Windows `certutil`, which is not the `certutil` of NSS.
pub(super) const CERTUTIL: &[&str] = &[
    "urlcache",
    "decode",
    "encode",
    "decodehex",
    "encodehex",
    "hashfile",
    "verifyctl",
    "addstore",
    "delstore",
    "store",
    "dump",
    "split",
    "url",
];

/// Extensions of executable files on Windows.
pub(super) const ENDINGS: &[&str] = &[
    ".exe", ".bat", ".cmd", ".ps1", ".psm1", ".vbs", ".vbe", ".wsf", ".hta", ".msi", ".scr", ".cpl", ".pif",
];

/// Verbs of cmdlets (`Get-Verb`), in lower case.
#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    "add", "approve", "assert", "backup", "block", "checkpoint", "clear", "close", "compare", "complete", "compress", "confirm", "connect",
    "convert", "convertfrom", "convertto", "copy", "debug", "deny", "disable", "disconnect", "dismount", "edit", "enable", "enter", "exit",
    "expand", "export", "find", "foreach", "format", "get", "grant", "group", "hide", "import", "initialize", "install", "invoke", "join",
    "limit", "lock", "measure", "merge", "mount", "move", "new", "open", "optimize", "out", "ping", "pop", "protect", "publish", "push", "read",
    "receive", "redo", "register", "remove", "rename", "repair", "request", "reset", "resize", "resolve", "restart", "restore", "resume",
    "revoke", "save", "search", "select", "send", "set", "show", "skip", "sort", "split", "start", "stop", "submit", "suspend", "switch",
    "sync", "tee", "test", "trace", "unblock", "undo", "uninstall", "unlock", "unprotect", "unpublish", "unregister", "update", "use", "wait",
    "watch", "where", "write",
];

/// Nouns of cmdlets, to recognise cmdlets in lower case.
#[rustfmt::skip]
pub(super) const NOUNS: &[&str] = &[
    "item", "childitem", "itemproperty", "content", "process", "service", "command", "expression", "webrequest", "restmethod", "object",
    "host", "output", "wmiobject", "ciminstance", "eventlog", "winevent", "scheduledtask", "localuser", "localgroupmember", "aduser",
    "mppreference", "executionpolicy", "pssession", "acl", "location", "variable", "module", "volume", "disk", "computer", "clipboard",
    "psdrive", "netadapter", "netfirewallrule", "registry", "alias", "null", "string", "job", "bitstransfer", "wmimethod", "cimmethod",
];

/// Variables of every Windows system.
#[rustfmt::skip]
pub(super) const VARIABLES: &[&str] = &[
    "userprofile", "appdata", "localappdata", "temp", "tmp", "systemroot", "windir", "systemdrive", "homepath", "homedrive", "programfiles",
    "programfiles(x86)", "programdata", "public", "allusersprofile", "comspec", "computername", "userdomain", "logonserver", "psmodulepath",
];

/// Directories at the root of a drive.
pub(super) const AT_DRIVE: &[&str] = &[
    "users",
    "windows",
    "program",
    "programdata",
    "temp",
    "tmp",
    "inetpub",
    "documents",
    "perflogs",
    "$recycle.bin",
];

/// Word sequences of destructive commands, possibly with other words between them, in lower case. `x*` matches words that start
/// with `x`, and `*x*` words that contain it.
#[rustfmt::skip]
pub(super) const DESTROYS: &[&[&str]] = &[
    &["vssadmin", "delete"], &["vssadmin", "resize"], &["wbadmin", "delete"], &["diskshadow", "delete"], &["wmic", "shadowcopy", "delete"],
    &["bcdedit", "/set"], &["bcdedit", "/delete"], &["bcdedit", "/deletevalue"], &["diskpart"], &["cipher", "/w*"],
    &["format", "?:"], &["format-volume"], &["clear-disk"], &["initialize-disk"], &["remove-partition"], &["wevtutil", "cl"], &["wevtutil", "clear-log"],
    &["clear-eventlog"], &["remove-eventlog"], &["fsutil", "usn", "deletejournal"], &["manage-bde", "-on"], &["sdelete"], &["ntdsutil"],
    &["auditpol", "/clear"], &["get-wmiobject", "win32_shadowcopy", "delete*"],
];

/// The same for code that is downloaded and run, or that runs in a hidden window.
#[rustfmt::skip]
pub(super) const FETCHES: &[&[&str]] = &[
    &["certutil", "-urlcache"], &["certutil", "/urlcache"], &["certutil", "-decode"], &["certutil", "-decodehex"], &["certutil", "-verifyctl"],
    &["bitsadmin", "/transfer"], &["bitsadmin", "/addfile"], &["start-bitstransfer"], &["mshta"], &["regsvr32", "/i:*"], &["regsvr32", "*scrobj*"],
    &["rundll32", "javascript:*"], &["rundll32", "*mshtml*"], &["installutil", "/u"], &["cmstp", "/s"], &["msiexec", "http*"], &["msiexec", "/q*", "http*"],
    &["*downloadstring*"], &["*downloadfile*"], &["*downloaddata*"], &["*frombase64string*"],
    &["*invoke-mimikatz*"], &["wmic", "/format:http*"], &["desktopimgdownldr"], &["esentutl", "/y", "http*"],
];

/// The same for commands that read secrets.
#[rustfmt::skip]
pub(super) const SECRETS: &[&[&str]] = &[
    &["reg", "save", "hklm*"], &["reg", "export", "hklm*"], &["cmdkey", "/list"], &["vaultcmd", "/listcreds*"], &["*minidump*"], &["*lsass*"],
    &["netsh", "wlan", "key=clear"], &["*ntds.dit*"], &["*id_rsa*"], &["*id_ed25519*"], &["*id_ecdsa*"], &["*.aws*credentials*"],
    &["*.git-credentials*"], &["*config*sam"], &["*login data*"], &["*.kube*config*"], &["*dpapi*"], &["findstr", "*password*"],
    &["reg", "query", "*password*"], &["get-storedcredential"], &["*unattend.xml*"], &["*consolehost_history*"],
];
