//! Which words of a command are secrets: a table of programs and their options.

/// Which part of a word is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// `name:secret`; what looks like a token counts also in place of the name, as in `TOKEN:`.
    AfterColon,
    /// The text after `%`: `name%secret`.
    AfterPercent,
    /// The text after a comma: `name,secret`.
    AfterComma,
    /// The text between `/` and `@`: `name/secret@place`.
    AfterSlash,
    /// The text between `:` and `@`: `name:secret@place`.
    UserInfo,
    /// `pass:secret`; `file:` and `env:` say where it is.
    Pass,
    /// Cookies; without `=` it is the name of a file.
    Cookies,
    /// The value of a header with the name of a secret.
    Header,
}

/// How an option and its value are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `-p VALUE` and `-pVALUE`, or `--long VALUE` and `--long=VALUE`.
    Either,
    /// `-pVALUE` alone: a word behind `-p` is something else.
    Joined,
    /// `-p VALUE` alone, as programs with long options of one dash have it.
    Apart,
}

/// The options of some programs that are followed by a secret.
pub(super) struct Row {
    pub(super) programs: &'static [&'static str],
    /// A word that must stand among the first for the row to count; none where it always does.
    pub(super) verb: &'static str,
    pub(super) options: &'static [&'static str],
    pub(super) shape: Shape,
    pub(super) part: Part,
}

const fn row(
    programs: &'static [&'static str],
    verb: &'static str,
    options: &'static [&'static str],
    shape: Shape,
    part: Part,
) -> Row {
    Row { programs, verb, options, shape, part }
}

