//! `repertoire run`: runs a script of a skill, under limits.

use std::io::{self, Read as _};

use repertoire::engine::Caller;
use repertoire::script::{Offline, ScriptIo, ScriptOptions, Stream};

use crate::args::{Common, RunArgs};
use crate::exit_code::ExitCode;
use crate::output::{DIM, Output, OutputForwarder, styled};
use crate::shell::quoted;
use crate::signals::Signals;
use crate::{sanitize, sessions, setup};

pub(crate) fn run(args: &RunArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let mut stdin = Vec::new();
    if args.stdin {
        io::stdin().lock().read_to_end(&mut stdin)?;
    }
    let engine = setup::engine_with_scripts(common, options(args, setup::script_options(common)?))?;
    let session = sessions::named(common, args.session.as_deref())?;
    for name in args.env.iter().filter(|name| std::env::var_os(name).is_none()) {
        let name = sanitize::line(name);
        out.note(&format!("environment variable `{name}` is not set, and is not passed on"));
    }
    // With `--json` the output is one value at the end.
    let mut passage = OutputForwarder::default();
    let mut print = |stream, bytes: &[u8]| passage.pass(stream == Stream::Stdout, bytes);
    // Signals are not watched earlier: until a script runs, there is nothing else to end, so they may
    // end the process directly.
    let signals = Signals::watch()?;
    let is_cancelled = || signals.signal().is_some();
    let io = ScriptIo {
        stdin: &stdin,
        on_output: if out.json { None } else { Some(&mut print) },
        is_cancelled: Some(&is_cancelled),
    };
    let catalog = engine.catalog();
    let id = setup::skill_name(&catalog, &args.id);
    let output = engine.run_script(id, &args.script, &args.args, Caller::user(&session), io);
    passage.end();
    let code = setup::finish(common, &engine, out);
    let output = output?;
    if out.json {
        Output::json(&output.to_envelope(&args.id, &args.script))?;
    } else if let Some(reason) = &output.reason {
        out.note(&sanitize::line(reason));
    }
    for file in &output.withheld {
        let file = sanitize::line(file);
        out.note(&styled(DIM, format_args!("`{file}` is not trusted, and was not there for it")));
    }
    // To a script that succeeded, it made no difference.
    let offline = output.offline.filter(|_| !output.is_success() && !out.json);
    if let Some(offline) = offline.filter(|why| *why != Offline::Host) {
        let why = offline.reason();
        out.note(&styled(DIM, format_args!("the network was closed to it: {why}")));
    }
    let is_refused = output.offline == Some(Offline::NotAllowed) && !output.is_success();
    if !output.withheld.is_empty() || is_refused {
        let skill = quoted(&args.id);
        out.note(&format!("to accept it, run `repertoire trust add {}`", sanitize::line(&skill)));
    }
    Ok(match signals.signal() {
        Some(signal) if output.cancelled => ExitCode::Signal(signal),
        _ if output.is_success() => code,
        _ => ExitCode::Failure,
    })
}

/// Returns `options` with the settings of the command line added.
fn options(args: &RunArgs, mut options: ScriptOptions) -> ScriptOptions {
    options.write.extend(args.write.iter().cloned());
    options.network &= !args.offline;
    if let Some(timeout) = args.timeout {
        options.limits.timeout = timeout;
        if let Some(project) = &mut options.project {
            project.limits.timeout = timeout;
        }
    }
    options.env.extend(args.env.iter().cloned());
    options
}
