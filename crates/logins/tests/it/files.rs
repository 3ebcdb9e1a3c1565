//! Copies of login files: each has the wanted logins with their placeholders, and no secret.

use proptest::prelude::*;
use stockade_logins::{LoginFile, LoginFileKind, MAX_FILE, MAX_LOGINS};

/// A file of each kind with the logins `secret-0`, `secret-1` …, and its copy with `placeholder-0` ….
struct Case {
    kind: LoginFileKind,
    file: &'static str,
    /// Of each login: its hosts, paths and places.
    to: &'static [&'static str],
    copy: &'static str,
    left_out: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        kind: LoginFileKind::Netrc,
        file: "# secret-9\nmachine a.example login me password secret-0 account x\n\nmachine b.example\n\tlogin \"m e\"\n\tpassword \
               \"secret-1\"\nmacdef init\nput secret-9\n\nmachine c.example login secret-2 password x-oauth-basic\ndefault login anonymous \
               password secret-9\n",
        to: &["a.example basic", "b.example basic", "c.example basic"],
        copy: "machine a.example login me password placeholder-0\nmachine b.example login \"m e\" password placeholder-1\nmachine c.example \
               login placeholder-2 password x-oauth-basic\n",
        left_out: &["default is for every host"],
    },
    Case {
        kind: LoginFileKind::Npmrc,
        file: "; secret-9\nregistry = https://npm.a.example/pkg/\n//npm.a.example/pkg/:_authToken = \"secret-0\"\n//b.example:8443/:_auth=bWU6c2VjcmV0LTE=\n\
               //c.example/:username=me\n//c.example/:_password=c2VjcmV0LTI=\n//d.example/:_authToken=${NPM_TOKEN}\n_authToken=secret-3\n@scope:registry=https://b.example\n\
               https-proxy=http://me:secret-9@proxy.example\nkey=secret-9\nproxy=secret-9\nfund=false\n//e.example/:_auth=%%%\n",
        to: &[
            "npm.a.example/pkg/** header:authorization",
            "b.example:8443 basic",
            "c.example basic",
            "npm.a.example/pkg/** header:authorization",
        ],
        copy: "registry=https://npm.a.example/pkg/\n//npm.a.example/pkg/:_authToken=placeholder-0\n//b.example:8443/:_auth=bWU6cGxhY2Vob2xkZXItMQ==\n\
               //c.example/:username=me\n//c.example/:_password=cGxhY2Vob2xkZXItMg==\n//d.example/:_authToken=${NPM_TOKEN}\n_authToken=placeholder-3\n\
               @scope:registry=https://b.example\nfund=false\n",
        left_out: &["//e.example/ is not a user and a password in base64"],
    },
    Case {
        kind: LoginFileKind::Pypirc,
        file: "[distutils]\nindex-servers =\n    pypi\n    own\n    old\n\n[pypi]\nusername = __token__\npassword = secret-0\nnote = secret-9\n\n[own]\nrepository: https://pypi.own.example/simple/\nusername: me\npassword: secret-1\n[old]\nrepository = http://old.example/\npassword = secret-9\n",
        to: &["upload.pypi.org basic", "pypi.own.example basic"],
        copy: "[pypi]\nrepository = https://upload.pypi.org/legacy/\nusername = __token__\npassword = placeholder-0\n\n[own]\nrepository = https://pypi.own.example/simple/\nusername = me\npassword = placeholder-1\n\n[distutils]\nindex-servers =\n    pypi\n    own\n",
        left_out: &["old is not for https"],
    },
    Case {
        kind: LoginFileKind::GitCredentials,
        file: "https://me:secret-0@git.example\n\nhttps://secret-1:x-oauth-basic@b.example:8443/path\nhttps://me%40x:secret%2d2@c.example\nhttp://me:secret-9@d.example\nhttps://e.example\n",
        to: &["git.example basic", "b.example:8443 basic", "c.example basic"],
        copy: "https://me:placeholder-0@git.example\nhttps://placeholder-1:x-oauth-basic@b.example:8443/path\nhttps://me%40x:placeholder-2@c.example\n",
        left_out: &["d.example is not for https"],
    },
    Case {
        kind: LoginFileKind::GhHosts,
        file: "github.com:\n    git_protocol: ssh\n    users:\n        me:\n            oauth_token: secret-0\n        other:\n            oauth_token: secret-9\n    user: me\nghe.example:\n    oauth_token: secret-1\n    user: you\nkeyring.example:\n    user: me\n",
        to: &[
            "api.github.com header:authorization, uploads.github.com header:authorization, github.com basic",
            "ghe.example header:authorization, ghe.example basic",
        ],
        copy: "\"github.com\":\n    git_protocol: \"ssh\"\n    user: \"me\"\n    oauth_token: \"placeholder-0\"\n    users:\n        \"me\":\n            oauth_token: \"placeholder-0\"\n\"ghe.example\":\n    git_protocol: \"https\"\n    user: \"you\"\n    oauth_token: \"placeholder-1\"\n    users:\n        \"you\":\n            oauth_token: \"placeholder-1\"\n",
        left_out: &["keyring.example has its token in the keyring"],
    },
    Case {
        kind: LoginFileKind::Docker,
        file: "{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"bWU6c2VjcmV0LTA=\"}, \"b.example:5000\": {\"auth\": \"bWU6c2VjcmV0LTE=\", \"email\": \"secret-9\"}, \"c.example\": {}, \"d.example\": {\"auth\": \"bWU6c2VjcmV0LTk=\", \"identitytoken\": \"secret-9\"}}, \"HttpHeaders\": {\"X\": \"secret-9\"}}",
        to: &["auth.docker.io basic", "b.example:5000 basic"],
        copy: "{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"bWU6cGxhY2Vob2xkZXItMA==\"}, \"b.example:5000\": {\"auth\": \"bWU6cGxhY2Vob2xkZXItMQ==\"}}}\n",
        left_out: &[
            "c.example has its password in a helper",
            "d.example has a token that is exchanged for others",
        ],
    },
    Case {
        kind: LoginFileKind::Aws,
        file: "[work]\naws_access_key_id = AKIA1\naws_secret_access_key = secret-1\n# secret-9\n[default]\naws_access_key_id=AKIA0\naws_secret_access_key=secret-0\nregion = eu-central-1\n[role]\naws_access_key_id = ASIA2\naws_secret_access_key = secret-9\naws_session_token = secret-9\n[process]\ncredential_process = /bin/secret-9\n",
        to: &["*.amazonaws.com sigv4", "*.amazonaws.com sigv4"],
        copy: "[default]\naws_access_key_id = AKIA0\naws_secret_access_key = placeholder-0\n[work]\naws_access_key_id = AKIA1\naws_secret_access_key = placeholder-1\n",
        left_out: &["role has a session token, which every service would get"],
    },
    Case {
        kind: LoginFileKind::Cargo,
        file: "# secret-9\n[registries.own]\ntoken = \"secret-9\"\n[registry]\ntoken = \"secret-0\"\n",
        to: &["crates.io/api/v1/** header:authorization"],
        copy: "[registry]\ntoken = \"placeholder-0\"\n",
        left_out: &[],
    },
    Case {
        kind: LoginFileKind::Kubeconfig,
        file: "apiVersion: v1\nkind: Config\ncurrent-context: prod\nclusters:\n- name: c\n  cluster: {server: 'https://k8s.example:6443', certificate-authority-data: secret-9}\nusers:\n- name: u\n  user: {token: secret-0}\n- name: v\n  user: {client-key-data: secret-9}\ncontexts:\n- name: prod\n  context: {cluster: c, user: u, namespace: web}\n- name: test\n  context: {cluster: c, user: v}\n",
        to: &["k8s.example:6443 header:authorization"],
        copy: "{\"apiVersion\": \"v1\", \"kind\": \"Config\", \"current-context\": \"prod\",\n\"clusters\": [{\"name\": \"prod\", \"cluster\": {\"server\": \"https://k8s.example:6443\"}}],\n\"users\": [{\"name\": \"prod\", \"user\": {\"token\": \"placeholder-0\"}}],\n\"contexts\": [{\"name\": \"prod\", \"context\": {\"cluster\": \"prod\", \"user\": \"prod\", \"namespace\": \"web\"}}]}\n",
        left_out: &["test has no token for a server with https"],
    },
];

