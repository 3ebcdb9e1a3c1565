//! The part of CSS by which text is hidden.

use std::collections::HashSet;

/// Classes, ids and elements that the style sheets of a page hide.
#[derive(Debug, Default)]
pub(super) struct Stylesheet {
    /// `.class`, `#id` or `element`, in lower case.
    hidden: HashSet<String>,
}

impl Stylesheet {
    /// Adds the rules of a `<style>` element.
    ///
    /// Only the last part of a selector counts (`.x` of `main > p .x`): that may hide more than the page does, not less.
    pub(super) fn add(&mut self, css: &str) {
        let css = plain(css);
        let mut rest = css.as_str();
        while let Some((prelude, after)) = rest.split_once('{') {
            let prelude = prelude.rsplit(['}', ';']).next().unwrap_or_default().trim();
            if let Some(rule) = prelude.strip_prefix('@') {
                rest = if is_for_another_medium(rule) { after_block(after) } else { after };
                continue;
            }
            let (declarations, after) = after.split_once('}').unwrap_or((after, ""));
            if hides(declarations) && !is_animated(declarations) {
                self.hidden.extend(prelude.split(',').filter_map(last_simple_selector));
            }
            rest = after;
        }
    }

    /// Returns whether an element is hidden for its name, its id or one of its classes.
    pub(super) fn hides(&self, name: &str, id: &str, classes: &str) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let has = |selector: String| self.hidden.contains(&selector);
        has(name.to_owned())
            || has(format!("#{}", id.to_ascii_lowercase()))
            || classes.split_ascii_whitespace().any(|class| has(format!(".{}", class.to_ascii_lowercase())))
    }
}

/// Returns whether a list of declarations makes an element invisible.
pub(super) fn hides(declarations: &str) -> bool {
    let declarations = plain(declarations);
    let facts = Facts::of(&declarations);
    facts.hides || (facts.is_clipped && facts.is_empty) || facts.text_has_color_of_background()
}

/// What a list of declarations says about visibility.
#[derive(Default)]
struct Facts<'d> {
    hides: bool,
    is_clipped: bool,
    is_empty: bool,
    color: Option<&'d str>,
    background: Option<&'d str>,
}

impl<'d> Facts<'d> {
    fn of(declarations: &'d str) -> Self {
        let mut facts = Self::default();
        for (property, value) in declarations.split(';').filter_map(|one| one.split_once(':')) {
            let value = value.split('!').next().unwrap_or_default().trim();
            facts.add(property.trim(), value);
        }
        facts
    }

    fn add(&mut self, property: &str, value: &'d str) {
        match property {
            "display" => self.hides |= value == "none",
            "visibility" | "content-visibility" => self.hides |= matches!(value, "hidden" | "collapse"),
            "opacity" => self.hides |= number(value).is_some_and(|opacity| opacity < 0.05),
            "filter" => self.hides |= value.starts_with("opacity(0"),
            "font-size" | "font" | "zoom" => self.hides |= is_tiny(value),
            "text-indent" | "left" | "top" | "right" | "bottom" | "margin-left" | "margin-top" | "inset" => {
                self.hides |= is_far_away(value);
            }
            "transform" | "scale" => self.hides |= value.starts_with("scale(0)") || is_far_translation(value),
            "clip" => self.hides |= value.starts_with("rect("),
            "clip-path" => {
                self.hides |= ["inset(50%", "inset(100%", "circle(0", "polygon(0 0,0 0"]
                    .iter()
                    .any(|c| value.starts_with(c));
            }
            "width" | "height" | "max-width" | "max-height" => {
                self.is_empty |= number(value).is_some_and(|size| size <= 1.0) && !value.ends_with('%');
            }
            "overflow" | "overflow-x" | "overflow-y" => self.is_clipped |= matches!(value, "hidden" | "clip"),
            "color" | "-webkit-text-fill-color" => {
                self.hides |= is_transparent(value);
                self.color = Some(value);
            }
            "background" | "background-color" => self.background = Some(value),
            _ => {}
        }
    }

    fn text_has_color_of_background(&self) -> bool {
        matches!((self.color, self.background), (Some(color), Some(background)) if same_color(color, background))
    }
}

