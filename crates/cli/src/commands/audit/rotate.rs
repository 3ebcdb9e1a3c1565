//! `stockade audit rotate`: renames a trail and starts a new one, even if the old one is damaged.
#![expect(clippy::disallowed_methods, reason = "reads the clock for the name of the old trail")]

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use stockade_guard::audit::{AuditTrail, Timestamp};
use stockade_text::{escape, escape_path};

use super::{finish, unreadable};
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::audit_text;
use stockade_state::trail;
use stockade_text::to_printable_json;

/// Result of a rotation, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SetAside {
    file: String,
    last: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
}

pub(super) fn rotate(path: &Path, to: Option<&Path>, format: Format) -> Result<Exit, Failure> {
    let to = to.map_or_else(|| named_after_now(path), Path::to_path_buf);
    let rotated = AuditTrail::rotate(path, trail::options(None), &to).map_err(|error| unreadable(&error))?;
    let to = &rotated.to;
    let last = audit_text::head(&rotated.before);
    let printed = match format {
        Format::Json => {
            let file = to.to_string_lossy().into_owned();
            format!("{}\n", to_printable_json(&SetAside { file, last, wrong: rotated.wrong }))
        }
        Format::Text => {
            let wrong = rotated
                .wrong
                .map(|wrong| format!("warning: the old trail was changed: {}\n", escape(&wrong)));
            format!(
                "moved to {}, whose last record is {last}\n{}",
                escape_path(to),
                wrong.unwrap_or_default()
            )
        }
    };
    finish(&printed, Exit::Clean)
}

/// Inserts the time into the name of the trail. The extension stays, since it selects the format.
fn named_after_now(path: &Path) -> PathBuf {
    let now = Timestamp::from(SystemTime::now()).to_string();
    let now: String = now.chars().filter(char::is_ascii_alphanumeric).collect();
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    path.with_extension(if ending.is_empty() { now } else { format!("{now}.{ending}") })
}