fn placeholders(file: &LoginFile) -> Vec<String> {
    (0..file.logins().len()).map(|number| format!("placeholder-{number}")).collect()
}

#[test]
fn a_copy_has_the_logins_and_nothing_else() {
    for Case { kind, file, to, copy, left_out } in CASES {
        let read = LoginFile::read(*kind, file, |_| Ok(())).unwrap();
        let secrets: Vec<_> = read.logins().iter().map(|login| login.secret().to_owned()).collect();
        let expected: Vec<_> = (0..to.len()).map(|number| format!("secret-{number}")).collect();
        assert_eq!(secrets, expected, "{kind:?}");
        let destinations = read.logins().iter().map(|login| {
            let to = login.to.iter().map(|to| format!("{}{} {}", to.host, to.path, to.place));
            to.collect::<Vec<_>>().join(", ")
        });
        assert_eq!(destinations.collect::<Vec<_>>(), *to, "{kind:?}");
        assert_eq!(read.with_placeholders(&placeholders(&read)), *copy, "{kind:?}");
        let told: Vec<_> = read.left_out().iter().map(|one| format!("{} {}", one.of, one.why)).collect();
        assert_eq!(told, *left_out, "{kind:?}");
        assert!(!format!("{read:?}").contains("secret-"), "{read:?}");
    }
}

