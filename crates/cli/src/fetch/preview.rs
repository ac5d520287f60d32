//! `repertoire add --list` and `--dry-run`: shows skills before they are taken.

use repertoire_fetch::{Fetcher, Preview, PreviewedSkill, SourceList};
use serde_json::{Value as Json, json};

use super::each_source::{each_source, print_all};
use super::{short, show_left_out, waiting};
use crate::args::{AddArgs, Common};
use crate::exit_code::ExitCode;
use crate::output::{DIM, GOOD, NAME, Output, Page, WARNING, styled};
use crate::report::count;
use crate::{pager, sanitize};

/// The most findings that are shown for a skill; the others are counted.
const MAX_FINDINGS: usize = 3;

pub(super) fn run(
    args: &AddArgs,
    fetcher: &Fetcher,
    list: &SourceList<'_>,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let mut reports = Vec::new();
    let here = std::env::current_dir().unwrap_or_default();
    let is_good = each_source(args, out, |settings| {
        let preview = waiting(&settings.source, || {
            if args.list {
                fetcher.preview_of(&list.with_address(settings, &here), &here)
            } else {
                list.open(args.name.as_deref(), settings, &here)?.preview()
            }
        })?;
        let skills = preview.skills(&common.brand);
        if !out.json {
            pager::print(page(args, &preview, &skills, list).as_str(), out)?;
        }
        reports.push(report(args, &preview, &skills, list));
        Ok(())
    })?;
    if out.json {
        print_all(args, reports)?;
    }
    Ok(ExitCode::done_if(is_good))
}

fn report(
    args: &AddArgs,
    preview: &Preview,
    skills: &[PreviewedSkill],
    list: &SourceList<'_>,
) -> Json {
    let Preview { name, settings, locked, left_out, signed_by, .. } = preview;
    json!({
        "name": name,
        "source": locked.source,
        "revision": locked.revision,
        "rev": settings.rev,
        "chosen": settings.skills,
        "skills": skills,
        "left_out": left_out,
        "signed_by": signed_by,
        "config": args.dry_run.then(|| list.config_file().to_string_lossy()),
        "dry_run": true,
    })
}

fn page(
    args: &AddArgs,
    preview: &Preview,
    skills: &[PreviewedSkill],
    list: &SourceList<'_>,
) -> Page {
    let mut page = Page::default();
    let Preview { name, settings, locked, left_out, signed_by, .. } = preview;
    let title = if args.dry_run { styled(GOOD, "would add") } else { styled(GOOD, "found") };
    let source = styled(NAME, sanitize::line(&locked.source));
    let revision = short(&locked.revision);
    page.line(format_args!("{title} {} of {source} at {revision}", count(skills.len(), "skill")));
    for skill in skills {
        show(&mut page, skill);
    }
    show_left_out(&mut page, left_out);
    let sum = |tokens: fn(&PreviewedSkill) -> usize| skills.iter().map(tokens).sum::<usize>();
    let (always, loaded) = (sum(|skill| skill.always_tokens), sum(|skill| skill.loaded_tokens));
    page.line(format_args!("in all: {always} tokens always listed, {loaded} when all are loaded"));
    match signed_by {
        Some(key) => page.line(format_args!("signed by {}", sanitize::line(key))),
        None => page.line(format_args!("no signature was asked for (`--signed-by KEY`)")),
    }
    if args.dry_run {
        let config = list.config_file().to_string_lossy();
        let (config, name) = (sanitize::line(&config), sanitize::line(name));
        page.line(format_args!("would be written to `[fetch.{name}]` of {config}"));
        if !settings.skills.is_empty() {
            let skills = settings.skills.join(", ");
            page.line(format_args!("  skills: {}", sanitize::line(&skills)));
        }
    }
    page
}

fn show(page: &mut Page, skill: &PreviewedSkill) {
    let PreviewedSkill { id, description, always_tokens, loaded_tokens, .. } = skill;
    let PreviewedSkill { code, rights, findings, .. } = skill;
    let id = styled(NAME, sanitize::line(id));
    let tokens = format!("{always_tokens} tokens always, {loaded_tokens} when loaded");
    page.line(format_args!("  {id}  {}", styled(DIM, tokens)));
    page.line(format_args!("    {}", sanitize::line(description)));
    if !code.is_empty() {
        let title = styled(WARNING, "code");
        page.line(format_args!("    {title}: {}", sanitize::line(&code.join(", "))));
    }
    page.line(format_args!("    rights: {}", sanitize::line(&rights.join(", "))));
    for finding in findings.iter().take(MAX_FINDINGS) {
        let title = styled(WARNING, format_args!("{}[{}]", finding.severity, finding.code));
        page.line(format_args!("    {title}: {}", sanitize::line(&finding.message)));
    }
    if findings.len() > MAX_FINDINGS {
        page.line(format_args!("    and {}", count(findings.len() - MAX_FINDINGS, "more finding")));
    }
}
