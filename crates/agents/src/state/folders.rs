//! Trusted folders and extensions, which Gemini CLI and its fork Qwen Code keep in the same form.

use std::path::{Path, PathBuf};

use super::settings::{Settings, directories};
use super::{AgentState, Obstacle, SkillRoot, Start};
use crate::real_path::real;

/// Returns the user's rules about folders, from the file that `variable` names, or else from the directory
/// of the user's settings.
pub(super) fn trust_rules(
    start: &Start,
    variable: &str,
    user_dir: Option<&Path>,
) -> Option<Settings> {
    let named = start.variables.get(variable).map(PathBuf::from);
    named.or_else(|| Some(user_dir?.join("trustedFolders.json"))).and_then(Settings::read)
}

/// Returns the rule of the user about `dir`.
pub(super) fn rule_about(rules: &Settings, dir: &Path) -> Option<Obstacle> {
    let dir = real(dir);
    let applies = rules.entries(&[]).into_iter().filter_map(|(path, level)| {
        let path = real(Path::new(&path));
        let reach = if level == "TRUST_PARENT" { path.parent()?.to_owned() } else { path };
        dir.starts_with(&reach).then_some((reach.as_os_str().len(), level))
    });
    // The longest path decides.
    let (_, level) = applies.max_by_key(|(n_bytes, _)| *n_bytes)?;
    Some(Obstacle::new(level, &rules.path))
}

/// Tells whether the user distrusts a directory by the rule.
pub(super) fn is_refusal(rule: &Obstacle) -> bool {
    rule.setting == "DO_NOT_TRUST"
}

/// Adds the directories of skills of the extensions in `dir`, for a start in `here`. An extension is a
/// directory with a manifest, the file `NAME-extension.json`, or leads to one (`link`).
pub(super) fn extensions(dir: &Path, name: &str, here: &Path, state: &mut AgentState) {
    let rules = Settings::read(dir.join("extension-enablement.json"));
    let off = |name: &str| {
        let rules = rules.as_ref()?;
        let mut texts = rules.texts(&format!("/{name}/overrides")).into_iter();
        let rule = texts.rfind(|rule| applies(rule, here))?;
        let by = || Obstacle::new(format!("{name}: {{\"overrides\": [\"{rule}\"]}}"), &rules.path);
        rule.starts_with('!').then(by)
    };
    for path in directories(dir) {
        let installed = Settings::read(path.join(format!(".{name}-extension-install.json")));
        let link = installed.filter(|installed| installed.value["type"] == "link");
        let source = link.and_then(|link| Some(PathBuf::from(link.value["source"].as_str()?)));
        let path = source.unwrap_or(path);
        let manifest = Settings::read(path.join(format!("{name}-extension.json")));
        if let Some(name) = manifest.as_ref().and_then(|manifest| manifest.value["name"].as_str()) {
            let root = SkillRoot::plugin(name, &path, path.join("skills"));
            state.add(root, off(name).as_ref());
        }
    }
}

/// Tells whether a rule about an extension applies to `here`: a directory, or with `*` at its end all
/// directories below it.
fn applies(rule: &str, here: &Path) -> bool {
    let rule = rule.strip_prefix('!').unwrap_or(rule);
    match rule.strip_suffix('*') {
        Some(above) => here.starts_with(above),
        // It writes the directory with a slash at the end, and compares texts.
        None => rule.strip_suffix('/').is_some_and(|dir| here == Path::new(dir)),
    }
}
