//! From text to manifest: every field must be there, every field must fit, and there are no others.

use std::collections::HashMap;

use stockade_text::{Format, Node, TableEntry, Value, nearest, parse};

use super::field::{self, Checked};
use super::manifest::{ContainerManifest, DeclaredFile, Permissions, Publisher, SandboxLimits};
use super::package_path::{AS_IT_LIES, file_path, one_file};
use super::problem::{ManifestErrors, Problems};

/// A field that must be there, and how it is written.
type Field = (&'static str, &'static str);

const MANIFEST: [Field; 7] = [
    ("files", "[…]"),
    ("name", "\"my-skill\""),
    ("permissions", "{…}"),
    ("publisher", "{…}"),
    ("sandbox", "{…}"),
    ("signature", "\"0x…\""),
    ("version", "\"1\""),
];
const PUBLISHER: [Field; 3] = [("address", "\"0x…\""), ("contact", "\"me@example.com\""), ("name", "\"Me\"")];
const PERMISSIONS: [Field; 4] = [
    ("chains", "[1]"),
    ("filesystemAccess", "false"),
    ("networkAccess", "false"),
    ("txActions", "[\"transfer\"]"),
];
const SANDBOX: [Field; 3] = [("allowSpawn", "false"), ("memoryMb", "128"), ("timeoutMs", "30000")];
const FILE: [Field; 2] = [("path", "\"main.js\""), ("sha256", "\"…\"")];

/// Fields as some guides spell them.
const GUIDES: [(&str, &str); 3] =
    [("actions", "txActions"), ("network", "networkAccess"), ("filesystem", "filesystemAccess")];

/// The most bytes of a manifest.
const MAX_MANIFEST_BYTES: usize = 256 << 10;

/// The most characters of a value that a message repeats.
const REPEATED: usize = 40;

pub(super) fn read(text: &str, is_visible: fn(&str) -> bool) -> Result<ContainerManifest, ManifestErrors> {
    let mut reader = Reader { problems: Problems::default(), is_visible };
    let manifest = match parse(text, Format::Json, MAX_MANIFEST_BYTES) {
        Ok(node) => reader.manifest(&Part { path: String::new(), node: &node }),
        Err(broken) => {
            let message = format!("the manifest is not valid JSON: {}", broken.reason);
            reader.problems.push("", broken.at, message, "fix the syntax there");
            None
        }
    };
    reader.problems.end(manifest)
}

/// A value and where it is found.
struct Part<'n> {
    path: String,
    node: &'n Node,
}

struct Reader {
    problems: Problems,
    is_visible: fn(&str) -> bool,
}

impl Reader {
    fn manifest(&mut self, whole: &Part<'_>) -> Option<ContainerManifest> {
        let [files, name, permissions, publisher, sandbox, signature, version] =
            self.fields(whole, MANIFEST)?;
        // All are read before the first that is wrong ends it, so that a person hears about all at once.
        let files = files.and_then(|part| self.files(&part));
        let name = self.value(name, field::name);
        let permissions = permissions.and_then(|part| self.permissions(&part));
        let publisher = publisher.and_then(|part| self.publisher(&part));
        let sandbox = sandbox.and_then(|part| self.sandbox(&part));
        let signature = self.value(signature, field::signature);
        let version = self.value(version, field::version);
        Some(ContainerManifest {
            files: files?,
            name: name?,
            permissions: permissions?,
            publisher: publisher?,
            sandbox: sandbox?,
            signature: signature?,
            version: version?,
        })
    }

    fn publisher(&mut self, part: &Part<'_>) -> Option<Publisher> {
        let [address, contact, name] = self.fields(part, PUBLISHER)?;
        let address = self.value(address, field::address);
        let contact = self.value(contact, field::contact);
        let name = self.value(name, field::publisher_name);
        Some(Publisher { address: address?, contact: contact?, name: name? })
    }

    fn permissions(&mut self, part: &Part<'_>) -> Option<Permissions> {
        let [chains, filesystem, network, actions] = self.fields(part, PERMISSIONS)?;
        let chains = chains.and_then(|part| self.list(&part, field::chain));
        let filesystem_access = self.value(filesystem, field::never);
        let network_access = self.value(network, field::never);
        let tx_actions = actions.and_then(|part| self.distinct(&part));
        Some(Permissions {
            chains: chains?,
            filesystem_access: filesystem_access?,
            network_access: network_access?,
            tx_actions: tx_actions?,
        })
    }

    fn sandbox(&mut self, part: &Part<'_>) -> Option<SandboxLimits> {
        let [spawn, memory, timeout] = self.fields(part, SANDBOX)?;
        let allow_spawn = self.value(spawn, field::flag);
        let memory_mb = self.value(memory, field::memory_mb);
        let timeout_ms = self.value(timeout, field::timeout_ms);
        Some(SandboxLimits { allow_spawn: allow_spawn?, memory_mb: memory_mb?, timeout_ms: timeout_ms? })
    }

    fn files(&mut self, part: &Part<'_>) -> Option<Vec<DeclaredFile>> {
        let parts = self.parts(part)?;
        if parts.is_empty() {
            self.wrong(part, "at least one file", "list every file of the package");
            return None;
        }
        let read: Vec<_> = parts.iter().map(|part| self.file(part)).collect();
        let files: Vec<DeclaredFile> = read.into_iter().collect::<Option<_>>()?;
        self.apart(&files, &parts);
        Some(files)
    }