const CONTAINERS: &[&str] =
    &["docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "regctl", "finch"];
const MYSQL: &[&str] = &[
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlshow",
    "mysqlcheck",
    "mysqlslap",
    "mysqlpump",
    "mysqlbinlog",
    "mysqlsh",
    "mariadb",
    "mariadb-dump",
    "mariadb-admin",
    "mariadb-import",
    "mycli",
];
const MONGO: &[&str] = &[
    "mongo",
    "mongosh",
    "mongodump",
    "mongorestore",
    "mongoexport",
    "mongoimport",
    "mongostat",
    "mongotop",
    "mongofiles",
];
const LDAP: &[&str] = &[
    "ldapsearch",
    "ldapadd",
    "ldapmodify",
    "ldapdelete",
    "ldapwhoami",
    "ldappasswd",
    "ldapcompare",
    "ldapmodrdn",
];
const SAMBA: &[&str] =
    &["smbclient", "rpcclient", "smbget", "smbcacls", "smbtree", "net", "winexe", "nmblookup", "wmic"];
const CRACKERS: &[&str] = &[
    "crackmapexec",
    "cme",
    "nxc",
    "netexec",
    "evil-winrm",
    "hydra",
    "medusa",
    "ncrack",
    "smbmap",
    "bloodhound-python",
    "kerbrute",
];
const SNMP: &[&str] = &[
    "snmpwalk",
    "snmpget",
    "snmpset",
    "snmpbulkwalk",
    "snmpgetnext",
    "snmptrap",
    "snmpbulkget",
    "snmptable",
];
/// Tools that take `domain/name:secret@machine`; [`super::words::program`] leaves `.py` out.
const IMPACKET: &[&str] = &[
    "impacket-psexec",
    "impacket-wmiexec",
    "impacket-smbexec",
    "impacket-atexec",
    "impacket-dcomexec",
    "impacket-secretsdump",
    "impacket-smbclient",
    "impacket-mssqlclient",
    "psexec",
    "wmiexec",
    "smbexec",
    "atexec",
    "dcomexec",
    "secretsdump",
    "mssqlclient",
];
const ARCHIVES: &[&str] = &["7z", "7za", "7zz", "7zr", "7zip", "rar", "unrar"];
const HTTP: &[&str] = &["http", "https", "xh", "xhs"];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = {
    use Part::{AfterColon, AfterComma, AfterPercent, Cookies, Header, Pass, UserInfo, Whole};
    use Shape::{Apart, Either, Joined};
    &[
        row(&["curl"], "", &["-u", "--user", "-U", "--proxy-user", "-E", "--cert"], Either, AfterColon),
        row(&["curl"], "", &["-x", "--proxy", "--preproxy", "--socks5", "--socks5-hostname"], Either, UserInfo),
        row(&["curl"], "", &["-b", "--cookie"], Either, Cookies),
        row(&["curl"], "", &["-H", "--header", "--proxy-header"], Either, Header),
        row(&["curl"], "", &["--pass", "--proxy-pass", "--tlspassword", "--oauth2-bearer"], Either, Whole),
        row(&["wget", "wget2", "aria2c"], "", &["--header"], Either, Header),
        row(&["grpcurl", "websocat", "hey", "wrk", "ab", "siege", "oha"], "", &["-H", "--header", "-rpc-header"], Either, Header),
        row(&["ab"], "", &["-A", "-P"], Either, AfterColon),
        row(&["ab"], "", &["-C"], Either, Cookies),
        row(HTTP, "", &["-a", "--auth"], Either, AfterColon),
        row(MYSQL, "", &["-p"], Joined, Whole),
        row(&["sshpass"], "", &["-p"], Either, Whole),
        row(&["redis-cli", "valkey-cli", "keydb-cli", "redis-benchmark"], "", &["-a", "--pass"], Apart, Whole),
        row(MONGO, "", &["-p"], Either, Whole),
        row(CONTAINERS, "login", &["-p"], Either, Whole),
        row(CONTAINERS, "", &["--creds", "--src-creds", "--dest-creds"], Either, AfterColon),
        row(&["az", "oc", "cf", "kubectl", "ibmcloud", "gcloud", "aws", "argocd"], "login", &["-p"], Either, Whole),
        row(&["az"], "sql", &["-p"], Apart, Whole),
        row(&["az"], "mysql", &["-p"], Apart, Whole),
        row(&["az"], "postgres", &["-p"], Apart, Whole),
        row(&["az"], "keyvault", &["--value"], Either, Whole),
        row(&["aws"], "SecureString", &["--value"], Either, Whole),
        row(&["zip", "zipcloak", "unzip", "zipnote"], "", &["-P"], Either, Whole),
        row(ARCHIVES, "", &["-p", "-hp"], Joined, Whole),
        row(&["openssl"], "", &["-passin", "-passout", "-pass", "-password", "-keypass"], Apart, Pass),
        row(&["openssl"], "enc", &["-k", "-K"], Apart, Whole),
        row(&["apksigner"], "", &["--ks-pass", "--key-pass"], Either, Pass),
        row(LDAP, "", &["-w"], Apart, Whole),
        row(&["ldappasswd"], "", &["-a", "-s"], Apart, Whole),
        row(SAMBA, "", &["-U", "--user"], Either, AfterPercent),
        row(&["snowsql"], "", &["-p"], Either, Whole),
        row(&["sqlcmd", "bcp", "osql", "tsql", "fisql"], "", &["-P"], Either, Whole),
        row(&["cqlsh", "cypher-shell", "cbq", "couchbase-cli", "rabbitmqadmin", "influx"], "", &["-p"], Apart, Whole),
        row(&["etcdctl", "curlie", "elasticdump"], "", &["--user"], Either, AfterColon),
        row(&["xfreerdp", "xfreerdp3", "wlfreerdp"], "", &["/p"], Joined, Whole),
        row(&["rdesktop", "ncftp", "ncftpget", "ncftpput", "vncviewer"], "", &["-p"], Apart, Whole),
        row(&["lftp", "ftp"], "", &["-u"], Either, AfterComma),
        row(CRACKERS, "", &["-p"], Apart, Whole),
        row(&["crackmapexec", "cme", "nxc", "netexec", "evil-winrm"], "", &["-H"], Apart, Whole),
        row(&["ipmitool", "mosquitto_pub", "mosquitto_sub", "mosquitto_rr"], "", &["-P"], Either, Whole),
        row(SNMP, "", &["-A", "-X", "-c"], Apart, Whole),
        row(&["twine", "poetry"], "", &["-p"], Apart, Whole),
        row(&["nuget", "dotnet"], "push", &["-k", "-ApiKey"], Apart, Whole),
        row(&["doctl", "vercel", "netlify", "influx"], "", &["-t"], Apart, Whole),
        row(&["gh"], "secret", &["-b", "--body"], Either, Whole),
        row(&["ssh-keygen"], "", &["-N", "-P"], Apart, Whole),
        row(&["useradd", "usermod"], "", &["-p"], Apart, Whole),
        row(&["security"], "add-generic-password", &["-w"], Apart, Whole),
        row(&["security"], "add-internet-password", &["-w"], Apart, Whole),
        row(&["security"], "import", &["-P"], Apart, Whole),
        row(&["security"], "unlock-keychain", &["-p"], Apart, Whole),
        row(&["security"], "create-keychain", &["-p"], Apart, Whole),
        row(&["plink", "pscp", "psftp", "putty", "kitty", "klink", "kscp"], "", &["-pw"], Apart, Whole),
        row(&["psexec", "PsExec", "PsExec64", "psexec64", "paexec"], "", &["-p"], Apart, Whole),
        row(&["schtasks"], "", &["/rp", "/RP", "/p"], Apart, Whole),
        row(&["ykman", "ykpiv", "yubico-piv-tool"], "", &["-P", "-n", "--new-pin"], Apart, Whole),
        row(&["ConvertTo-SecureString"], "", &["-String"], Apart, Whole),
        row(&["veracrypt", "truecrypt"], "", &["-p"], Either, Whole),
        row(&["swaks"], "", &["-ap", "--auth-password"], Apart, Whole),
        row(&["sendemail", "sendEmail"], "", &["-xp"], Apart, Whole),
        row(&["bw"], "", &["--session"], Either, Whole),
        row(&["svn"], "", &["--password"], Either, Whole),
        row(&["irssi", "weechat"], "", &["-w"], Apart, Whole),
        row(&["wg", "wg-quick"], "", &["private-key", "preshared-key"], Apart, Whole),
    ]
};

/// Secrets that stand at a place of their own.
pub(super) struct Position {
    pub(super) programs: &'static [&'static str],
    /// The words before it, of which the first may stand anywhere.
    pub(super) after: &'static [&'static str],
    /// How many words, options not counted, stand between.
    pub(super) skip: usize,
    pub(super) part: Part,
    /// What counts as an option.
    pub(super) is_option: fn(&str) -> bool,
}

