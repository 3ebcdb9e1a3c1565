//! Files of sections with assignments: `.pypirc` and the credentials of AWS.

use crate::draft::{Draft, Spelling};
use crate::file::LoginFileError;
use crate::login::{Destination, Login};

/// A section and its assignments, in the order of the file.
struct Section<'a> {
    name: &'a str,
    values: Vec<(String, &'a str)>,
}

impl<'a> Section<'a> {
    fn get(&self, key: &str) -> Option<&'a str> {
        self.values.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }
}

/// Reads sections. Comments and continued lines are skipped.
fn sections(text: &str) -> Result<Vec<Section<'_>>, LoginFileError> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in text.lines() {
        let shown = line.trim();
        if shown.is_empty() || shown.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) =
            shown.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(name, _)| name.trim())
        {
            sections.push(Section { name, values: Vec::new() });
            continue;
        }
        let is_continued = line.starts_with(char::is_whitespace);
        let pair = shown
            .find(['=', ':'])
            .and_then(|at| Some((shown.get(..at)?.trim(), shown.get(at + 1..)?.trim())));
        match (sections.last_mut(), pair) {
            (Some(section), Some((key, value))) if !is_continued => {
                section.values.push((key.to_ascii_lowercase(), value));
            }
            (Some(section), _) if is_continued => section.values.push((String::new(), shown)),
            _ => return Err(LoginFileError::new("has a line outside of sections")),
        }
    }
    Ok(sections)
}

/// Where the indexes that twine knows by name receive packages.
const INDEXES: &[(&str, &str)] =
    &[("pypi", "https://upload.pypi.org/legacy/"), ("testpypi", "https://test.pypi.org/legacy/")];

pub(crate) fn pypirc(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    let mut names = Vec::new();
    for section in sections(text)?.iter().filter(|section| section.name != "distutils") {
        let known = INDEXES.iter().find(|row| row.0 == section.name).map(|row| row.1);
        let (Some(password), Some(url)) = (section.get("password"), section.get("repository").or(known))
        else {
            continue;
        };
        let Some(rest) = url.strip_prefix("https://").filter(|rest| !rest.contains('@')) else {
            draft.leave_out(section.name, "is not for https");
            continue;
        };
        let host = rest.split('/').next().unwrap_or_default();
        let login = Login::new(section.name, password, vec![Destination::new(host, "", "basic")]);
        let Some(number) = draft.take(login) else { continue };
        let mark = draft.mark(number, Spelling::Plain);
        let user = section.get("username").unwrap_or("__token__");
        draft.text.push_str(&format!(
            "[{}]\nrepository = {url}\nusername = {user}\npassword = {mark}\n\n",
            section.name
        ));
        names.push(section.name);
    }
    if !names.is_empty() {
        draft.text.push_str(&format!("[distutils]\nindex-servers =\n    {}\n", names.join("\n    ")));
    }
    Ok(())
}

pub(crate) fn aws(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    let mut sections = sections(text)?;
    // One key signs for all hosts, so the first profile is the one that counts.
    sections.sort_by_key(|section| section.name != "default");
    for section in &sections {
        let (Some(id), Some(key)) = (section.get("aws_access_key_id"), section.get("aws_secret_access_key"))
        else {
            continue;
        };
        if section.get("aws_session_token").is_some() {
            draft.leave_out(section.name, "has a session token, which every service would get");
            continue;
        }
        let to = vec![Destination::new("*.amazonaws.com", "", "sigv4")];
        let Some(number) = draft.take(Login::new(section.name, key, to)) else { continue };
        let mark = draft.mark(number, Spelling::Plain);
        draft.text.push_str(&format!(
            "[{}]\naws_access_key_id = {id}\naws_secret_access_key = {mark}\n",
            section.name
        ));
    }
    Ok(())
}