/// Each login can be left out alone, and each copy is a file of its kind, with the same logins.
#[test]
fn an_unwanted_login_is_left_out_and_a_copy_is_a_login_file() {
    for Case { kind, file, to, .. } in CASES {
        for unwanted in 0..to.len() {
            let mut number = 0;
            let read = LoginFile::read(*kind, file, |_| {
                number += 1;
                if number == unwanted + 1 { Err("is not wanted".to_owned()) } else { Ok(()) }
            });
            let read = read.unwrap();
            let secret = format!("secret-{unwanted}");
            assert!(read.logins().iter().all(|login| login.secret() != secret), "{kind:?}");
            let copy = read.with_placeholders(&placeholders(&read));
            assert!(!copy.contains("secret-"), "{kind:?}: {copy}");
            let again = LoginFile::read(*kind, &copy, |_| Ok(())).unwrap();
            let shown: Vec<_> = again.logins().iter().map(|login| login.secret().to_owned()).collect();
            assert_eq!(shown, placeholders(&read), "{kind:?}: {copy}");
        }
    }
}

#[test]
fn every_kind_has_a_path_and_a_case() {
    for path in LoginFileKind::paths() {
        let kind = LoginFileKind::of(path.as_ref()).unwrap();
        assert!(CASES.iter().any(|case| case.kind == kind), "{path}");
        assert!(include_str!("../../README.md").contains(&format!("`~/{path}`")), "{path}");
    }
    assert_eq!(LoginFileKind::of("x/.netrc".as_ref()), None);
}

#[test]
fn bounds_hold() {
    let long = " ".repeat(MAX_FILE + 1);
    let error = LoginFile::read(LoginFileKind::Netrc, &long, |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("1 MiB"), "{error}");
    let many: String =
        (0..=MAX_LOGINS).map(|n| format!("machine h{n}.example login me password secret\n")).collect();
    let read = LoginFile::read(LoginFileKind::Netrc, &many, |_| Ok(())).unwrap();
    assert_eq!(read.logins().len(), MAX_LOGINS);
    assert_eq!(read.left_out()[0].of, format!("h{MAX_LOGINS}.example"));
    assert!(!read.with_placeholders(&placeholders(&read)).contains(&format!("h{MAX_LOGINS}.")));
}

#[test]
fn damaged_files_have_no_copy() {
    for (kind, text) in [
        (LoginFileKind::Netrc, "machine a.example login me password \"secret"),
        (LoginFileKind::Netrc, "secret"),
        (LoginFileKind::Netrc, "machine a.example password \u{e000}"),
        (LoginFileKind::Pypirc, "password = secret"),
        (LoginFileKind::GitCredentials, "secret"),
        (LoginFileKind::GhHosts, "a: [secret"),
        (LoginFileKind::Docker, "{\"auths\": secret}"),
        (LoginFileKind::Docker, "{\"auths\": {}, \"auths\": {}}"),
        (LoginFileKind::Cargo, "[registry\ntoken = \"secret\""),
    ] {
        let error = LoginFile::read(kind, text, |_| Ok(())).unwrap_err();
        assert!(!error.why.is_empty() && !error.why.contains("secret"), "{kind:?}: {error}");
    }
}

