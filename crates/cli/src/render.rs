//! Formatting of results as text, HTML and formats of other programs.

pub(crate) mod audit_text;
pub(crate) mod check_text;
pub(crate) mod command_text;
pub(crate) mod config_text;
pub(crate) mod container_text;
pub(crate) mod facts_text;
pub(crate) mod html;
pub(crate) mod limits_text;
pub(crate) mod records_html;
pub(crate) mod rule_text;
pub(crate) mod sanitize_text;
pub(crate) mod scan_html;
pub(crate) mod scan_junit;
pub(crate) mod scan_lines;
pub(crate) mod scan_sarif;
pub(crate) mod scan_text;
pub(crate) mod skill_text;
pub(crate) mod snippet;
pub(crate) mod style;
mod told;