/// Returns CSS in lower case, without comments, with escapes resolved and white space as single spaces.
fn plain(css: &str) -> String {
    let mut text = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        text.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let text = if text.contains('\\') { unescaped(&text) } else { text };
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    words.join(" ").to_ascii_lowercase().replace("( ", "(").replace(", ", ",")
}

/// Resolves `\6e` and `\n`: up to six hexadecimal digits and one space, or any other character as itself.
fn unescaped(css: &str) -> String {
    let mut text = String::with_capacity(css.len());
    let mut characters = css.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let mut code = None;
        for _ in 0..6 {
            let Some(digit) = characters.peek().and_then(|c| c.to_digit(16)) else { break };
            code = Some(code.unwrap_or(0) * 16 + digit);
            characters.next();
        }
        match code {
            Some(code) => {
                text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                characters.next_if(char::is_ascii_whitespace);
            }
            None => text.extend(characters.next()),
        }
    }
    text
}

fn number(value: &str) -> Option<f64> {
    let end = value.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(value.len());
    let number = value.get(..end)?.parse::<f64>().ok()?;
    Some(if value.get(end..)?.starts_with('%') { number / 100.0 } else { number })
}

/// A size below two pixels, or a fifth of the size around it. In the `font` shorthand the size is one word of several.
fn is_tiny(value: &str) -> bool {
    value.split([' ', '/']).take(1).chain(value.split(' ').filter(|word| word.ends_with("px"))).any(|word| {
        number(word).is_some_and(|size| {
            if word.ends_with("em") || word.ends_with('%') {
                size < 0.2
            } else {
                size < 2.0 && is_length(word)
            }
        })
    })
}

fn is_length(word: &str) -> bool {
    word.ends_with("px") || word.ends_with("pt") || word.trim_matches(['0', '.']).is_empty()
}

/// Further out than any screen reaches.
fn is_far_away(value: &str) -> bool {
    value.split(' ').any(|word| {
        number(word).is_some_and(|distance| {
            let pixels = if word.ends_with("em") { distance * 16.0 } else { distance };
            pixels <= -500.0 || pixels >= 5_000.0 || (word.ends_with('%') && distance <= -1.0)
        })
    })
}

fn is_far_translation(value: &str) -> bool {
    value
        .strip_prefix("translate")
        .and_then(|v| v.split_once('('))
        .is_some_and(|(_, arguments)| arguments.trim_end_matches(')').split(',').any(is_far_away))
}

fn is_transparent(color: &str) -> bool {
    let has_no_alpha = |arguments: &str| {
        let alpha = arguments.trim_end_matches(')').rsplit([',', '/']).next().unwrap_or_default().trim();
        arguments.split([',', '/', ' ']).count() >= 4 && number(alpha) == Some(0.0)
    };
    color == "transparent"
        || ["rgba(", "hsla(", "rgb(", "hsl("].iter().any(|f| color.strip_prefix(f).is_some_and(has_no_alpha))
        || (color.len() == 5 && color.starts_with('#') && color.ends_with('0'))
        || (color.len() == 9 && color.starts_with('#') && color.ends_with("00"))
}

fn same_color(color: &str, background: &str) -> bool {
    let background = background.split(' ').next().unwrap_or_default();
    let color = color.split(' ').next().unwrap_or_default();
    !color.is_empty()
        && !matches!(color, "inherit" | "initial" | "unset" | "currentcolor")
        && rgb(color) == rgb(background)
}

/// Writes the colours that are compared most in one way.
fn rgb(color: &str) -> String {
    match color {
        "white" | "#fff" | "rgb(255,255,255)" => "#ffffff".to_owned(),
        "black" | "#000" | "rgb(0,0,0)" => "#000000".to_owned(),
        _ => match color.strip_prefix('#') {
            Some(digits) if digits.len() == 3 => {
                digits.chars().fold("#".to_owned(), |long, digit| long + &digit.to_string().repeat(2))
            }
            _ => color.to_owned(),
        },
    }
}

/// What fades in is not hidden for long.
fn is_animated(declarations: &str) -> bool {
    ["animation", "transition"].iter().any(|property| declarations.contains(property))
        && !declarations.contains("display:none")
        && !declarations.contains("display: none")
}

