//! Directories of graph runs, by name.
#![expect(
    clippy::disallowed_methods,
    reason = "takes folders away, and keeps how long ago a client has left"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use stockade_guard::{GraphRun, Session};

use super::fault::{self, Fault};
use super::locks::lock;
use stockade_state::graph_runs;

/// Maximum number of graph runs of one client.
const MAX_OF_CLIENT: usize = 64;

/// Time in which a graph run can be continued after its client disconnected.
const GRACE: Duration = Duration::from_secs(60);

/// The current graph runs.
#[derive(Debug, Default)]
pub(super) struct Graphs(Mutex<BTreeMap<String, Entry>>);

#[derive(Debug)]
struct Entry {
    run: GraphRun,
    client: u64,
    left: Option<Instant>,
}

impl Graphs {
    /// Starts a graph run below a directory, which is created if missing. Returns its name, which cannot be guessed, and its
    /// directory.
    pub(super) fn begin(&self, base: Option<&PathBuf>, client: u64) -> Result<(String, PathBuf), Fault> {
        let base = base.ok_or_else(|| Fault::new(fault::INTERNAL, graph_runs::NO_BASE))?;
        let mut graphs = self.lock();
        graphs.retain(|_, entry| !entry.is_over());
        if graphs.values().filter(|entry| entry.client == client).count() >= MAX_OF_CLIENT {
            let message =
                format!("{MAX_OF_CLIENT} graph runs of this client are under way; end one with graph.end");
            return Err(Fault::new(fault::BUSY, message));
        }
        let run = graph_runs::begin(base).map_err(|error| Fault::internal(&error))?;
        let path = run.path().to_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        graphs.insert(name.clone(), Entry { run, client, left: None });
        Ok((name, path))
    }

    /// Makes the agent of a session a node of a graph run.
    pub(super) fn join(&self, name: &str, session: &mut Session) -> Result<(), Fault> {
        let mut graphs = self.lock();
        graphs.retain(|_, entry| !entry.is_over());
        session.join(&graphs.get(name).ok_or_else(no_graph)?.run);
        Ok(())
    }

    /// Ends a graph run, and deletes its directory.
    pub(super) fn end(&self, name: &str) -> Result<(), Fault> {
        let mut graphs = self.lock();
        graphs.get(name).ok_or_else(no_graph)?.run.remove().map_err(|error| Fault::internal(&error))?;
        // A run whose directory could not be deleted stays, so that it can be ended again.
        graphs.remove(name);
        Ok(())
    }

    /// A client has left. Its graph runs end with it, unless another connection continues them within the grace period.
    pub(super) fn left(&self, client: u64) {
        for entry in self.lock().values_mut().filter(|entry| entry.client == client) {
            entry.left = Some(Instant::now());
        }
    }

    /// The server ends.
    pub(super) fn end_all(&self) {
        for (_, entry) in std::mem::take(&mut *self.lock()) {
            entry.run.end().ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        lock(&self.0)
    }
}

impl Entry {
    /// Whether its client left and no other continued it in time. Then its directory is deleted.
    fn is_over(&self) -> bool {
        let is_over = self.left.is_some_and(|left| left.elapsed() >= GRACE);
        if is_over {
            // A directory that cannot be deleted now is no reason to keep the name.
            self.run.remove().ok();
        }
        is_over
    }
}

fn no_graph() -> Fault {
    Fault::parameters("unknown or ended graph run; start one with graph.begin")
}