/// Lines, or members of an object, that a file of this kind may hold and its tool needs not.
fn noise(kind: LoginFileKind) -> &'static [&'static str] {
    match kind {
        LoginFileKind::Npmrc => &[
            "key=HIDDEN",
            "; HIDDEN",
            "//z.example/:certfile=HIDDEN",
            "email = HIDDEN",
            "registry=https://HIDDEN@z.example",
        ],
        LoginFileKind::Pypirc | LoginFileKind::Aws => {
            &["note = HIDDEN", "# HIDDEN", "; HIDDEN", "  HIDDEN", "HIDDEN: x"]
        }
        LoginFileKind::Docker => {
            &["\"x\": \"HIDDEN\", ", "\"HIDDEN\": {}, ", "\"HttpHeaders\": {\"X\": \"HIDDEN\"}, "]
        }
        LoginFileKind::Cargo => &["# HIDDEN", "x = \"HIDDEN\"", "[HIDDEN]"],
        LoginFileKind::Netrc => {
            &["# HIDDEN", "#HIDDEN machine z.example login HIDDEN password HIDDEN", "macdef HIDDEN\n\n"]
        }
        _ => &["# HIDDEN"],
    }
}

proptest! {
    /// What a tool does not need for its login is not in a copy, wherever it stands.
    #[test]
    fn only_known_members_are_copied(case in 0..CASES.len(), which in 0..5_usize, at in 0..40_usize) {
        let Case { kind, file, .. } = &CASES[case];
        let noise = noise(*kind)[which % noise(*kind).len()];
        let between = if *kind == LoginFileKind::Docker { '{' } else { '\n' };
        let places: Vec<usize> = file.match_indices(between).map(|(place, found)| place + found.len()).collect();
        let (before, after) = file.split_at(places[at % places.len()]);
        let text = match between {
            '{' => format!("{before}{noise}{after}").replace(", }", "}"),
            _ => format!("{before}{noise}\n{after}"),
        };
        if let Ok(read) = LoginFile::read(*kind, &text, |_| Ok(())) {
            let copy = read.with_placeholders(&placeholders(&read));
            prop_assert!(!copy.contains("HIDDEN"), "{text}\n{copy}");
        }
    }

    /// Any text is read or refused, and a copy is the same however often it is made.
    #[test]
    fn any_text_is_read_or_refused(pieces in proptest::collection::vec(0..PIECES.len(), 0..40), other in "[ -~\n]{0,20}") {
        let text: String = pieces.iter().map(|at| PIECES[*at]).chain([other.as_str()]).collect();
        for kind in CASES.iter().map(|case| case.kind) {
            let Ok(read) = LoginFile::read(kind, &text, |_| Ok(())) else { continue };
            let copy = read.with_placeholders(&placeholders(&read));
            prop_assert_eq!(&copy, &read.with_placeholders(&placeholders(&read)));
            // Without a placeholder, there is nothing in the place of a secret.
            let none: [&str; 0] = [];
            prop_assert!(read.with_placeholders(&none).len() <= copy.len());
        }
    }
}

/// Words and signs of all formats.
const PIECES: &[&str] = &[
    "machine ",
    "login ",
    "password ",
    "default",
    "macdef x\n\n",
    "//a.example/:",
    "_authToken=",
    "_auth=",
    "_password=",
    "[pypi]\n",
    "[default]\n",
    "aws_access_key_id",
    "=",
    ":",
    "\n",
    "https://",
    "@",
    "%",
    "%4",
    "%zz",
    "\"",
    "\\",
    "#",
    "{",
    "}",
    "[",
    "]",
    ",",
    "- ",
    "  ",
    "auths",
    "auth",
    "oauth_token",
    "users",
    "github.com",
    "token",
    "registry",
    "contexts",
    "context",
    "cluster",
    "server",
    "name",
    "bWU6c2VjcmV0",
    "\u{e9}",
    "\u{feff}",
    "\r\n",
    "\0",
];
