//! A glob, taken apart.

use super::brackets::{self, Class};
use super::error::{GlobErrorKind, syntax};
use crate::paths::fold;

/// The most braces that may stand within each other.
const MAX_BRACE_DEPTH: usize = 16;

/// A part of a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A character that matches itself.
    Literal(char),
    /// `?`: one character, whichever it is.
    One,
    /// `*`: any characters of one name.
    Star,
    /// `[…]`: one character of some.
    Class(Class),
    /// `**` at the end: everything.
    Deep,
    /// `**/`: any folders, or none.
    DeepSlash,
    /// `{…,…}`: one of these alternatives.
    Choice(Vec<Vec<Token>>),
}

/// Takes a glob apart.
pub(super) fn parse(glob: &str) -> Result<Vec<Token>, GlobErrorKind> {
    let mut parser = Parser { rest: glob.chars() };
    let tokens = parser.sequence(true, 0)?;
    if !glob.starts_with('/') && begins_with_slash(&tokens) {
        return Err(syntax("a choice of absolute paths; write the slash before the brace, as in `/{a,b}`"));
    }
    Ok(tokens)
}

/// Makes a glob match also what it only matches the inside of: `x/**` becomes `x`.
pub(super) fn cover_the_folder_itself(tokens: &mut Vec<Token>) {
    if let Some(Token::Choice(branches)) = tokens.last_mut() {
        branches.iter_mut().for_each(cover_the_folder_itself);
        return;
    }
    let is_deep = |token: &Token| matches!(token, Token::Deep | Token::DeepSlash);
    let kept = tokens.iter().rposition(|token| !is_deep(token));
    if let Some(slash) = kept
        && slash + 1 < tokens.len()
        && tokens.get(slash) == Some(&Token::Literal('/'))
    {
        tokens.truncate(slash);
    }
}

/// Whether a glob counts characters, so that its match changes when one becomes two, or none.
pub(super) fn counts_characters(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::One | Token::Class(_) => true,
        Token::Choice(branches) => branches.iter().any(|branch| counts_characters(branch)),
        Token::Literal(_) | Token::Star | Token::Deep | Token::DeepSlash => false,
    })
}

/// Returns the glob with the marks on each letter in their normal order, if they are in another.
pub(super) fn with_marks_in_order(tokens: &[Token]) -> Option<Vec<Token>> {
    let is_literal = |token: &Token| matches!(token, Token::Literal(_));
    let mut changed = false;
    let mut ordered = Vec::with_capacity(tokens.len());
    for run in tokens.chunk_by(|one, next| is_literal(one) && is_literal(next)) {
        let text: String = run.iter().filter_map(Token::literal).collect();
        if let [Token::Choice(branches)] = run {
            let in_order: Vec<_> = branches.iter().map(|branch| with_marks_in_order(branch)).collect();
            changed |= in_order.iter().any(Option::is_some);
            let branches = in_order.into_iter().zip(branches);
            let branches = branches.map(|(ordered, branch)| ordered.unwrap_or_else(|| branch.clone()));
            ordered.push(Token::Choice(branches.collect()));
        } else if let Some(text) = fold::in_order(&text) {
            changed = true;
            ordered.extend(text.chars().map(Token::Literal));
        } else {
            ordered.extend_from_slice(run);
        }
    }
    changed.then_some(ordered)
}

impl Token {
    fn literal(&self) -> Option<char> {
        if let Self::Literal(literal) = self { Some(*literal) } else { None }
    }
}

struct Parser<'g> {
    rest: std::str::Chars<'g>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    /// Reads up to the end, or in braces to the next `,` or `}`. `at_border` says whether a name begins here.
    fn sequence(&mut self, at_border: bool, depth: usize) -> Result<Vec<Token>, GlobErrorKind> {
        let mut tokens = Vec::new();
        while let Some(next) = self.peek() {
            if depth > 0 && matches!(next, ',' | '}') {
                break;
            }
            self.rest.next();
            if next == '/' {
                push_slash(&mut tokens);
                continue;
            }
            let token = self.token(next, ends_at_border(&tokens, at_border), depth)?;
            keep_within_a_name(&mut tokens);
            tokens.push(token);
        }
        Ok(tokens)
    }

    fn token(&mut self, first: char, at_border: bool, depth: usize) -> Result<Token, GlobErrorKind> {
        Ok(match first {
            '?' => Token::One,
            '*' => self.stars(at_border),
            '[' => Token::Class(brackets::parse(&mut self.rest)?),
            '{' => self.choice(at_border, depth + 1)?,
            '}' => return Err(syntax("`}` closes no `{`; a literal one is written `\\}`")),
            '\\' => match self.rest.next() {
                Some(literal) => Token::Literal(literal),
                None => return Err(syntax("nothing follows the last `\\`; a literal one is written `\\\\`")),
            },
            literal => Token::Literal(literal),
        })
    }

    /// Two stars cross folders only where they are a whole name; what follows is seen to by [`keep_within_a_name`].
    fn stars(&mut self, at_border: bool) -> Token {
        let mut stars = 1;
        while self.peek() == Some('*') {
            self.rest.next();
            stars += 1;
        }
        if stars == 2 && at_border { Token::Deep } else { Token::Star }
    }

    fn choice(&mut self, at_border: bool, depth: usize) -> Result<Token, GlobErrorKind> {
        if depth > MAX_BRACE_DEPTH {
            return Err(syntax("braces within braces, too deep"));
        }
        let mut branches = Vec::new();
        loop {
            branches.push(self.sequence(at_border, depth)?);
            match self.rest.next() {
                Some(',') => {}
                Some(_) => return Ok(Token::Choice(branches)),
                None => return Err(syntax("`{` is never closed; a literal one is written `\\{`")),
            }
        }
    }
}