/// Rules for paper, or for screens narrower than a person's.
fn is_for_another_medium(rule: &str) -> bool {
    rule.starts_with("media") && (rule.contains("print") || rule.contains("max-width"))
}

/// Returns what follows the block that just began.
fn after_block(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    ""
}

/// Returns the class, id or element that the last part of a selector is about.
///
/// A state (`:hover`) or a pseudo-element (`::before`) is not what the page shows at first. Of other conditions the
/// class or id before them counts, but not a bare element: `li:first-child` is not every `li`.
fn last_simple_selector(selector: &str) -> Option<String> {
    const STATES: &[&str] =
        &["::", ":hover", ":focus", ":active", ":checked", ":target", ":visited", ":before", ":after"];
    let last = selector.trim().rsplit([' ', '>', '+', '~']).next()?;
    if STATES.iter().any(|state| last.contains(state)) {
        return None;
    }
    let (compound, condition) = last.find([':', '[']).map_or((last, ""), |at| last.split_at(at));
    match compound.rfind(['.', '#']) {
        Some(at) => compound.get(at..).map(str::to_owned),
        None if condition.is_empty() && !compound.is_empty() && compound != "*" => Some(compound.to_owned()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_that_hide() {
        for declarations in [
            "display:none",
            "DISPLAY : NONE !important",
            "color:red;display:none",
            "dis/**/play:none",
            "d\\69splay:none",
            "d\\000069 splay: \\6eone",
            "visibility:hidden",
            "opacity:0",
            "opacity: 0.0",
            "opacity:.01",
            "opacity:0%",
            "font-size:0",
            "font-size:0px",
            "font-size: 1px",
            "font-size:0.01em",
            "font: 0/0 a",
            "position:absolute;left:-9999px",
            "text-indent:-9999px",
            "position:fixed;top:-100vh;top:-1000px",
            "height:0;overflow:hidden",
            "width:1px;height:1px;overflow:hidden",
            "max-height:0px; overflow: hidden",
            "clip:rect(0,0,0,0)",
            "clip: rect( 0 0 0 0 )",
            "clip-path:inset(50%)",
            "transform:scale(0)",
            "transform:translateX(-9999px)",
            "color:transparent",
            "color:rgba(0,0,0,0)",
            "color:rgb(0 0 0 / 0)",
            "color:#0000",
            "color:#fff;background:#FFFFFF",
            "background-color:white;color:#ffffff",
        ] {
            assert!(hides(declarations), "{declarations}");
        }
    }

    #[test]
    fn declarations_that_do_not() {
        for declarations in [
            "",
            "display:block",
            "opacity:0.5",
            "opacity:1",
            "font-size:12px",
            "font-size:1em",
            "font-size:90%",
            "font: bold 14px/1.5 serif",
            "left:-10px",
            "height:0",
            "overflow:hidden",
            "width:100%;overflow:hidden",
            "color:#fff;background:#000",
            "color:#ff0000",
            "color:rgb(10,20,0)",
            "color:white",
            "color:inherit;background:inherit",
            "margin-left:auto",
            "content:'display:none'x",
        ] {
            assert!(!hides(declarations), "{declarations}");
        }
    }

    #[test]
    fn style_sheets_hide_by_the_last_part_of_a_selector() {
        let mut sheet = Stylesheet::default();
        sheet.add(
            "/* x */ .a, main > p.b { display:none } #c{visibility:hidden} secret{opacity:0}
             .shown{display:block} .d:hover{display:none} li:first-child{display:none} .e:not(.open){display:none}
             @media print { .f { display:none } .g{display:none} } @media (min-width:1px){.h{display:none}}
             .fade{opacity:0;transition:opacity 1s} @charset 'x'; .i{display:none}",
        );
        let hidden = |class: &str| sheet.hides("div", "", class);
        assert_eq!(["a", "B", "e", "h", "i", "x a"].map(hidden), [true; 6]);
        assert_eq!(["shown", "d", "f", "g", "fade", ""].map(hidden), [false; 6]);
        assert!(sheet.hides("div", "C", "") && sheet.hides("secret", "", "") && !sheet.hides("li", "", ""));
    }
}
