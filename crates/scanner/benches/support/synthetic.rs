//! Synthetic skills for machines without real ones: made from a fixed seed, with the lengths, the share of non-ASCII
//! characters, the code blocks and the near misses of real skills.

/// A pseudorandom number generator with a fixed seed (xorshift).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    pub(super) fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.roll(items.len())]
    }
}

const WORDS: &[&str] = &[
    "the",
    "a",
    "to",
    "of",
    "and",
    "in",
    "use",
    "file",
    "with",
    "this",
    "skill",
    "when",
    "for",
    "is",
    "agent",
    "you",
    "run",
    "user",
    "output",
    "data",
    "api",
    "from",
    "that",
    "or",
    "code",
    "be",
    "if",
    "model",
    "your",
    "project",
    "create",
    "test",
    "not",
    "on",
    "are",
    "response",
    "example",
    "message",
    "key",
    "by",
    "task",
    "should",
    "context",
    "it",
    "name",
    "configuration",
    "environment",
    "variable",
    "server",
    "request",
    "evaluation",
    "benchmark",
    "push",
    "bash",
    "shell",
    "pool",
    "mining",
];

const MARKS: &[&str] = &[" — ", "…", " → ", " ✓ ", " ✅ ", "“", "”", "’", " 你好 ", " │ ", "├── ", " • "];

const COMMANDS: &[&str] = &[
    "npm install --save-dev typescript",
    "git clone https://example.com/project.git",
    "python3 scripts/run.py --input data.json",
    "curl -s https://api.example.com/v1/items -H \"Authorization: Bearer $TOKEN\" | jq .",
    "pip install -r requirements.txt",
    "echo \"$HOME\" | tee out.txt",
    "export API_KEY=\"your-key\"",
    "bash scripts/setup.sh",
    "cat file.txt | grep -v '^#' | sort | uniq",
    "docker run --rm -it image sh",
    "for f in *.md; do echo \"$f\"; done",
    "NAME=$(basename \"$PWD\")",
    "base64 -d token.txt",
];

/// Makes `count` texts.
pub(crate) fn skills(count: usize) -> Vec<String> {
    let mut dice = Dice(0x5eed_5eed_5eed_5eed);
    (0..count).map(|_| skill(&mut dice)).collect()
}

fn skill(dice: &mut Dice) -> String {
    // Most have a few kilobytes, some many times that.
    let size = 600 << dice.roll(6).min(dice.roll(6) + 1);
    let mut text = String::from("---\nname: example\ndescription: An example skill.\n---\n");
    while text.len() < size {
        match dice.roll(10) {
            0 => heading(dice, &mut text),
            1 | 2 => fence(dice, &mut text),
            3 | 4 => list(dice, &mut text),
            5 => table(dice, &mut text),
            _ => paragraph(dice, &mut text),
        }
    }
    text
}

fn words(dice: &mut Dice, count: usize, text: &mut String) {
    for index in 0..count {
        text.push_str(if index == 0 { "" } else { " " });
        match dice.roll(40) {
            0 => text.push_str(dice.pick(MARKS)),
            1 => {
                text.push('`');
                text.push_str(dice.pick(WORDS));
                text.push('`');
            }
            _ => text.push_str(dice.pick(WORDS)),
        }
    }
}

fn heading(dice: &mut Dice, text: &mut String) {
    text.push_str("\n## ");
    words(dice, 4, text);
    text.push_str("\n\n");
}

fn paragraph(dice: &mut Dice, text: &mut String) {
    let count = 20 + dice.roll(60);
    words(dice, count, text);
    text.push_str(".\n\n");
}

fn list(dice: &mut Dice, text: &mut String) {
    for _ in 0..2 + dice.roll(6) {
        text.push_str("- **");
        words(dice, 2, text);
        text.push_str("**: ");
        words(dice, 10, text);
        text.push('\n');
    }
}

fn table(dice: &mut Dice, text: &mut String) {
    text.push_str("\n| Name | Meaning |\n|------|---------|\n");
    for _ in 0..2 + dice.roll(6) {
        text.push_str("| ");
        words(dice, 1, text);
        text.push_str(" | ");
        words(dice, 6, text);
        text.push_str(" |\n");
    }
}

fn fence(dice: &mut Dice, text: &mut String) {
    text.push_str("\n```bash\n");
    for _ in 0..1 + dice.roll(5) {
        text.push_str(dice.pick(COMMANDS));
        text.push('\n');
    }
    text.push_str("```\n\n");
}
