//! `stockade backends`: lists sandbox backends, and tests each by running a command in it.
#![expect(clippy::disallowed_methods, reason = "reads the current directory")]

mod components;
mod known_faults;
mod test;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde::Serialize;
use stockade_guard::exec::backends::{
    ContainerRequest, Engine, ListedBackend, Probed, Selection, engine_runtimes, external_backends,
};
use stockade_guard::exec::{Enforcement, Property, SandboxBackend, SandboxSpec, backends};
use stockade_text::escape;

use components::{BackendComponent, backend_components, program_component};
use known_faults::KnownFault;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::style::{ColorChoice, Styles};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade backends                          list the backends, what each enforces, and known faults of their versions
  stockade backends --image NAME@sha256:…    include containers of this image
  stockade backends --clean                  remove containers and files of killed runs
  stockade backends test mine                test the backend program stockade-backend-mine";

const EXIT_CODES: &str = "\
Exit codes:
  0  at least one auto-selected backend works
  1  none works";

/// Container runtimes with a kernel or virtual machine of their own, which are looked up.
const RUNTIMES: [&str; 2] = ["runsc", "kata-runtime"];

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES, args_conflicts_with_subcommands = true)]
pub(crate) struct BackendsArgs {
    #[command(subcommand)]
    action: Option<Action>,

    /// Image to test containers with [default: only check that the engine responds]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,

    /// Container runtime instead of the engine's default, such as runsc
    #[arg(long, value_name = "NAME", requires = "image")]
    runtime: Option<String>,

    /// Option for the backend; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::exec::option)]
    backend_option: Vec<(String, String)>,

    /// Remove leftovers of killed runs, such as containers, and report their number
    #[arg(long)]
    clean: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Run the conformance tests of a backend
    Test(test::TestArgs),
}

/// A backend, as it is printed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    name: String,
    what: String,
    works: bool,
    by_name_only: bool,
    priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    holds: Vec<EnforcedProperty>,
    gaps: Vec<EnforcedProperty>,
    /// Runtimes other than the engine's default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runtimes: Vec<&'static str>,
    /// The programs and the kernel that it consists of.
    components: Vec<Component>,
}

/// A program, or the kernel.
#[derive(Debug, Serialize)]
struct Component {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The published faults of this version.
    faults: Vec<Fault>,
}

/// A published fault of a version, as it is printed.
#[derive(Debug, Serialize)]
struct Fault {
    id: &'static str,
    what: &'static str,
}

/// A property, with how it is enforced or why it is not.
#[derive(Debug, Serialize)]
struct EnforcedProperty {
    property: &'static str,
    by: &'static str,
}

#[derive(Serialize)]
struct Report<'r> {
    backends: &'r [Row],
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<usize>,
}

/// Runs the command.
pub(crate) fn run(args: &BackendsArgs, color: ColorChoice) -> Result<Exit, Failure> {
    if let Some(Action::Test(args)) = &args.action {
        return test::run(args, color);
    }
    let registry = backends();
    let here = std::env::current_dir()
        .map_err(|error| Failure::incomplete(format_args!("cannot read the current directory: {error}")))?;
    let mut spec = SandboxSpec::new(here, ["true"]);
    spec.container = ContainerRequest {
        image: args.image.clone(),
        runtime: args.runtime.clone(),
        ..ContainerRequest::default()
    };
    spec.backend_options = args.backend_option.iter().cloned().collect();
    for name in external_backends() {
        registry.find(name, &spec);
    }
    let removed = args.clean.then(|| registry.cleanup(&spec));
    let listed = registry.list(&spec).into_iter();
    let rows: Vec<Row> = listed.map(|one| row(&one, one.probed.clone())).chain([openshell()]).collect();
    let is_served = rows.iter().any(|row| row.works && !row.by_name_only);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&match args.format {
        Format::Json => format!("{}\n", to_printable_json(&Report { backends: &rows, removed })),
        Format::Text => text(&rows, removed, styles(color)),
    });
    output.finish(if is_served { Exit::Clean } else { Exit::Found })
}

fn row(listed: &ListedBackend, probed: Probed) -> Row {
    let backend = SandboxBackend::from_name(&listed.name).unwrap_or_default();
    let runtimes = Engine::of(backend).map(|engine| engine_runtimes(engine, &RUNTIMES));
    let mut row = Row {
        what: listed.about.clone(),
        works: false,
        by_name_only: listed.selection == Selection::ByNameOnly,
        priority: listed.priority,
        why: None,
        fix: None,
        holds: Vec::new(),
        gaps: Vec::new(),
        runtimes: runtimes.and_then(Result::ok).unwrap_or_default(),
        name: listed.name.clone(),
        components: components(backend_components(backend)),
    };
    match probed {
        Probed::Works(Enforcement { enforced, gaps, .. }) => {
            row.works = true;
            row.holds = enforced.iter().map(|(property, by)| enforced_property(*property, by)).collect();
            row.gaps = gaps.iter().map(|gap| enforced_property(gap.property, gap.why)).collect();
        }
        Probed::Not { why, fix } => (row.why, row.fix) = (Some(why), Some(fix)),
    }
    row
}

