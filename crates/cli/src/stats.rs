//! `repertoire stats`: counts the uses of each skill in conversations, and lists messages that were
//! routed wrongly.

mod missed;

use comfy_table::{CellAlignment, Table, presets};
use repertoire::catalog::Entry;
use repertoire::session::{Counts, Day, SkillTally, Tallies};
use repertoire::{Engine, SkillId};
use serde::Serialize;

use crate::args::{Common, StatsArgs};
use crate::exit_code::ExitCode;
use crate::list::formatted;
use crate::output::{DIM, Output, styled};
use crate::report::count;
use crate::{sanitize, sessions, setup};

/// The status of a skill that occurred in conversations but is not in the catalog.
const ABSENT: &str = "absent";

/// The index of the last column of the table.
const LAST: usize = 6;

/// A period, as JSON.
#[derive(Serialize)]
struct Stats {
    since: Day,
    days: u32,
    sessions: u64,
    skills: Vec<Row>,
}

/// A skill, as JSON.
#[derive(Serialize)]
struct Row {
    id: String,
    status: &'static str,
    fired: u64,
    loaded: u64,
    used: u64,
    listed: u64,
    /// The last day on which the skill fired, was loaded or was used.
    last: Option<Day>,
}

impl Row {
    fn new(id: &SkillId, status: &'static str, tally: Option<&SkillTally>) -> Row {
        let Counts { fired, loaded, used, listed, .. } =
            tally.map(|tally| tally.counts).unwrap_or_default();
        let last = tally.and_then(|tally| tally.last);
        Row { id: id.to_string(), status, fired, loaded, used, listed, last }
    }
}

pub(crate) fn run(args: &StatsArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let store = sessions::open_existing(common)?;
    let engine = setup::engine(common, |builder| match store {
        Some(store) => builder.session_store(store),
        None => builder,
    })?;
    let since = Day::today().before(args.since - 1);
    if args.missed {
        return missed::run(args, since, &engine, common, out);
    }
    let tallies = engine.tallies(since)?;
    let Tallies { sessions, .. } = tallies;
    let stats = Stats { since, days: args.since, sessions, skills: rows(&engine, &tallies) };
    if out.json {
        Output::json(&stats)?;
    } else {
        if !stats.skills.is_empty() {
            out.human(&table(&stats.skills))?;
        }
        tell(&stats, &tallies, out);
    }
    Ok(setup::finish(common, &engine, out))
}

/// Returns the skills of the catalog, and those that occurred in conversations only; the most active
/// first.
fn rows(engine: &Engine, tallies: &Tallies) -> Vec<Row> {
    let catalog = engine.catalog();
    let here = catalog.entries().filter(|entry| !entry.is_shadowed());
    let row = |entry: &Entry| Row::new(&entry.id, entry.status.as_str(), tallies.of(&entry.id));
    let mut rows: Vec<Row> = here.map(row).collect();
    let is_here = |id: &str| catalog.get(id).is_some();
    let met = tallies.skills.iter().filter(|tally| !is_here(tally.skill.as_str()));
    rows.extend(met.map(|tally| Row::new(&tally.skill, ABSENT, Some(tally))));
    rows.sort_by(|a, b| {
        let order =
            |row: &Row| (row.fired.saturating_add(row.loaded).saturating_add(row.used), row.listed);
        order(b).cmp(&order(a)).then_with(|| a.id.cmp(&b.id))
    });
    rows
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["SKILL", "FIRED", "LOADED", "USED", "LISTED", "LAST", "STATUS"]);
    for Row { id, status, fired, loaded, used, listed, last } in rows {
        let numbers = [fired, loaded, used, listed];
        let last = last.map_or_else(|| "never".to_owned(), |day| day.to_string());
        let id = sanitize::line(id).into_owned();
        let cells = [id].into_iter().chain(numbers.map(ToString::to_string));
        table.add_row(cells.chain([last, (*status).to_owned()]));
    }
    for column in table.column_iter_mut().skip(1).take(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    formatted(table, LAST)
}

/// Reports the period of the figures, and their limits.
fn tell(Stats { since, sessions, skills, .. }: &Stats, tallies: &Tallies, out: Output) {
    if tallies.is_empty() {
        out.note(&format!(
            "nothing was recorded since {since}; hooks record, and commands with `--session NAME`"
        ));
        return;
    }
    let sessions = usize::try_from(*sessions).unwrap_or(usize::MAX);
    out.note(&format!("{} begun since {since}", count(sessions, "session")));
    let is_idle = |row: &&Row| row.status != ABSENT && row.last.is_none();
    let n_idle = skills.iter().filter(is_idle).count();
    if n_idle > 0 {
        let idle = count(n_idle, "skill");
        out.note(&format!("{idle} without effect; `repertoire check --stats` says what to do"));
    }
    if skills.iter().any(|row| row.status == ABSENT) {
        let what = "of another project, renamed or removed";
        out.note(&styled(DIM, format_args!("{ABSENT}: not among the skills here; {what}")));
    }
}
