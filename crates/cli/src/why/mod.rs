//! `repertoire why`: explains why a skill is shown for a message, or is not, and what the model of a
//! conversation has.

mod absent;
mod near_miss;
mod record;
mod unread;
mod verdict;

use std::path::Path;

use repertoire::session::Session;
use repertoire::{DisclosureOptions, Engine, Error, ErrorCode, Query};
use repertoire_agents::with_gaps;
use repertoire_config::Config;

use crate::args::{Common, RoutingArgs, WhyArgs};
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::match_query::{hits, why};
use crate::output::{DIM, GOOD, HELP, NAME, Output, Page, WARNING, styled};
use crate::report::{renderer, short};
use crate::{environment, hook, mcp, nested, query, sanitize, sessions, setup};

use near_miss::NearMiss;
use verdict::Veto;
pub(crate) use verdict::{Verdict, verdict};

pub(crate) fn run(args: &WhyArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let Some((id, asked)) = args.asked() else {
        let help = "write `repertoire why ID MESSAGE`; or, about all skills of a conversation, \
                    `repertoire why MESSAGE --agent AGENT --session ID`";
        let error = Error::new(ErrorCode::InvalidParam, "the message is missing", help);
        return Err(UsageError(error).into());
    };
    // Without a hook, the model would have the skill by the server.
    let silence = args.agent.and_then(|agent| {
        let why = hook::silence(agent, common)?;
        let server = mcp::hidden_tools(agent, common);
        Some(server.map_or(why.clone(), |server| format!("{why}; as for the MCP server, {server}")))
    });
    let own = RoutingArgs { matching: args.matching.clone(), showing: args.showing.clone() };
    let (common, routing) = match args.agent {
        Some(agent) => {
            let (skills, routing) = hook::options(agent, common)?;
            (&common.with_skills_of(&skills).for_agent(agent), own.and(&routing))
        }
        None => (common, own),
    };
    let query = query::read(&asked, common)?;
    let touched = args.agent.map(|_| &query.paths);
    let nested = touched.and_then(|paths| nested::directory(paths, common));
    let common = &match &nested {
        Some(dir) => nested::options(common, dir.clone()),
        None => common.clone(),
    };
    let engine = engine(args, &routing, nested.as_deref(), common, out)?;
    let session = conversation(&engine, args, out);
    let options = options(&engine, &session, common);
    let Some(id) = id else {
        let record = record::of(&engine, &query, &session, &options, silence)?;
        if out.json {
            Output::json(&record)?;
        } else {
            out.human(record::page(&record).as_str())?;
        }
        return Ok(setup::exit_code(common, &engine));
    };
    let catalog = engine.catalog();
    let name = setup::skill_name(&catalog, id);
    let filtered = || catalog.find_filtered(name);
    let entry = match catalog.find_any(name).or_else(|error| filtered().ok_or(error)) {
        Ok(entry) => entry,
        Err(error) => {
            setup::finish(common, &engine, out);
            let why = absent::reason(name, common).filter(|_| error.code() == ErrorCode::NotFound);
            return Err(why.unwrap_or(error).into());
        }
    };
    let mut verdict = verdict(&engine, entry, &query, &session, &options);
    let native = options.native.as_ref();
    if let (Some(agent), Some(refusal)) =
        (common.agent, native.and_then(|native| native.refusal(entry)))
    {
        let title = agent.title();
        let told = format!("; {title} does not list it by itself, because {refusal}");
        verdict.reason.push_str(&told);
    }
    let rules = setup::agent_state(common).map(|(agent, state)| state.rules(agent));
    if rules
        .into_iter()
        .flatten()
        .any(|rule| rule.off.is_some() && rule.off == entry.status.reason())
    {
        "take it out of that setting, which the agent itself obeys".clone_into(&mut verdict.help);
    }
    if let Some(why) = silence {
        verdict = verdict.silenced(why);
    }
    if out.json {
        Output::json(&verdict)?;
    } else {
        out.human(page(&verdict, &query, out).as_str())?;
    }
    Ok(ExitCode::done_if(verdict.fires))
}

/// Builds the engine that answers the message: the one of the agent's hook, if an agent is named.
fn engine(
    args: &WhyArgs,
    routing: &RoutingArgs,
    nested: Option<&Path>,
    common: &Common,
    out: Output,
) -> anyhow::Result<Engine> {
    let store = args.session.as_ref().map(|_| sessions::open(common)).transpose()?;
    let config = setup::config(common)?;
    let disclosure = match args.agent {
        Some(_) => {
            let mut invalid = Vec::new();
            let mut options = hook::disclosure(&config, &mut invalid);
            options.native = nested::native_skills(nested, common, &config);
            for error in &invalid {
                out.partial_failure(&error.into());
            }
            options
        }
        None => of_disclose(&config)?,
    };
    setup::engine(common, |builder| {
        let RoutingArgs { matching, showing } = routing;
        let builder = matching.apply(builder).disclosure(showing.apply(disclosure));
        match store {
            Some(store) => builder.session_store(store),
            None => builder,
        }
    })
}

