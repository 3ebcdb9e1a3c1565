//! Collects the rules and derives the tables of the prefilter from them.
//!
//! Writes to `OUT_DIR`: `rules.rs`, which lists every file of `src/rules/FAMILY/`, `prefilter.rs`, the tables, and
//! `programs.rs`, the programs of all expressions.
//! Both are made here so that a new rule is one new file and nothing generated is in the repository. The code that
//! makes the tables is that of the crate, which uses it for a user's own rules at run time.

#![expect(clippy::disallowed_methods, reason = "a build script reads files and writes to OUT_DIR")]
#![expect(clippy::expect_used, clippy::panic, reason = "a build script stops by a panic")]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "the modules below are parts of the crate, which needs more of them"
)]

#[path = "build/rule_source.rs"]
mod rule_source;

#[path = "src/dialect.rs"]
mod dialect;
#[path = "src/deobfuscate"]
mod deobfuscate {
    pub(crate) mod obfuscation;
    pub(crate) mod triggers;

    pub(crate) use obfuscation::Obfuscation;
}
#[path = "src/expression"]
mod expression {
    pub(crate) mod assemble;
    pub(crate) mod beginnings;
    pub(crate) mod instruction;
    pub(crate) mod prefix;
}
#[path = "src/fragments.rs"]
mod fragments;
#[path = "src/prefilter"]
mod prefilter {
    pub(crate) mod bucket;
    pub(crate) mod byte_kind;
    pub(crate) mod byte_set;
    pub(crate) mod codegen;
    pub(crate) mod cut;
    pub(crate) mod extent;
    pub(crate) mod fingerprint;
    pub(crate) mod fours;
    pub(crate) mod frequency;
    pub(crate) mod gram;
    pub(crate) mod graph;
    pub(crate) mod hints;
    pub(crate) mod input;
    pub(crate) mod loops;
    pub(crate) mod run;
    pub(crate) mod source;
    pub(crate) mod tables;
}

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folders of the rules, in the order of reports, with the rules that come first in each. All others follow by
/// name, so that a new one need not be listed; these keep the places that they had before.
const FAMILIES: [(&str, &[&str]); 15] = [
    ("exec_injection", &["exec_subshell", "exec_backtick", "exec_eval", "exec_pipe_bash"]),
    ("env_harvesting", &["env_printenv", "env_proc_environ", "env_mass_dump"]),
    ("crypto_mining", &["crypto_stratum", "crypto_miner_binary", "crypto_pool_domain"]),
    ("network_exfiltration", &["net_curl_pipe", "net_wget_exec", "net_reverse_shell"]),
    ("obfuscated_encoding", &["obf_base64_long", "obf_hex_long", "obf_base64_decode_pipe"]),
    ("xml_breakout", &["xml_skill_close", "xml_system_tag"]),
    ("data_exfiltration", &[]),
    ("fake_prerequisite", &[]),
    ("prompt_injection", &[]),
    ("hidden_text", &[]),
    ("persistence", &[]),
    ("agent_state", &[]),
    ("privilege", &[]),
    ("supply_chain", &[]),
    ("impact", &[]),
];

fn main() {
    let folder =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo says where")).join("src/rules");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo says where"));
    println!("cargo::rerun-if-changed={}", folder.display());
    let families = FAMILIES.map(|(family, first)| (family, rule_files(&folder.join(family), first)));
    let files = families.iter().flat_map(|(_, files)| files);
    let patterns: Vec<String> = files.flat_map(|file| rule_source::patterns(file)).collect();
    fs::write(out.join("rules.rs"), modules(&families)).expect("OUT_DIR can be written");
    fs::write(out.join("prefilter.rs"), prefilter::codegen::source(&patterns))
        .expect("OUT_DIR can be written");
    let others = OTHERS.map(|file| folder.with_file_name(file));
    others.iter().for_each(|file| println!("cargo::rerun-if-changed={}", file.display()));
    let files = families.iter().flat_map(|(_, files)| files).chain(&others);
    let expressions: BTreeSet<String> = files.flat_map(|file| rule_source::expressions(file)).collect();
    fs::write(out.join("programs.rs"), programs(&expressions)).expect("OUT_DIR can be written");
}

/// Files of `src`, beside those of the rules, with expressions.
const OTHERS: [&str; 4] = ["context.rs", "facts/known.rs", "flow/sources.rs", "rules/shared.rs"];

/// The source of the programs of all expressions that have one. The others are compiled when they are used.
fn programs(expressions: &BTreeSet<String>) -> String {
    let mut programs = expression::assemble::Programs::default();
    for text in expressions {
        let expanded = fragments::expand(text).ok();
        if let Some(parsed) = expanded.and_then(|expanded| prefilter::source::parse(&expanded)) {
            // An expression that no program can express is compiled when it is used.
            let _ = programs.add(text, &parsed);
        }
    }
    programs.index.sort_unstable();
    format!(
        "/// The programs, one after the other.\nstatic WORDS: &[u16] = &{:?};\n\n\
         /// The sets that they refer to.\nstatic SETS: &[ByteSet] = &{:?};\n\n\
         /// The prefixes that they refer to.\nstatic PREFIXES: &[Prefix] = &{:?};\n\n\
         /// Hash of each pattern, ascending, and where its program begins.\n\
         static PROGRAMS: &[(u64, u32)] = &{:?};\n",
        programs.words, programs.sets, programs.prefixes, programs.index,
    )
}

/// The rules of a family.
fn rule_files(family: &Path, first: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(family).unwrap_or_else(|error| panic!("{}: {error}", family.display()));
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect();
    let rank = |file: &Path| first.iter().position(|first| *first == name(file)).unwrap_or(first.len());
    files.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| one.cmp(other)));
    files
}

/// The source of a module for each family, with a module for each rule, and of the list of all rules.
fn modules(families: &[(&str, Vec<PathBuf>)]) -> String {
    let mut out = String::new();
    for (family, files) in families {
        let _ = writeln!(out, "mod {family} {{");
        for (file, name) in files.iter().map(|file| (file, name(file))) {
            let _ = writeln!(out, "    #[path = {file:?}]\n    pub(super) mod {name};");
        }
        let _ = writeln!(out, "}}\n");
    }
    let _ = writeln!(out, "/// Every family, in the order of reports.");
    let _ = writeln!(out, "pub(crate) const FAMILIES: [&[Rule<'static>]; {}] = [", families.len());
    for (family, files) in families {
        let rules: Vec<String> = files.iter().map(|file| format!("{family}::{}::RULE", name(file))).collect();
        let _ = writeln!(out, "    &[{}],", rules.join(", "));
    }
    let _ = writeln!(out, "];");
    out
}

fn name(file: &Path) -> &str {
    file.file_stem().and_then(|name| name.to_str()).expect("rule files have plain names")
}