/// Options as most programs have them.
fn dashed(word: &str) -> bool {
    word.starts_with('-')
}

/// Options, places and devices as programs of Windows have them.
fn slashed(word: &str) -> bool {
    word == "*" || word.starts_with(['/', '\\', '-']) || word.ends_with(':')
}

/// Options, and the methods that passwords are hashed by.
fn hashed(word: &str) -> bool {
    const METHODS: &[&str] = &[
        "sha-512",
        "sha-256",
        "sha512crypt",
        "sha256crypt",
        "yescrypt",
        "gost-yescrypt",
        "scrypt",
        "bcrypt",
        "bcrypt-a",
        "md5",
        "des",
    ];
    dashed(word) || METHODS.contains(&word)
}

impl Position {
    const fn with(self, is_option: fn(&str) -> bool) -> Self {
        Self { is_option, ..self }
    }
}

const fn position(
    programs: &'static [&'static str],
    after: &'static [&'static str],
    skip: usize,
    part: Part,
) -> Position {
    Position { programs, after, skip, part, is_option: dashed }
}

#[rustfmt::skip]
pub(super) const POSITIONS: &[Position] = {
    use Part::{AfterSlash, UserInfo, Whole};
    &[
        position(&["mysqladmin", "mariadb-admin"], &["password"], 0, Whole),
        position(&["vault", "cargo", "wandb", "hf", "fly", "flyctl"], &["login"], 0, Whole),
        position(&["rclone"], &["obscure"], 0, Whole),
        position(&["nmcli"], &["password"], 0, Whole),
        position(&["wpa_passphrase"], &[], 1, Whole),
        position(&["htpasswd"], &["-b"], 2, Whole),
        position(&["htpasswd"], &["-cb"], 2, Whole),
        position(&["htpasswd"], &["-bc"], 2, Whole),
        position(&["htpasswd"], &["-nb"], 1, Whole),
        position(&["htpasswd"], &["-nbB"], 1, Whole),
        position(&["ngrok"], &["authtoken"], 0, Whole),
        position(&["ngrok"], &["add-authtoken"], 0, Whole),
        position(&["snyk"], &["auth"], 0, Whole),
        position(&["bw"], &["unlock"], 0, Whole),
        position(&["bw"], &["login"], 1, Whole),
        position(&["rabbitmqctl"], &["add_user"], 1, Whole),
        position(&["rabbitmqctl"], &["change_password"], 1, Whole),
        position(&["cf"], &["auth"], 1, Whole),
        position(&["pdftk"], &["input_pw"], 0, Whole),
        position(&["pdftk"], &["owner_pw"], 0, Whole),
        position(&["pdftk"], &["user_pw"], 0, Whole),
        position(&["qpdf"], &["--encrypt"], 0, Whole),
        position(&["qpdf"], &["--encrypt"], 1, Whole),
        position(&["sqlplus", "expdp", "impdp", "exp", "imp", "sqlldr"], &[], 0, AfterSlash),
        position(&["rman"], &["target"], 0, AfterSlash),
        position(&["db2"], &["using"], 0, Whole),
        position(IMPACKET, &[], 0, UserInfo),
        position(&["net", "net1"], &["use"], 0, Whole).with(slashed),
        position(&["net", "net1"], &["user"], 1, Whole).with(slashed),
        position(&["wpa_cli"], &["psk"], 0, Whole),
        position(&["wpa_cli"], &["password"], 0, Whole),
        position(&["pulumi"], &["--secret"], 1, Whole),
        position(&["openssl"], &["passwd"], 0, Whole),
        position(&["mkpasswd"], &[], 0, Whole).with(hashed),
        position(&["rclone"], &["pass"], 0, Whole),
        position(&["rclone"], &["password"], 0, Whole),
        position(&["rclone"], &["token"], 0, Whole),
        position(&["mc", "mcli"], &["set"], 3, Whole),
        position(&["ConvertTo-SecureString"], &[], 0, Whole),
        position(&["keyctl"], &["add"], 2, Whole),
        position(&["ansible-vault"], &["encrypt_string"], 0, Whole),
        position(&["redis-cli", "valkey-cli"], &["auth"], 0, Whole),
        position(&["redis-cli", "valkey-cli"], &["AUTH"], 0, Whole),
        position(&["redis-cli", "valkey-cli"], &["requirepass"], 0, Whole),
    ]
};

