//! Plugins that settings turn on or off.

use repertoire::catalog::RuleTarget;
use repertoire_agents::HookAgent::{ClaudeCode, Codex, Copilot};

use super::{COPILOT, state_in};

#[test]
fn plugins_that_are_on_and_not_installed_are_told() {
    let on = r#"{"enabledPlugins": {"kit@mk": true}}"#;
    let named = r#"{"enabledPlugins": {"kit@mk": true}, "extraKnownMarketplaces":
        {"mk": {"source": {"source": "directory", "path": "PLACE/mk"}}}}"#;
    let known = (
        "home/.claude/plugins/known_marketplaces.json",
        r#"{"mk": {"installLocation": "PLACE/mk"}}"#,
    );
    let market = [
        (
            "mk/.claude-plugin/marketplace.json",
            r#"{"plugins": [{"name": "kit", "source": "./kit"}]}"#,
        ),
        ("mk/kit/.claude-plugin/plugin.json", r#"{"name": "kit"}"#),
    ];
    let user = "home/.claude/settings.json";
    let project = "p/.claude/settings.json";
    for (agent, files, is_found, is_missing) in [
        (ClaudeCode, vec![(user, on)], false, true),
        // It installs one of a marketplace that it knows, or that the user names.
        (ClaudeCode, vec![(user, on), known, market[0], market[1]], true, false),
        (ClaudeCode, vec![(project, on), known, market[0], market[1]], true, false),
        (ClaudeCode, vec![(user, named), market[0], market[1]], true, false),
        (ClaudeCode, vec![(project, named), market[0], market[1]], false, true),
        (ClaudeCode, vec![(user, on), known, market[0]], false, true),
        (ClaudeCode, vec![(user, r#"{"enabledPlugins": {"kit@mk": false}}"#)], false, false),
        (Copilot, vec![("home/.copilot/settings.json", on)], false, true),
        (
            Codex,
            vec![("home/.codex/config.toml", "[plugins.\"kit@mk\"]\nenabled = true")],
            false,
            true,
        ),
        (
            Codex,
            vec![("home/.codex/config.toml", "[plugins.\"kit@mk\"]\nenabled = false")],
            false,
            false,
        ),
    ] {
        let place = tempfile::tempdir().unwrap();
        let here = |text: &str| text.replace("PLACE", place.path().to_str().unwrap());
        let texts: Vec<(&str, String)> =
            files.iter().map(|(path, text)| (*path, here(text))).collect();
        let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, &**text)).collect();
        let state = state_in(&place, agent, &texts);
        let has_it = state.roots.iter().any(|root| root.plugin.as_deref() == Some("kit"));
        let missing: Vec<&str> = state.missing_plugins.iter().map(|(id, _)| &**id).collect();
        assert_eq!(has_it, is_found, "{agent} {files:?}");
        assert_eq!(missing == ["kit@mk"], is_missing, "{agent} {files:?}: {missing:?}");
    }
}

#[test]
fn administrators_of_copilot_choose_what_counts() {
    let user = "home/.copilot/settings.json";
    let plugin = r#"{"enabledPlugins": {"kit@mk": true}, "extraKnownMarketplaces":
        {"mk": {"source": {"source": "directory", "path": "PLACE/mk"}}}}"#;
    let strict = r#"{"strictPluginOnlyCustomization": ["skills"]}"#;
    for (managed, has_plugin, has_own) in [
        ("{}", true, true),
        (strict, true, false),
        (r#"{"enabledPlugins": {"kit@mk": false}}"#, false, true),
        (r#"{"strictKnownMarketplaces": []}"#, false, true),
        (
            r#"{"strictKnownMarketplaces": [{"source": "directory", "path": "PLACE/mk"}]}"#,
            true,
            true,
        ),
        (r#"{"disabledSkills": ["native"]}"#, true, true),
    ] {
        let place = tempfile::tempdir().unwrap();
        let here = |text: &str| text.replace("PLACE", place.path().to_str().unwrap());
        let marketplace = r#"{"plugins": [{"name": "kit", "source": "./kit"}]}"#;
        let files = [
            (user, here(plugin)),
            (COPILOT, here(managed)),
            ("mk/.github/plugin/marketplace.json", marketplace.to_owned()),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
        let state = state_in(&place, Copilot, &files);
        let kit = place.path().join("mk/kit/skills");
        assert_eq!(state.roots.iter().any(|root| root.path == kit), has_plugin, "{managed}");
        let own = RuleTarget::Below(place.path().join("p/.github/skills"));
        let is_off = state.switches.iter().any(|switch| switch.target == own && switch.off);
        assert_eq!(!is_off, has_own, "{managed}");
    }
}
