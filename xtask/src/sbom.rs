//! `cargo xtask sbom [PACKAGE]`: what a program is made of, as a bill of materials in the format of CycloneDX 1.6.
//!
//! It lists the packages that are compiled in on the platform of this machine, from the lock file, with licence and checksum, and
//! which of them needs which. Equal sources give equal bills: there is no date and no number of its own.

use std::collections::{BTreeMap, BTreeSet};

use testkit::{Json, Stop, Workspace, no_more, quoted};

const USAGE: &str = "sbom [PACKAGE]";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let (package, rest) =
        arguments.split_first().map_or(("stockade-cli", arguments), |(name, rest)| (name.as_str(), rest));
    no_more(rest, USAGE)?;
    println!("{}", of(workspace, package)?);
    Ok(())
}

/// Returns the bill of materials of a package.
pub(crate) fn of(workspace: &Workspace, package: &str) -> Result<String, Stop> {
    let failed = |error: &dyn std::fmt::Display| Stop::failed(format!("cannot list the packages: {error}"));
    let host = crate::fuzz::host();
    let arguments = ["metadata", "--all-features", "--format-version", "1", "--filter-platform", &host];
    let metadata = workspace.cargo().args(arguments).read().map_err(|error| failed(&error))?;
    let metadata = Json::parse(&metadata).ok_or_else(|| failed(&"`cargo metadata` printed no JSON"))?;
    let lock = std::fs::read_to_string(workspace.root.join("Cargo.lock")).map_err(|error| failed(&error))?;
    bill(&metadata, &checksums(&lock), package)
        .ok_or_else(|| Stop::usage(format!("there is no package `{package}`; usage: cargo xtask {USAGE}")))
}

/// The checksums of the lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |entry: &str, key: &str| {
        let line = entry.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.map(|line| line.trim_end_matches('"').to_owned())
    };
    let entries = lock.split("[[package]]").skip(1);
    let checksum =
        |entry| Some(((value(entry, "name")?, value(entry, "version")?), value(entry, "checksum")?));
    entries.filter_map(checksum).collect()
}

fn bill(metadata: &Json, checksums: &BTreeMap<(String, String), String>, package: &str) -> Option<String> {
    let packages: BTreeMap<&str, &Json> =
        metadata.at("packages").items().iter().map(|one| (one.at("id").text(), one)).collect();
    let nodes: BTreeMap<&str, &Json> =
        metadata.at("resolve").at("nodes").items().iter().map(|one| (one.at("id").text(), one)).collect();
    let root = packages.iter().find(|(_, one)| one.at("name").text() == package).map(|(id, _)| *id)?;
    let needs = |id: &str| -> Vec<&str> {
        let all = nodes.get(id).map(|node| node.at("deps").items()).unwrap_or_default();
        let is_compiled_in =
            |one: &&Json| one.at("dep_kinds").items().iter().any(|kind| *kind.at("kind") == Json::Null);
        all.iter().filter(is_compiled_in).map(|one| one.at("pkg").text()).collect()
    };
    let (mut found, mut due) = (BTreeSet::new(), vec![root]);
    while let Some(id) = due.pop() {
        if found.insert(id) {
            due.extend(needs(id));
        }
    }
    let url = |id: &str| packages.get(id).map(|one| purl(one)).unwrap_or_default();
    let listed = |ids: &mut dyn Iterator<Item = String>| {
        let ids: BTreeSet<String> = ids.collect();
        ids.into_iter().collect::<Vec<_>>().join(",\n    ")
    };
    let component = |id: &str| component(packages.get(id)?, checksums).into();
    let components = listed(&mut found.iter().filter(|id| **id != root).filter_map(|id| component(id)));
    let dependencies = listed(&mut found.iter().map(|id| {
        let needs: BTreeSet<String> = needs(id).iter().map(|id| quoted(&url(id))).collect();
        let needs = needs.into_iter().collect::<Vec<_>>().join(", ");
        format!("{{\"ref\": {}, \"dependsOn\": [{needs}]}}", quoted(&url(id)))
    }));
    let root = component(root)?.replacen("library", "application", 1);
    Some(format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.6\",\n  \"version\": 1,\n  \"metadata\": {{\n    \"component\": \
         {root}\n  }},\n  \"components\": [\n    {components}\n  ],\n  \"dependencies\": [\n    {dependencies}\n  ]\n}}"
    ))
}

/// The address of a package as all registries are named: `pkg:cargo/NAME@VERSION`.
fn purl(package: &Json) -> String {
    format!("pkg:cargo/{}@{}", package.at("name").text(), package.at("version").text())
}

fn component(package: &Json, checksums: &BTreeMap<(String, String), String>) -> String {
    let (name, version) = (package.at("name").text(), package.at("version").text());
    let checksum = checksums.get(&(name.to_owned(), version.to_owned()));
    let hash = checksum
        .map(|sum| format!(", \"hashes\": [{{\"alg\": \"SHA-256\", \"content\": {}}}]", quoted(sum)))
        .unwrap_or_default();
    // Old packages write `/` for `OR`.
    let licence = package.at("license").text().replace('/', " OR ");
    let url = quoted(&purl(package));
    format!(
        "{{\"type\": \"library\", \"bom-ref\": {url}, \"name\": {}, \"version\": {}, \"purl\": {url}, \"licenses\": \
         [{{\"expression\": {}}}]{hash}}}",
        quoted(name),
        quoted(version),
        quoted(&licence),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_is_listed_and_nothing_else() {
        let package = |name: &str| {
            format!(r#"{{"id":"{name}-id","name":"{name}","version":"1.0.0","license":"MIT/Apache-2.0"}}"#)
        };
        let packages = ["program", "used", "below", "tested"].map(package).join(",");
        let metadata = format!(
            r#"{{"packages":[{packages}],"resolve":{{"nodes":[
                {{"id":"program-id","deps":[{{"pkg":"used-id","dep_kinds":[{{"kind":null}}]}},
                    {{"pkg":"tested-id","dep_kinds":[{{"kind":"dev"}}]}}]}},
                {{"id":"used-id","deps":[{{"pkg":"below-id","dep_kinds":[{{"kind":"build"}},{{"kind":null}}]}}]}}]}}}}"#
        );
        let lock = "[[package]]\nname = \"used\"\nversion = \"1.0.0\"\nchecksum = \"ab12\"\n";
        let metadata = Json::parse(&metadata).unwrap();
        let bill = Json::parse(&bill(&metadata, &checksums(lock), "program").unwrap()).unwrap();
        let names =
            |list: &Json| list.items().iter().map(|one| one.at("name").text().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(bill.at("components")), ["below", "used"]);
        let used = &bill.at("components").items()[1];
        assert_eq!(used.at("purl").text(), "pkg:cargo/used@1.0.0");
        assert_eq!(used.at("licenses").items()[0].at("expression").text(), "MIT OR Apache-2.0");
        assert_eq!(used.at("hashes").items()[0].at("content").text(), "ab12");
        let needs: Vec<_> =
            bill.at("dependencies").items().iter().map(|one| one.at("dependsOn").texts()).collect();
        assert_eq!(
            needs,
            [vec![], vec!["pkg:cargo/used@1.0.0".to_owned()], vec!["pkg:cargo/below@1.0.0".to_owned()]]
        );
        assert_eq!(bill.at("metadata").at("component").at("type").text(), "application");
        assert!(super::bill(&metadata, &BTreeMap::new(), "missing").is_none());
    }
}