/// Programs that read a secret from their standard input, and the word that makes them; none where they always do.
pub(super) const READERS: &[(&[&str], &str)] = &[
    (CONTAINERS, "--password-stdin"),
    (&["sudo"], "-S"),
    (&["passwd"], ""),
    (&["chpasswd", "chgpasswd", "cryptsetup", "smbpasswd", "kinit", "htpasswd", "gpg-preset-passphrase"], ""),
    (&["gh", "glab"], "--with-token"),
    (&["glab"], "--stdin"),
    (&["gh"], "secret"),
    (&["gpg", "gpg2"], "--passphrase-fd"),
    (&["vault"], "login"),
    (&["vercel"], "add"),
    (&["sshfs"], "password_stdin"),
    (&["vault"], "-"),
    (&["npm", "cargo", "fly", "wandb"], "login"),
    (&["wrangler"], "secret"),
    (&["docker", "podman"], "secret"),
    (&["aws", "gcloud"], "--data-file=-"),
    (&["restic", "borg", "veracrypt"], "--stdin"),
    (&["openssl"], "stdin"),
    (&["secret-tool"], "store"),
    (&["pass"], "insert"),
    (&["su"], ""),
    (&["ansible-vault"], "--vault-password-file=-"),
];

/// Those of them that read `name:secret`.
pub(super) const READERS_OF_PAIRS: &[&str] = &["chpasswd", "chgpasswd"];

/// Programs in which an option that is named like a secret has another value.
pub(super) const OTHERWISE: &[(&[&str], &str)] = &[
    (&["docker", "podman", "nerdctl", "buildah"], "--secret"),
    (&["gcloud"], "--secret"),
    (&["gcloud"], "--set-secrets"),
    (&["gcloud"], "--update-secrets"),
    (&["pulumi"], "--secret"),
    (&["ffmpeg", "x264", "x265", "mencoder"], "-pass"),
    (&["ffmpeg", "x264", "x265", "mencoder"], "--pass"),
    (&["curl", "wget"], "--cookie-jar"),
    (
        &["psql", "pg_dump", "pg_restore", "pg_dumpall", "createdb", "dropdb", "createuser", "vacuumdb"],
        "--password",
    ),
    (&["VBoxManage"], "--password"),
    (&["gocryptfs"], "--passwd"),
    (&["systemd-cryptenroll"], "--password"),
    (&["systemd-cryptenroll"], "--recovery-key"),
    (&["kubectl", "oc"], "secret"),
    (&["helm"], "--pass-credentials"),
    (&["curl"], "--anyauth"),
    (&["http", "https", "xh", "mosquitto_pub"], "--auth"),
];

/// Options and variables whose value is a command that prints a secret, by what their names end in.
pub(super) const PRINTERS: &[&str] =
    &["password-command", "password_command", "passcommand", "passwordeval", "pass-command"];

/// Words behind which names and their values stand, and the programs that take them so; none where any does.
pub(super) const SETTERS: &[(&str, &[&str])] = &[
    ("set", &[]),
    ("config", &[]),
    ("config:set", &[]),
    ("set-secret", &[]),
    ("put", &["consul", "etcdctl"]),
];
