//! Programs that run others for each of many arguments: `find`, `xargs`, `parallel`.

use std::borrow::Cow;

use super::executed::Executed;
use super::{joined, shell_named, text};
use crate::actions::{Arg, HazardKind, Run};
use crate::getopt::{self, OptionOrder, OptionTable, ParsedOptions};
use crate::lookup::last_name;
use crate::runs::{Context, Stdin, Walk};
use crate::span::Span;

/// `find … -exec program … ;` and `fd … -x program …`.
pub(super) fn executed<'t>(
    walk: &mut Walk<'t, '_>,
    run: &Run<'t>,
    actions: &[&str],
    context: Context<'_, 't>,
) {
    for program in (Executed { argv: &run.argv, actions }).programs() {
        let argv = run.argv.get(program).unwrap_or_default().to_vec();
        spliced(walk, argv, run.span, Context { stdin: &Stdin::Unknown, ..context });
    }
}

/// Runs a program to which file names or lines are added. Where a shell gets them as part of its text, that text
/// is not known.
fn spliced<'t>(walk: &mut Walk<'t, '_>, argv: Vec<Arg<'t>>, span: Span, context: Context<'_, 't>) {
    let is_shell =
        argv.first().and_then(Arg::known).is_some_and(|name| shell_named(last_name(name)).is_some());
    let in_text =
        argv.iter().skip(1).any(|arg| arg.known().is_some_and(|word| word.contains("{}") && word.len() > 2));
    if is_shell && in_text {
        walk.hazard(HazardKind::UnknownText, span);
    }
    walk.run(argv, span, context, true);
}

/// `sem program …` is `parallel` for one program; `env_parallel` knows the aliases of the shell.
pub(super) const PARALLEL: &[&str] = &["parallel", "sem", "env_parallel"];

/// `parallel program … ::: values`: the words are joined and passed to a shell, once for each value.
pub(super) fn parallel<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    // Long options with a value are listed, because the value would be read as the program.
    static OPTIONS: OptionTable = OptionTable::new(
        "-0 -a: -C: -d: -E: -I: -i -j: -k -L: -l -m -N: -n: -P: -q -r -S: -s: -t -u -v -X -x \
         --arg-file= --arg-sep= --arg-file-sep= --basefile= --block= --block-size= --colsep= --compress-program= \
         --decompress-program= --delay= --delimiter= --env= --group-by= --halt= --halt-on-error= --jobs= --joblog= --id= \
         --limit= --load= --max-args= --max-chars= --max-lines= --max-procs= --max-replace-args= --memfree= --memsuspend= \
         --nice= --parens= --profile= --recend= --recstart= --results= --retries= --return= --rpl= --semaphore-name= \
         --semaphore-timeout= --semaphorename= --semaphoretimeout= --shellquote --sqlmaster= --sqlworker= --ssh= --sshdelay= \
         --sshlogin= --sshloginfile= --tagstring= --tempdir= --termseq= --timeout= --tmpdir= --transferfile= --trc= --trim= \
         --wd= --workdir= --*",
    );
    let options = getopt::parse(&run.argv, 1, &OPTIONS, OptionOrder::Strict);
    let words = run.argv.get(options.operands..).unwrap_or_default();
    let is_separator = |arg: &Arg<'_>| arg.known().is_some_and(|word| word.starts_with(":::"));
    let split = words.iter().position(is_separator).unwrap_or(words.len());
    let (program, values) = words.split_at_checked(split).unwrap_or_default();
    let values = values.get(1..).unwrap_or_default();
    let mut argv = program.to_vec();
    argv.extend(values.first().cloned());
    if argv.is_empty() {
        return walk.hazard(HazardKind::UnknownText, run.span);
    }
    let is_plain = argv.iter().all(|arg| {
        arg.known().is_some_and(|word| !word.contains([' ', ';', '|', '&', '$', '`', '(', '<', '>']))
    });
    if !is_plain || values.len() > 1 {
        walk.hazard(HazardKind::UnknownText, run.span);
        text(walk, &joined(program), run.span, Context { is_certain: false, ..context });
    }
    walk.run(argv, run.span, Context { stdin: &Stdin::Unknown, ..context }, values.len() != 1);
}

/// `xargs program …`: its input is appended, or replaces a marker.
pub(super) fn arguments_added<'t>(
    walk: &mut Walk<'t, '_>,
    run: &Run<'t>,
    options: &ParsedOptions<'t>,
    context: Context<'_, 't>,
) {
    let argv = run.argv.get(options.operands..).unwrap_or_default().to_vec();
    let Some(program) = argv.first() else {
        let echo = vec![Arg::Known(Cow::Borrowed("echo"))];
        return walk.run(echo, run.span, Context { stdin: &Stdin::Unknown, ..context }, true);
    };
    let mark =
        options.values.iter().find(|(option, _)| matches!(&**option, "-I" | "--replace" | "-i" | "-J"));
    let is_shell = program.known().is_some_and(|name| shell_named(last_name(name)).is_some());
    let marked = mark.and_then(|(_, mark)| mark.known()).unwrap_or("{}");
    let in_text = argv.iter().skip(1).any(|arg| arg.known().is_some_and(|word| word.contains(marked)));
    if is_shell && in_text {
        walk.hazard(HazardKind::UnknownText, run.span);
    }
    walk.run(argv, run.span, Context { stdin: &Stdin::Unknown, ..context }, mark.is_none());
}
