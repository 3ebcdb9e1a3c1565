//! `stockade audit rotate`: sets a trail aside, whole or not.
#![expect(clippy::disallowed_methods, reason = "names the trail that is set aside after the time")]

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

/// What became of the trail, for programs.
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
    let last = audit_text::head(&rotated.before);
    let printed = match format {
        Format::Json => {
            let file = to.to_string_lossy().into_owned();
            format!("{}\n", to_printable_json(&SetAside { file, last, wrong: rotated.wrong }))
        }
        Format::Text => {
            let wrong =
                rotated.wrong.map(|wrong| format!("it was not as it was written: {}\n", escape(&wrong)));
            format!(
                "set aside as {}, which ended with {last}\n{}",
                escape_path(&to),
                wrong.unwrap_or_default()
            )
        }
    };
    finish(&printed, Exit::Clean)
}

/// The name of the trail, with the time before its ending: by that, it is known what kind of trail it is.
fn named_after_now(path: &Path) -> PathBuf {
    let now = Timestamp::from(SystemTime::now()).to_string();
    let now: String = now.chars().filter(char::is_ascii_alphanumeric).collect();
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    path.with_extension(if ending.is_empty() { now } else { format!("{now}.{ending}") })
}
