//! Templates.

use stockade_eval::{Data, EvalLimits, EvalOptions, interpolate};

const TEXTS: &[(&str, &str)] = &[
    ("", ""),
    ("plain", "plain"),
    ("{{a}}", "1"),
    ("{{ a }}-{{a+1}}", "1-2"),
    ("{{b}}", "{{c}}"),
    ("{{n}}", "null"),
    ("{{u}}", "undefined"),
    ("{{ }}", "undefined"),
    ("{{}}", "{{}}"),
    ("{{{a}}}", "{{{a}}}"),
    ("{{'}'}}", "{{'}'}}"),
    ("{{f()}}", "{{f()}}"),
    ("{{d}}", "$&"),
    ("{{xs}}", "1,2"),
    ("{{o}}", "[object Object]"),
    ("{{a", "{{a"),
    ("{{a} {{a}}", "{{a} 1"),
    ("{{nope.x}}/{{a}}", "{{nope.x}}/1"),
    ("{{o.constructor}}", "{{o.constructor}}"),
    ("{{`${a}`}}", "{{`${a}`}}"),
    ("{{a}}{{a}}", "11"),
    ("é{{a}}é", "é1é"),
    ("{{xs.length > 1 ? 'many' : 'one'}}", "many"),
];

fn vars() -> Vec<(&'static str, Data)> {
    vec![
        ("a", Data::from(1)),
        ("b", Data::from("{{c}}")),
        ("c", Data::from("no")),
        ("n", Data::Null),
        ("u", Data::Undefined),
        ("d", Data::from("$&")),
        ("xs", Data::from(vec![1, 2])),
        ("o", Data::from([("x", Data::from(1))])),
    ]
}

#[test]
fn templates_are_filled_in() {
    for (template, expected) in TEXTS {
        assert_eq!(
            interpolate(template, &vars(), &EvalOptions::default()).as_deref(),
            Ok(*expected),
            "{template}"
        );
    }
}

#[test]
fn a_limit_gives_no_text() {
    let limits = EvalLimits { max_steps: 10_000, ..EvalLimits::default() };
    let options = EvalOptions { limits, ..EvalOptions::default() };
    for template in [
        "{{'x'.repeat(1e8)}}",
        "{{((f)=>f(f))(f=>f(f))}}",
        &"{{xs.concat(xs).concat(xs).length}}".repeat(2_000),
    ] {
        let error = interpolate(template, &vars(), &options).expect_err(template);
        assert!(error.kind.is_limit(), "{template}: {error}");
    }
}

/// Text that is not a marker is scanned once.
#[test]
fn braces_cost_nothing() {
    for hostile in ["{{", "{{{", "{{a}", "}}{{", "{{}}"] {
        let template = hostile.repeat(100_000);
        assert_eq!(interpolate(&template, &[], &EvalOptions::default()).as_deref(), Ok(template.as_str()));
    }
}