/// Returns the options with which the message is answered: the engine's, and what the agent's own list lacks.
fn options(engine: &Engine, session: &Session, common: &Common) -> DisclosureOptions {
    let mut options = engine.disclosure_options().clone();
    if let Some((agent, native)) = common.agent.zip(options.native.take()) {
        let listing = agent.listing_budget(&setup::start(common), None);
        let state = session.state().unwrap_or_default();
        options.native = Some(with_gaps(native, listing.as_ref(), engine, &state));
    }
    options
}

/// Returns the conversation of the command line. The agent's own id is enough if the agent is named.
fn conversation(engine: &Engine, args: &WhyArgs, out: Output) -> Session {
    let Some(name) = &args.session else { return engine.session("why") };
    let is_known = |session: &Session| session.state().is_ok_and(|state| !state.skills.is_empty());
    let of_agent = args.agent.map(|agent| engine.session(&format!("{agent}:{name}")));
    if let Some(session) = of_agent.filter(is_known) {
        return session;
    }
    let session = engine.session(name);
    if !is_known(&session) {
        let session = sanitize::line(session.id());
        out.note(&format!(
            "the conversation `{session}` is unknown; that of a hook is `AGENT:ID`, with the \
             agent's own id"
        ));
    }
    session
}

/// Returns the options that `repertoire disclose` uses if its command line sets none.
fn of_disclose(config: &Config) -> Result<DisclosureOptions, UsageError> {
    let mut options = config.disclosure(DisclosureOptions::default());
    environment::limit_skills(&mut options).map_err(UsageError)?;
    options.how_to_load = setup::how_to_load();
    Ok(options)
}

fn close(near: &NearMiss) -> String {
    let NearMiss { kind, trigger, missing, similar, is_inside } = near;
    let missing: Vec<String> =
        missing.iter().map(|word| format!("`{}`", sanitize::line(word))).collect();
    let similar = similar
        .as_deref()
        .map_or_else(String::new, |word| format!("; the message has `{}`", sanitize::line(word)));
    let what = match &missing[..] {
        [] if *is_inside => "it is there, but as a part of a larger word".to_owned(),
        [] => "all its words are there, not as this phrase".to_owned(),
        [one] => format!("{one} is missing{similar}"),
        several => format!("{} are missing{similar}", several.join(", ")),
    };
    format!("close: {kind} `{}`: {what}", sanitize::line(trigger))
}

fn page(verdict: &Verdict, query: &Query<'_>, out: Output) -> Page {
    let mut page = Page::default();
    let (style, title) = if verdict.fires { (GOOD, "fires") } else { (WARNING, "does not fire") };
    let id = styled(NAME, sanitize::line(&verdict.id));
    let reason = sanitize::line(&verdict.reason);
    page.line(format_args!("{id} {}: {reason}", styled(style, title)));
    if let (Some(matched), Some(rank)) = (&verdict.matched, verdict.rank) {
        page.line(format_args!("match {rank}: {}", styled(DIM, why(matched))));
        page.push(hits(&matched.hits, query, &renderer(out)).as_str());
    }
    if let Some(Veto { exclude, start, end }) = &verdict.veto {
        let text = query.text.get(*start..*end).unwrap_or_default();
        let (exclude, text) = (sanitize::line(exclude), sanitize::line(text));
        page.line(format_args!("exclude `{exclude}` stands at byte {start} to {end}: `{text}`"));
    }
    for near in &verdict.near {
        page.line(format_args!("{}", close(near)));
    }
    for diagnostic in &verdict.refused {
        page.line(format_args!("{}", short(diagnostic)));
    }
    for path in &verdict.shadows {
        page.line(format_args!("shadowed by it: {}", sanitize::line(path)));
    }
    if let Some(why) = &verdict.silence {
        page.line(format_args!("the agent runs no hook here: {}", sanitize::line(why)));
    }
    if !verdict.help.is_empty() {
        page.line(format_args!("{}: {}", styled(HELP, "help"), sanitize::line(&verdict.help)));
    }
    if let Some(path) = &verdict.path {
        page.line(format_args!("{}", styled(DIM, sanitize::line(path))));
    }
    page
}
