//! Whether a server is the one that was used before.
//!
//! A server that was emptied, or another one at the same address, looks like one of which nothing was used. So each has a mark, a random name in a
//! key of its own, and a client remembers the mark that it saw: while it runs, and in a file across its runs.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use redis::{Connection, RedisError};
use stockade_files::KeptFile;
use stockade_limits::store::StoreError;

use super::{Forgetting, RedisOptions, unavailable};

/// What one client knows of the mark of its server.
#[derive(Debug, Default)]
pub(super) struct Mark {
    seen: Mutex<Option<String>>,
}

const DOING: &str = "asking the server whether it is the one that was used before";

/// The most bytes of the file of marks: hundreds of servers.
const MAX_BYTES: u64 = 64 << 10;

/// The key of the mark.
pub(super) fn key(options: &RedisOptions) -> String {
    format!("{}mark", options.prefix)
}

impl Mark {
    /// Returns what the server must have in the key of its mark; an empty text where anything will do.
    pub(super) fn expected(&self) -> String {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// Compares the mark of a server with the one that is known, and gives a new server one.
    pub(super) fn check(
        &self,
        connection: &mut Connection,
        options: &RedisOptions,
    ) -> Result<(), StoreError> {
        if options.forgetting == Forgetting::Accepted {
            return Ok(());
        }
        let remembered = remembered(options)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.clone().or_else(|| remembered.clone());
        let found = match (read(connection, options), &known) {
            (Err(error), _) => return Err(unavailable(DOING, error)),
            (Ok(Some(found)), Some(known)) if found != *known => return Err(emptied(options)),
            (Ok(Some(found)), _) => found,
            (Ok(None), Some(_)) => return Err(emptied(options)),
            (Ok(None), None) => give(connection, options).map_err(|error| unavailable(DOING, error))?,
        };
        if remembered.as_ref() != Some(&found) {
            remember(options, &found)?;
        }
        *seen = Some(found);
        Ok(())
    }
}

fn read(connection: &mut Connection, options: &RedisOptions) -> Result<Option<String>, RedisError> {
    redis::cmd("GET").arg(key(options)).query(connection)
}

/// Gives a server a mark. Of two clients at once, the first decides.
fn give(connection: &mut Connection, options: &RedisOptions) -> Result<String, RedisError> {
    let random = || RandomState::new().build_hasher().finish();
    let new = format!("{:016x}{:016x}", random(), random());
    let () = redis::cmd("SETNX").arg(key(options)).arg(&new).query(connection)?;
    Ok(read(connection, options)?.unwrap_or(new))
}

/// The refusal of a server that lost what was used.
pub(super) fn emptied(options: &RedisOptions) -> StoreError {
    let again = options.marks.as_ref().map_or_else(
        || "start the program anew".to_owned(),
        |marks| format!("delete its line in {}", marks.display()),
    );
    let why = format!(
        "it was emptied or replaced, so what agents used is lost; to begin with nothing used, {again}"
    );
    StoreError::Unavailable { doing: DOING, source: why.into() }
}

/// Where a server is, without its password.
fn place(options: &RedisOptions) -> String {
    let (scheme, rest) = options.url.split_once("://").unwrap_or(("", &options.url));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{host} {}", options.prefix).replace(['\n', '\t'], " ")
}

/// Returns the mark of the server in the file of marks. A line is a mark, a tab and the place.
fn remembered(options: &RedisOptions) -> Result<Option<String>, StoreError> {
    let Some(file) = file(options) else { return Ok(None) };
    let text = file.read().map_err(failed)?.unwrap_or_default();
    let place = place(options);
    let of_server = text.lines().filter_map(|line| line.split_once('\t')).find(|(_, at)| *at == place);
    Ok(of_server.map(|(mark, _)| mark.to_owned()))
}

fn remember(options: &RedisOptions, mark: &str) -> Result<(), StoreError> {
    let Some(file) = file(options) else { return Ok(()) };
    let place = place(options);
    let add = |text: Option<&str>| {
        let others = text.unwrap_or_default().lines().filter(|line| !line.ends_with(&format!("\t{place}")));
        let mut kept: String = others.flat_map(|line| [line, "\n"]).collect();
        kept.push_str(&format!("{mark}\t{place}\n"));
        Ok::<_, std::convert::Infallible>((Some(kept), ()))
    };
    file.change(add).map_err(failed)?.unwrap_or_else(|never| match never {});
    Ok(())
}

fn file(options: &RedisOptions) -> Option<KeptFile> {
    let path: &PathBuf = options.marks.as_ref()?;
    Some(KeptFile::new(path, MAX_BYTES).private().locked_by_folder())
}

fn failed(error: stockade_files::KeptFileError) -> StoreError {
    StoreError::Unavailable { doing: DOING, source: error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_remembered_without_passwords() {
        let folder = tempfile::tempdir().unwrap();
        let options = |url: &str| RedisOptions {
            url: url.to_owned(),
            marks: Some(folder.path().join("marks")),
            ..RedisOptions::default()
        };
        let (one, other) = (options("redis://me:hunter2@one:1/0"), options("redis://two"));
        assert_eq!(remembered(&one).unwrap(), None);
        remember(&one, "m1").unwrap();
        remember(&other, "m2").unwrap();
        remember(&one, "m3").unwrap();
        assert_eq!(remembered(&one).unwrap().as_deref(), Some("m3"));
        assert_eq!(remembered(&options("redis://other:password@one:1/0")).unwrap().as_deref(), Some("m3"));
        assert_eq!(remembered(&other).unwrap().as_deref(), Some("m2"));
        let text = file(&one).unwrap().read().unwrap().unwrap();
        assert!(!text.contains("hunter2") && text.lines().count() == 2, "{text}");
    }
}
