//! `repertoire eval --ask`: the messages, sent to a model in several ways.

mod address;
mod page;
mod program;

use std::sync::Mutex;
use std::time::Duration;

use repertoire::{Engine, Error, ErrorCode};
use repertoire_authoring::ask::{
    AskReport, Asked, Asking, Model, Replies, Unanswered, Unjudged, Way, judged, sample,
};
use repertoire_authoring::eval::{Case, Problem};

use super::told;
use crate::args::AskArgs;
use crate::eval::not_counted;
use crate::failure::UsageError;
use crate::output::{Output, WARNING, styled};
use crate::progress_bar;
use crate::report::count;
use crate::{sanitize, signals};
use address::Address;
use program::{LineProgram, TextProgram};

/// The name of the model at an address, unless it is told: servers of one model take any.
const ANY_MODEL: &str = "default";

/// The prompts of the files.
pub(super) struct Prompts {
    pub(super) cases: Vec<Case>,
    pub(super) problems: Vec<Problem>,
}

/// Asks the model named `name`. Returns whether all messages were asked, and no prompt has a problem.
pub(super) fn run(
    name: &str,
    args: &AskArgs,
    engine: &Engine,
    Prompts { cases, problems }: Prompts,
    out: Output,
) -> anyhow::Result<bool> {
    signals::before_the_end(program::end_all)?;
    let model = model(name, args)?;
    let judge =
        args.judge.as_deref().map(|name| Ok::<_, anyhow::Error>((name, self::model(name, args)?)));
    let judge = judge.transpose()?;
    let mut replies = match &args.replies {
        Some(file) => Replies::open(file)?,
        None => Replies::default(),
    };
    let cases = match args.sample {
        Some(n) => sample(engine, cases, n),
        None => cases,
    };
    let ways = if args.ways.is_empty() { Way::ALL.to_vec() } else { args.ways.clone() };
    // Programs that answer lines are others than those that take a prompt, though of one name.
    let form = args.json_lines.then_some("--json-lines");
    let full_name: Vec<&str> =
        [Some(name), args.model.as_deref(), form].into_iter().flatten().collect();
    let full_name = full_name.join(" ");
    let asking = Asking {
        model_name: &full_name,
        ways: &ways,
        jobs: args.jobs.into(),
        max_tokens: args.max_tokens,
    };
    let progress = progress_bar::counting("asking", cases.len(), 0);
    let asked = asking.run(engine, &cases, &*model, &mut replies, || progress.inc(1));
    progress.finish_and_clear();
    let mut asked = asked?;
    let judged = match &judge {
        Some((name, judge)) => Some(verdicts(engine, &mut asked, &**judge, name, &mut replies)?),
        None => None,
    };

    let mut report = AskReport::new(asked, &ways);
    report.problems.splice(0..0, problems);
    if out.json {
        Output::json(&report)?;
    } else {
        out.human(page::text(&report, judged).as_str())?;
    }
    notes(&report, args, out);
    Ok(report.left == 0 && report.problems.is_empty() && report.unjudged.is_none())
}

fn verdicts(
    engine: &Engine,
    asked: &mut Asked,
    judge: &dyn Model,
    name: &str,
    replies: &mut Replies,
) -> Result<usize, Error> {
    let progress = progress_bar::counting("judging", asked.replies(), 0);
    let n_judged = judged(engine, asked, judge, name, replies, || progress.inc(1));
    progress.finish_and_clear();
    n_judged
}

/// The model that an argument names: an address, or a program with its arguments.
fn model(name: &str, args: &AskArgs) -> anyhow::Result<Box<dyn Model>> {
    let limit = Duration::from_secs(args.reply_timeout);
    if name.contains("://") {
        let uri = Address::uri(name).ok_or_else(|| {
            let message = format!("`{name}` is not an address of a model on this machine");
            let help = "write one such as `http://localhost:11434/v1`; reach others by a program, such as `llm -m NAME`";
            UsageError(Error::new(ErrorCode::InvalidParam, message, help))
        })?;
        let model = args.model.clone().unwrap_or_else(|| ANY_MODEL.to_owned());
        return Ok(Box::new(Address { uri, model, limit }));
    }
    let command = shlex::split(name).filter(|words| !words.is_empty()).ok_or_else(|| {
        let message = format!("`{name}` is not a command");
        let help = "write a program with its arguments, such as `claude -p`, and close each quote";
        UsageError(Error::new(ErrorCode::InvalidParam, message, help))
    })?;
    let dir = std::env::current_dir()?;
    Ok(if args.json_lines {
        Box::new(LineProgram { command, dir, limit, idle: Mutex::default() })
    } else {
        Box::new(TextProgram { command, dir, limit })
    })
}

/// Prints the problems in the files, the conversations that failed, and how to go on.
fn notes(report: &AskReport, args: &AskArgs, out: Output) {
    for problem in &report.problems {
        out.note(&told(problem));
    }
    for Unanswered { file, line, way, reason, .. } in &report.failed {
        let title = styled(WARNING, "no reply");
        out.note(&format!(
            "{}:{line}: {title} ({way}): {}",
            sanitize::line(file),
            sanitize::line(reason)
        ));
    }
    for skill in &report.user_only {
        out.note(&not_counted(skill));
    }
    if let Some(Unjudged { replies, reason, .. }) = &report.unjudged {
        let n = *replies;
        let (title, reason) = (styled(WARNING, "no verdict"), sanitize::line(reason));
        let replies = if *replies == 1 { "reply" } else { "replies" };
        out.note(&format!("{title} on {n} {replies}, the first because of the judge: {reason}"));
    }
    if report.left > 0 {
        let title = styled(WARNING, "not asked");
        let help = if args.replies.is_some() {
            "run the command again to ask for the rest"
        } else {
            "with `--replies FILE`, another run asks for the rest only"
        };
        let were = if report.left == 1 { "was" } else { "were" };
        let messages = count(report.left, "message");
        out.note(&format!(
            "{title}: {messages} {were} not asked in every way, and do not count; {help}"
        ));
    }
}