    fn file(&mut self, part: &Part<'_>) -> Option<DeclaredFile> {
        let [path, sha256] = self.fields(part, FILE)?;
        let path = path.and_then(|part| self.visible_path(&part));
        let sha256 = self.value(sha256, field::sha256);
        Some(DeclaredFile { path: path?, sha256: sha256? })
    }

    fn visible_path(&mut self, part: &Part<'_>) -> Option<String> {
        let path = file_path(&part.node.value).map_err(|it| self.wrong(part, &it.what, &it.fix)).ok()?;
        if !(self.is_visible)(&path) {
            self.wrong(part, "free of invisible characters", AS_IT_LIES);
            return None;
        }
        Some(path)
    }

    /// No file may be another one too, nor a folder of another one, on any system.
    fn apart(&mut self, files: &[DeclaredFile], parts: &[Part<'_>]) {
        let keys: Vec<String> = files.iter().map(|file| one_file(&file.path)).collect();
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (index, (key, part)) in keys.iter().zip(parts).enumerate() {
            let before = *first.entry(key).or_insert(index);
            if before != index {
                let what = format!("a unique path: on some systems, files[{before}] is the same file");
                self.wrong(part, &what, "list each file once");
            }
        }
        for (key, part) in keys.iter().zip(parts) {
            let mut above = key.match_indices('/').filter_map(|(slash, _)| key.get(..slash));
            if let Some(file) = above.find_map(|folder| first.get(folder)) {
                self.wrong(
                    part,
                    &format!("a possible path: files[{file}] is a file, not a directory"),
                    "rename one of the files",
                );
            }
        }
    }

    /// Actions of which none stands there twice.
    fn distinct(&mut self, part: &Part<'_>) -> Option<Vec<String>> {
        let actions = self.list(part, field::tx_action)?;
        let twice = (1..actions.len()).any(|index| {
            let (before, rest) = actions.split_at(index);
            rest.first().is_some_and(|action| before.contains(action))
        });
        if twice {
            self.wrong(part, "a list without repetitions", "list each action once");
        }
        (!twice).then_some(actions)
    }

    fn list<T>(&mut self, part: &Part<'_>, check: fn(&Value) -> Checked<T>) -> Option<Vec<T>> {
        let parts = self.parts(part)?;
        let read: Vec<_> = parts.into_iter().map(|part| self.value(Some(part), check)).collect();
        read.into_iter().collect()
    }

    /// The parts of a list.
    fn parts<'n>(&mut self, part: &Part<'n>) -> Option<Vec<Part<'n>>> {
        let Value::List(nodes) = &part.node.value else {
            self.wrong(part, "a list", "write it in square brackets");
            return None;
        };
        let one = |(index, node)| Part { path: format!("{}[{index}]", part.path), node };
        Some(nodes.iter().enumerate().map(one).collect())
    }

    fn value<T>(&mut self, part: Option<Part<'_>>, check: fn(&Value) -> Checked<T>) -> Option<T> {
        let part = part?;
        check(&part.node.value).map_err(|wanted| self.wrong(&part, &wanted.what, &wanted.fix)).ok()
    }

    /// The fields of a table: those that there must be. Any other is a problem.
    fn fields<'n, const N: usize>(
        &mut self,
        part: &Part<'n>,
        known: [Field; N],
    ) -> Option<[Option<Part<'n>>; N]> {
        let Value::Table(entries) = &part.node.value else {
            self.wrong(part, "a table", "write it in curly brackets");
            return None;
        };
        let mut missing = Vec::new();
        let found = known.map(|(name, example)| match entries.iter().find(|entry| entry.key == name) {
            Some(entry) => Some(Part { path: part.below(name), node: &entry.node }),
            None => {
                missing.push((name, example));
                None
            }
        });
        for entry in entries.iter().filter(|entry| !known.iter().any(|(name, _)| *name == entry.key)) {
            self.unknown(part, entry, &known);
        }
        for (name, example) in missing {
            let message = format!("`{}` is missing", part.below(name));
            self.problems.push(
                &part.below(name),
                part.node.at,
                message,
                format!("add \"{name}\": {example}"),
            );
        }
        Some(found)
    }

    fn unknown(&mut self, part: &Part<'_>, entry: &TableEntry, known: &[Field]) {
        let names = || known.iter().map(|(name, _)| *name);
        let guide =
            GUIDES.iter().find(|(theirs, ours)| *theirs == entry.key && names().any(|name| name == *ours));
        let meant = guide.map(|(_, ours)| *ours).or_else(|| nearest(&entry.key, names()));
        let fix = match meant {
            Some(meant) => format!("write `{meant}`"),
            None => format!("remove it; known fields: {}", names().collect::<Vec<_>>().join(", ")),
        };
        let path = part.below(&cut(&entry.key));
        self.problems.push(&path, entry.at, format!("unknown field `{path}`"), fix);
    }

    fn wrong(&mut self, part: &Part<'_>, what: &str, fix: &str) {
        let name = if part.path.is_empty() { "the manifest".to_owned() } else { format!("`{}`", part.path) };
        let found = match &part.node.value {
            Value::Text(text) => format!("\"{}\"", cut(text)),
            Value::List(_) | Value::Table(_) | Value::Nothing => part.node.value.kind().to_owned(),
            value => cut(value.words().unwrap_or_default()),
        };
        let message = format!("{name} is {found}, expected {what}");
        self.problems.push(&part.path, part.node.at, message, fix);
    }
}

impl Part<'_> {
    fn below(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    match text.char_indices().nth(REPEATED) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
