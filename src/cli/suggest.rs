//! `repertoire suggest`: proposes triggers, mined from the texts of skills.

use std::collections::BTreeSet;
use std::path::PathBuf;

use comfy_table::{Table, presets};
use repertoire::catalog::Entry;
use repertoire::eval::{Problem, Report, Scores, UserOnly, evaluate};
use repertoire::suggest::{self, Suggestion};
use repertoire::{Engine, Error, ErrorCode, SkillId};
use serde::Serialize;

use crate::args::{Common, SuggestArgs};
use crate::eval::{self, PromptFile};
use crate::exit_code::ExitCode;
use crate::output::{DIM, GOOD, NAME, Output, Page, styled};
use crate::replace::{check_writable, io_error, replace};
use crate::report::{count, percent_or_dash};
use crate::{sanitize, setup};

/// The proposals, as JSON.
#[derive(Serialize)]
struct SuggestOutput<'a> {
    suggestions: &'a [Suggestion],
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    /// The figures of `eval` without the proposals, and with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    eval: Option<Effect>,
}

/// The figures of `eval` without the proposals, and with them.
#[derive(Serialize)]
struct Effect {
    cases: usize,
    before: Scores,
    after: Scores,
    /// The number of skills that are measured with the triggers they declare.
    kept: usize,
    problems: Vec<Problem>,
    /// Skills that prompts expect although only the user may invoke them.
    user_only: Vec<UserOnly>,
}

pub(crate) fn run(args: &SuggestArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let engine = setup::engine(common, |builder| builder)?;
    let catalog = engine.catalog();
    let suggestions = match &args.id {
        Some(id) => vec![suggest::suggest(&catalog, setup::skill_name(&catalog, id))?],
        None => suggest::suggest_all(&catalog),
    };
    let draft = match &suggestions[..] {
        [suggestion] if args.write => Some(draft(args, &engine, suggestion)?),
        _ => None,
    };
    let eval = match &args.prompts[..] {
        [] => None,
        _ => Some(effect(args, common, &engine, &suggestions)?),
    };
    // The file is written last: if an earlier step fails, it stays unchanged.
    if let Some((path, text)) = &draft {
        replace(path, text, path)?;
    }
    let written = draft.map(|(path, _)| path.display().to_string());
    let told = SuggestOutput { suggestions: &suggestions, written, eval };
    if out.json {
        Output::json(&told)?;
    } else {
        out.human(text(&engine, &told).as_str())?;
    }
    let problems = told.eval.as_ref().map_or(&[][..], |effect| &effect.problems);
    for problem in problems {
        out.note(&eval::told(problem));
    }
    for skill in told.eval.iter().flat_map(|effect| &effect.user_only) {
        out.note(&eval::not_counted(skill));
    }
    let sources = setup::finish(common, &engine, out);
    Ok(if problems.is_empty() { sources } else { ExitCode::Failure })
}

/// Returns the path of a skill's file, and its text with the proposal inserted.
fn draft(
    args: &SuggestArgs,
    engine: &Engine,
    suggestion: &Suggestion,
) -> Result<(PathBuf, String), Error> {
    let catalog = engine.catalog();
    let entry = catalog.find_any(suggestion.id.as_str())?;
    let Some(path) = entry.skill.path() else {
        let message = format!("the skill `{}` is not a file", entry.id);
        return Err(Error::new(ErrorCode::InvalidParam, message, "copy the triggers by hand"));
    };
    // If the path is a link, the link stays, and its target is written.
    let path = path.canonicalize().map_err(|error| io_error("follow", path, &error))?;
    check_writable(&path, "copy the triggers by hand")?;
    let text = std::fs::read_to_string(&path).map_err(|error| io_error("read", &path, &error))?;
    let text = suggestion.insert_into(&text, args.replace).map_err(|error| {
        let message = format!("{}: {}", path.display(), error.message());
        error.reworded(message)
    })?;
    Ok((path, text))
}

/// Measures the effect of the proposals on the prompts of files. A proposal for a single skill
/// replaces the triggers that it declares; with `--all`, skills that declare triggers keep theirs.
fn effect(
    args: &SuggestArgs,
    common: &Common,
    engine: &Engine,
    suggestions: &[Suggestion],
) -> anyhow::Result<Effect> {
    let catalog = engine.catalog();
    let files = PromptFile::read_all(&args.prompts)?;
    let (cases, mut problems) = eval::prompts(&files, None, &catalog);
    let mut triggers = suggest::triggers(suggestions);
    let declares = |entry: &Entry| entry.skill.triggers().declared;
    let keeps = |id: &SkillId| args.all && catalog.get(id.as_str()).is_some_and(declares);
    let kept: BTreeSet<SkillId> = triggers.keys().filter(|id| keeps(id)).cloned().collect();
    triggers.retain(|id, _| !kept.contains(id));
    let with = setup::engine(common, |builder| builder.triggers(triggers))?;
    let report = |engine: &Engine| Report::new(evaluate(engine, &cases, || ()));
    let (before, after) = (report(engine), report(&with));
    problems.extend(before.problems);
    let (cases, user_only) = (before.cases, before.user_only);
    let (before, after) = (before.scores, after.scores);
    Ok(Effect { cases, before, after, kept: kept.len(), problems, user_only })
}

fn text(engine: &Engine, told: &SuggestOutput<'_>) -> Page {
    let catalog = engine.catalog();
    let mut text = Page::default();
    for Suggestion { id, keywords } in told.suggestions {
        let entry = catalog.get(id.as_str());
        let declares = entry.is_some_and(|entry| entry.skill.triggers().declared);
        let state = if declares { "  (declares triggers already)" } else { "" };
        let name = styled(NAME, sanitize::line(id.as_str()));
        text.line(format_args!("{name}{}", styled(DIM, state)));
        if keywords.is_empty() {
            let nothing =
                "nothing in its text is this skill's own; a longer description would help";
            text.line(format_args!("  {}", styled(DIM, nothing)));
        }
        for proposal in keywords {
            let others = match proposal.others {
                0 => "no other skill".to_owned(),
                n => count(n as usize, "other skill"),
            };
            let note = format!("{}, in {others}", count(proposal.uses as usize, "use"));
            let keyword = sanitize::line(&proposal.keyword);
            text.line(format_args!("  {keyword}  {}", styled(DIM, note)));
        }
    }
    if let Some(path) = &told.written {
        text.line(format_args!("\n{} {}", styled(GOOD, "wrote"), sanitize::line(path)));
    }
    if let Some(Effect { cases, before, after, kept, .. }) = &told.eval {
        text.line(format_args!("\n{}", count(*cases, "prompt")));
        if *kept > 0 {
            let keep = if *kept == 1 { "keeps its" } else { "keep their" };
            let note = format!("{} {keep} own triggers", count(*kept, "skill"));
            text.line(format_args!("{}", styled(DIM, note)));
        }
        text.push(&table(before, after).to_string());
    }
    text
}

fn table(before: &Scores, after: &Scores) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "now", "with them"]);
    for (name, of) in [
        ("precision", (|scores| scores.precision) as fn(&Scores) -> Option<f64>),
        ("recall", |scores| scores.recall),
        ("top 1", |scores| scores.top1),
        ("top 3", |scores| scores.top3),
        ("false fires", |scores| scores.false_fire),
    ] {
        table.add_row([name.to_owned(), percent_or_dash(of(before)), percent_or_dash(of(after))]);
    }
    table
}
