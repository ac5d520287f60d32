//! Hooks of this program in several places of one agent, each of which answers every message.

use std::collections::BTreeSet;

use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;

use super::places;
use crate::agent::{LOCAL_SETTINGS, Place};
use crate::args::Common;

/// Refuses to add hooks of `agent` to those in `places`, if its model gets the answer of one hook only: the second
/// call finds the instructions in the session, and the first answer, which has them, is lost.
pub(super) fn refuse(
    agent: HookAgent,
    here: Place,
    places: &[Place],
    common: &Common,
) -> Result<(), Error> {
    if agent != HookAgent::Copilot || twice(agent, places, common).is_none() {
        return Ok(());
    }
    let others = places.iter().filter(|place| **place != here);
    let owners: Vec<String> = others.map(|place| owner(agent, *place, common)).collect();
    let message = format!(
        "{agent} has hooks {} already, and its model gets the answer of one hook only: instructions would be lost",
        owners.join(" and ")
    );
    let help = format!(
        "keep those; or take them out first, by hand or with `repertoire hook uninstall {agent}`, or that with \
         `--project`"
    );
    Err(Error::new(ErrorCode::InvalidParam, message, help))
}

/// Returns the warning for `agent` with hooks in several places.
pub(crate) fn twice(agent: HookAgent, places: &[Place], common: &Common) -> Option<String> {
    // The project may be the home directory, where both places are one file.
    let mut files = BTreeSet::new();
    let mut is_another = |place: &Place| {
        let file = places::file(agent, *place, common);
        file.is_ok_and(|(path, _)| files.insert(path.canonicalize().unwrap_or(path)))
    };
    let places: Vec<Place> = places.iter().copied().filter(|place| is_another(place)).collect();
    let times = match places.len() {
        0 | 1 => return None,
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    };
    let whose = places.iter().map(|place| owner(agent, *place, common));
    let whose = whose.collect::<Vec<_>>().join(" and ");
    let lost = match agent {
        HookAgent::Copilot => ", of which its model gets only one, so that instructions are lost",
        _ => "",
    };
    let by_hand = places.iter().map(|place| match place {
        Place::Local => format!("; remove those in `{LOCAL_SETTINGS}` by hand"),
        Place::ByHand => format!("; remove those in {} by hand", file(agent, *place, common)),
        Place::Plugin => "; or uninstall the plugin".to_owned(),
        Place::User | Place::Project | Place::System => String::new(),
    });
    let by_hand: String = by_hand.collect();
    Some(format!(
        "{agent} has hooks {whose}, and answers each message {times}{lost}: leave one in, and take out \
         others with `repertoire hook uninstall {agent}`, or that with `--project`{by_hand}"
    ))
}

/// Says whose the hooks in `place` are, or where they are.
fn owner(agent: HookAgent, place: Place, common: &Common) -> String {
    match place {
        Place::ByHand => format!("in {}", file(agent, place, common)),
        Place::Plugin => format!("in a plugin ({})", file(agent, place, common)),
        Place::User => "for the user".to_owned(),
        Place::System => "for all users of this machine (the administrator's settings)".to_owned(),
        Place::Project => "for this project".to_owned(),
        Place::Local => format!("for you in this project (`{LOCAL_SETTINGS}`)"),
    }
}

fn file(agent: HookAgent, place: Place, common: &Common) -> String {
    let file = places::file(agent, place, common);
    file.map(|(path, _)| path.display().to_string()).unwrap_or_default()
}