/// OpenShell is no backend of a registry: it runs agents, and a plan becomes a policy that it enforces.
fn openshell() -> Row {
    const NAME: &str = "openshell";
    let found = program_component(NAME);
    let (why, fix) = match found {
        Some(_) => (
            "stockade starts no command in it, but writes policies for it",
            "write one: `stockade exec --dry-run --as openshell -- COMMAND`",
        ),
        None => ("the program `openshell` is not installed", "install NVIDIA OpenShell"),
    };
    Row {
        name: NAME.to_owned(),
        what: "NVIDIA OpenShell, by a policy that you pass to it".to_owned(),
        works: false,
        by_name_only: true,
        priority: 0,
        why: Some(why.to_owned()),
        fix: Some(fix.to_owned()),
        holds: Vec::new(),
        gaps: Vec::new(),
        runtimes: Vec::new(),
        components: components(found.into_iter().collect()),
    }
}

fn components(found: Vec<BackendComponent>) -> Vec<Component> {
    let fault = |fault: &&'static KnownFault| Fault { id: fault.id, what: fault.what };
    let row = |found: BackendComponent| Component {
        faults: found.faults.iter().map(fault).collect(),
        name: found.name,
        version: found.version,
    };
    found.into_iter().map(row).collect()
}

fn enforced_property(property: Property, by: &'static str) -> EnforcedProperty {
    EnforcedProperty { property: property.name(), by }
}

fn text(rows: &[Row], removed: Option<usize>, styles: Styles) -> String {
    let Styles { good, warn, reset, .. } = styles;
    let mut out = String::new();
    for row in rows {
        let (color, word) = if row.works { (good, "works") } else { (warn, "no   ") };
        writeln!(out, "{color}{word}{reset}  {:9} {}", row.name, row.what).ok();
        if let (Some(why), Some(fix)) = (&row.why, &row.fix) {
            writeln!(out, "                 {}", escape(why)).ok();
            writeln!(out, "                 fix: {}", escape(fix)).ok();
        }
        if row.works {
            let names: Vec<&str> = row.holds.iter().map(|held| held.property).collect();
            writeln!(out, "                 holds: {}", names.join(", ")).ok();
        }
        for gap in &row.gaps {
            writeln!(out, "                 not or partly enforced: {} ({})", gap.property, gap.by).ok();
        }
        if !row.components.is_empty() {
            let version = |one: &Component| {
                format!("{} {}", one.name, one.version.as_deref().unwrap_or("(version unknown)"))
            };
            let versions: Vec<String> = row.components.iter().map(version).collect();
            writeln!(out, "                 versions: {}", escape(&versions.join(", "))).ok();
        }
        for (component, fault) in
            row.components.iter().flat_map(|it| it.faults.iter().map(move |one| (it, one)))
        {
            let name = escape(&component.name);
            writeln!(out, "                 {warn}fault{reset} of {name}: {}: {}", fault.id, fault.what).ok();
        }
        if !row.runtimes.is_empty() {
            writeln!(out, "                 runtimes: {} (--runtime)", row.runtimes.join(", ")).ok();
        }
    }
    if let Some(removed) = removed {
        writeln!(out, "removed {removed} leftovers of killed runs").ok();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_what_is_enforced_or_the_fix() {
        let mut works = Enforcement::default();
        works.enforced.push((Property::Files, "a view"));
        let listed = |name: &str, probed| {
            let registry = backends();
            let mut spec = SandboxSpec::new("/no/such", ["true"]);
            spec.container.image = Some("--odd".to_owned());
            let found = registry.list(&spec).into_iter().find(|one| one.name == name).unwrap();
            row(&found, probed)
        };
        let why = Probed::Not { why: "odd\u{1b}[2J".to_owned(), fix: "mend it".to_owned() };
        let mut rows = [listed("native", Probed::Works(works)), listed("landlock", why)];
        assert!(rows.iter().all(|row| row.components.iter().any(|one| one.name == "linux")));
        let faults = vec![Fault { id: "CVE-1", what: "reads all" }];
        let version = Some("1.2".to_owned());
        rows[0].components = vec![Component { name: "linux".to_owned(), version, faults }];
        rows[1].components.clear();
        assert_eq!(
            text(&rows, Some(2), Styles::PLAIN),
            "works  native    Namespaces, a seccomp filter and Landlock; nothing to install\n\
             \u{20}                holds: files\n\
             \u{20}                versions: linux 1.2\n\
             \u{20}                fault of linux: CVE-1: reads all\n\
             no     landlock  Landlock and a seccomp filter, where namespaces are forbidden\n\
             \u{20}                odd\\u{1b}[2J\n\
             \u{20}                fix: mend it\n\
             removed 2 leftovers of killed runs\n",
        );
    }
}