/// Adds a slash; into every branch of a choice that it follows, so that `{**,a}/b` is `**/b` or `a/b`.
fn push_slash(tokens: &mut Vec<Token>) {
    match tokens.last_mut() {
        Some(deep @ Token::Deep) => *deep = Token::DeepSlash,
        Some(Token::Choice(branches)) => branches.iter_mut().for_each(push_slash),
        Some(Token::DeepSlash | Token::Literal('/')) => {}
        _ => tokens.push(Token::Literal('/')),
    }
}

/// Two stars that something other than a slash follows are no whole name.
fn keep_within_a_name(tokens: &mut [Token]) {
    match tokens.last_mut() {
        Some(deep @ Token::Deep) => *deep = Token::Star,
        Some(Token::Choice(branches)) => branches.iter_mut().for_each(|branch| keep_within_a_name(branch)),
        _ => {}
    }
}

/// Whether a name begins after these parts.
fn ends_at_border(tokens: &[Token], at_border: bool) -> bool {
    match tokens.split_last() {
        None => at_border,
        Some((Token::DeepSlash | Token::Literal('/'), _)) => true,
        Some((Token::Choice(branches), before)) => {
            let before = ends_at_border(before, at_border);
            branches.iter().all(|branch| ends_at_border(branch, before))
        }
        Some(_) => false,
    }
}

fn begins_with_slash(tokens: &[Token]) -> bool {
    match tokens.first() {
        Some(Token::Literal('/')) => true,
        Some(Token::Choice(branches)) => branches.iter().any(|branch| begins_with_slash(branch)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the parts so that a table can show them: `>` is [`Token::Deep`], `~` is [`Token::DeepSlash`].
    fn shown(tokens: &[Token]) -> String {
        tokens
            .iter()
            .map(|token| match token {
                Token::Literal(literal) => literal.to_string(),
                Token::One => "?".to_owned(),
                Token::Star => "*".to_owned(),
                Token::Class(_) => "[]".to_owned(),
                Token::Deep => ">".to_owned(),
                Token::DeepSlash => "~".to_owned(),
                Token::Choice(branches) => {
                    format!("({})", branches.iter().map(|branch| shown(branch)).collect::<Vec<_>>().join("|"))
                }
            })
            .collect()
    }

    #[test]
    fn stars_cross_folders_only_as_a_whole_name() {
        for (glob, expected, covering) in [
            ("**", ">", ">"),
            ("**/a", "~a", "~a"),
            ("a/**", "a/>", "a"),
            ("a/**/**", "a/~>", "a"),
            ("a/**/b", "a/~b", "a/~b"),
            ("**a", "*a", "*a"),
            ("a**", "a*", "a*"),
            ("a/***", "a/*", "a/*"),
            ("a**/b", "a*/b", "a*/b"),
            ("{**,a}/b", "(~|a/)b", "(~|a/)b"),
            ("{**,a}b", "(*|a)b", "(*|a)b"),
            ("{a,b}/**", "(a/|b/)>", "(a/|b/)>"),
            ("{a/**,b}", "(a/>|b)", "(a|b)"),
            ("x{**,a}", "x(*|a)", "x(*|a)"),
            ("x/{**,a/}", "x/(>|a/)", "x/(>|a/)"),
            ("{a/,b/}**/c", "(a/|b/)~c", "(a/|b/)~c"),
            ("{{**,a},b}/c", "((~|a/)|b/)c", "((~|a/)|b/)c"),
            ("\\*\\*", "**", "**"),
        ] {
            let mut tokens = parse(glob).unwrap();
            assert_eq!(shown(&tokens), expected, "{glob}");
            cover_the_folder_itself(&mut tokens);
            assert_eq!(shown(&tokens), covering, "{glob}");
        }
    }

    #[test]
    fn what_is_no_glob_is_refused() {
        let nested = "{".repeat(MAX_BRACE_DEPTH + 1) + &"}".repeat(MAX_BRACE_DEPTH + 1);
        for glob in ["{a", "a}", "a\\", "{/a,b}/c", "{,a}/b", "{a,[b}", &nested, &"{".repeat(4096)] {
            assert!(matches!(parse(glob), Err(GlobErrorKind::Syntax(_))), "{glob}");
        }
        assert!(parse(&("{".repeat(MAX_BRACE_DEPTH) + &"}".repeat(MAX_BRACE_DEPTH))).is_ok());
    }
}
