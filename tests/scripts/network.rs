//! The part of the network that scripts of projects reach.

use repertoire::catalog::Scope;
use repertoire::script::NetworkLevel;
use repertoire::skill::Network;
use repertoire::trust::ContentHash;

use super::probes::reach::again_as_another;
use super::*;
use services::{PROGRAM, Services};

#[path = "../support/services.rs"]
mod services;

/// Runs the program as a script of a project that has this part of the network.
fn tried(network: &Network, services: &Services) -> ScriptOutput {
    let mut place = Place::py(PROGRAM);
    (place.owner.scope, place.owner.script_rights) = (Scope::Project, network.clone().into());
    let script = place.root().join("scripts/a.py");
    let hash = ContentHash::of_file(&script).unwrap();
    place.store.add_with(&script, hash, network.clone()).unwrap();
    place.only(&[&services.aim(!network.is_none()).to_string()])
}

#[test]
fn services_of_this_machine_answer_only_if_they_are_named() {
    if !has("python3") {
        return;
    }
    let services = Services::start();
    let named = services.named();
    let named = || named.iter().map(String::as_str);
    for (network, by_localhost) in [
        (Network::default(), false),
        (true.into(), false),
        (Network::parse(["api.example.com:443"]).unwrap(), false),
        (Network::parse(named()).unwrap(), true),
        (Network::parse(named().chain(["*"])).unwrap(), true),
    ] {
        let output = tried(&network, &services);
        let expected = if network.is_none() { NetworkLevel::All } else { NetworkLevel::Named };
        if output.sandbox.network != expected {
            return println!("SKIPPED: this system cannot supervise: {:?}", output.sandbox);
        }
        assert_eq!(output.stderr, "", "{network}");
        Services::assert_reached(&output.stdout, by_localhost, !network.is_none());
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::services_of_this_machine_answer_only_if_they_are_named");
    again_as_another(&name, |text| println!("{text}"));
}
