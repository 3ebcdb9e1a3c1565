//! `stockade mcp bridge`: connects to a remote server, in the sandbox of `stockade mcp wrap --url`. Internal.
#![expect(
    clippy::disallowed_methods,
    reason = "reads standard input and the environment of the sandbox, and writes standard output"
)]

use std::env;
use std::io;
use std::process::ExitCode;

use crate::failure::Failure;
use stockade_mcp::bridge::{self, Header};

#[derive(Debug, clap::Args)]
pub(super) struct BridgeArgs {
    /// URL of the server
    #[arg(value_name = "URL")]
    url: String,

    /// Header of each request
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
}

/// Runs the command.
pub(super) fn run(args: &BridgeArgs) -> ExitCode {
    let headers: Result<Vec<Header>, String> = args.headers.iter().map(|header| read(header)).collect();
    match headers.and_then(|headers| bridge::run(&args.url, headers, io::stdin().lock(), io::stdout())) {
        Ok(code) => code,
        Err(why) => Failure::incomplete(why).report().into(),
    }
}

/// Replaces the variables in a header.
fn read(header: &str) -> Result<Header, String> {
    let (name, value) = split(header).ok_or_else(|| format!("invalid header `{header}`"))?;
    let mut whole = String::new();
    for part in parts(value) {
        match part {
            Part::Text(text) => whole.push_str(text),
            Part::Variable(name) => {
                whole.push_str(&env::var(name).map_err(|_| format!("variable `{name}` is not set"))?);
            }
        }
    }
    Ok((name.to_owned(), whole))
}

/// Splits a header into its name and value.
pub(super) fn split(header: &str) -> Option<(&str, &str)> {
    let (name, value) = header.split_once(':')?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_header = !name.is_empty()
        && name.bytes().all(is_token)
        && value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    is_header.then(|| (name, value.trim()))
}

/// A part of a header's value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'v> {
    Text(&'v str),
    /// A variable, which is replaced by its value.
    Variable(&'v str),
}

/// Splits a value into text and variables: `$NAME` is a variable.
pub(super) fn parts(value: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once('$') {
        let length = behind.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (name, after) = behind.split_at(length);
        found.push(Part::Text(before));
        found.push(if name.is_empty() { Part::Text("$") } else { Part::Variable(name) });
        rest = after;
    }
    found.push(Part::Text(rest));
    found.retain(|part| *part != Part::Text(""));
    found
}
