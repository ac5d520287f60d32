use std::fs;

use tempfile::TempDir;

use super::*;
use repertoire::catalog::SkillChoice;
use repertoire::disclosure::{DisclosureOptions, RelevanceMargin};
use repertoire::{Engine, MetaQuestion};

/// A home directory and a project with these configuration files.
pub(super) struct World {
    dir: TempDir,
}

impl World {
    pub(super) fn new(user: &str, project: &str) -> World {
        let world = World { dir: TempDir::new().unwrap() };
        for (base, text) in [("home", user), ("work", project)] {
            let path = Config::path(&world.path(base), "acme");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        world
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn config(&self) -> Config {
        Config::load(&ConfigPlace {
            home: Some(self.path("home")),
            project: self.path("work"),
            working_dir: self.path("work"),
            brand: "acme".to_owned(),
        })
    }
}

/// The code and the place of each finding.
pub(super) fn findings(config: &Config) -> Vec<String> {
    let told = config.diagnostics().iter();
    told.map(|d| format!("{} {}:{}", d.code, d.line, d.column)).collect()
}

fn value(config: &Config, key: &str) -> Json {
    let settings = config.settings();
    settings.into_iter().rfind(|setting| setting.key == key).unwrap().value
}

#[test]
fn nothing_is_the_default() {
    let place = ConfigPlace { brand: "acme".to_owned(), ..ConfigPlace::default() };
    let config = Config::load(&place);
    assert_eq!(config.diagnostics(), []);
    let options = DisclosureOptions::default();
    assert_eq!(config.disclosure(options.clone()), options);
    assert!(config.settings().iter().all(|setting| setting.scope.is_none()));
    assert!(config.uses_bundled(Channel::CommandLine));
    assert!(!config.uses_bundled(Channel::Hooks) && !config.uses_bundled(Channel::Mcp));
}

#[test]
fn the_project_wins_over_the_user() {
    let world = World::new(
        "[limits]\nmax_skills = 4\nmax-lines = 7\nbudget = \"1000t\"\n[routing]\nrelevance = false\n\
         inflect = true\n[bundled]\nhooks = true\n[meta_phrases]\nregistry = [\"tricks\"]\n\
         show_all = [\"all tricks\"]\n",
        "[bundled]\nmcp = true\n[limits]\nmax_skills = 2\n",
    );
    let config = world.config();
    assert_eq!(findings(&config), [""; 0]);
    let engine = config.apply(Engine::builder()).build().unwrap();
    let options = engine.disclosure_options();
    assert_eq!((options.max_skills, options.max_lines), (2, 7));
    assert_eq!((options.budget, options.relevance), (Some(Budget::Tokens(1000)), None));
    assert!(config.uses_bundled(Channel::Hooks) && config.uses_bundled(Channel::Mcp));
    assert_eq!(config.switch("routing.inflect"), Some(true));
    let phrases = config.meta_phrases();
    assert_eq!(phrases[0], ("tricks".to_owned(), MetaQuestion::Registry));
    assert_eq!(phrases[1], ("all tricks".to_owned(), MetaQuestion::ShowAll));
    let settings = config.settings();
    let of = |key: &str| settings.iter().find(|setting| setting.key == key).unwrap();
    assert_eq!(
        (of("limits.max_skills").scope, of("limits.max_skills").line),
        (Some(Scope::Project), Some(4))
    );
    assert_eq!(
        (of("limits.max_lines").scope, of("limits.max_lines").line),
        (Some(Scope::User), Some(3))
    );
    assert_eq!((of("limits.max_all_skills").scope, of("limits.max_all_skills").line), (None, None));
}

#[test]
fn the_window_of_the_caller_wins() {
    let config = World::new("[limits]\nbudget = \"2%\"\nwindow = 1000\n", "").config();
    let budget = |config: Config| config.disclosure(DisclosureOptions::default()).budget;
    let share = |window| Some(Budget::Share { percent: 2.0, window });
    assert_eq!(budget(config.clone()), share(1000));
    assert_eq!(budget(config.with_window(Some(9))), share(9));
    let config = World::new("[limits]\nbudget = \"2%\"\n", "").config();
    assert_eq!(findings(&config), ["invalid-value 2:1"]);
    assert_eq!(value(&config, "limits.budget"), 40_000);
    assert_eq!(budget(config.clone()), Some(Budget::Characters(40_000)));
    assert_eq!(budget(config.with_window(Some(9))), share(9));
}

#[test]
fn what_is_wrong_is_a_finding_and_the_rest_holds() {
    for (text, wanted) in [
        ("[limits]\nmax_skils = 3", "unknown-setting 2:1"),
        ("[limts]\nmax_skills = 3", "unknown-setting 1:2"),
        ("limits = 3", "wrong-type 1:10"),
        ("[limits]\nmax_skills = \"3\"", "wrong-type 2:14"),
        ("[limits]\nmax_skills = -3", "invalid-value 2:14"),
        ("[limits]\nmax_skills = 1\nmax-skills = 3", "duplicate-key 3:1"),
        ("[limits]\nbudget = \"lots\"", "invalid-value 2:10"),
        ("[limits]\nbudget = \"2%\"", "invalid-value 2:1"),
        ("[limits]\nbudget = true", "wrong-type 2:10"),
        ("[limits]\nwindow = 0", "invalid-value 2:10"),
        ("[routing]\nrelevance = { worth = 1, size = 2 }", "wrong-type 2:13"),
        ("[routing]\nrelevance = { worth = nan }", "wrong-type 2:13"),
        ("[routing]\nrelevance = { words = -1 }", "wrong-type 2:13"),
        ("[routing]\nrelevance = 3", "wrong-type 2:13"),
        ("[scripts]\ntimeout = 0", "invalid-value 2:11"),
        ("[scripts]\ntimeout = inf", "invalid-value 2:11"),
        ("[scripts]\ntimeout = \"soon\"", "invalid-value 2:11"),
        ("[scripts]\ntimeout = true", "wrong-type 2:11"),
        ("[fetch.team]\nsource = \"x\"\nrefresh = \"59s\"", "invalid-value 3:11"),
        ("[fetch.team]\nsource = \"x\"\nrefresh = \"infm\"", "invalid-value 3:11"),
        ("[fetch.team]\nsource = \"x\"\nrefresh = true", "wrong-type 3:11"),
        ("[fetch.team]", "invalid-source 1:8"),
        ("[fetch]\nteam = {}", "invalid-source 2:1"),
        ("[scripts]\nenv = [\"A=1\"]", "invalid-value 2:8"),
        ("[scripts]\nwrite = [\"out\"]", "invalid-value 2:10"),
        ("[skills]\ndisabled = [\"a\", 3]", "wrong-type 2:18"),
        ("[skills]\ndisabled = [\" \"]", "invalid-value 2:13"),
        ("[skills]\ndisabled = \"a\"", "wrong-type 2:12"),
        ("[sources]\nadd = [\"~/no/such\"]", "invalid-value 2:1"),
        ("[toolsets.Hello]\ncolour = 1", "unknown-setting 2:1"),
        ("[toolsets]\nHello = 1", "wrong-type 2:9"),
        ("[[limits]]\nmax_skills = 3", "wrong-type 1:1"),
    ] {
        let world = World::new(&format!("{text}\n[bundled]\nmcp = true\n"), "");
        let config = world.config();
        assert_eq!(findings(&config), [wanted], "{text}: {:?}", config.diagnostics());
        assert!(config.uses_bundled(Channel::Mcp), "{text}");
        let finding = &config.diagnostics()[0];
        assert!(!finding.message.is_empty() && !finding.help.is_empty(), "{finding:?}");
        assert!(finding.span.is_some() && finding.path.ends_with(".acme/config.toml"));
    }
}

#[test]
fn a_file_that_is_not_toml_is_left_out() {
    for (text, wanted) in [
        ("[limits]\nmax_skills = 3 3", "invalid-toml 2:14"),
        ("[limits", "invalid-toml 1:8"),
        ("[limits]\nmax_skills = [1", "invalid-toml 3:1"),
        ("[limits]\n[limits]", "invalid-toml 2:2"),
        ("é = \"ü", "invalid-toml 1:1"),
    ] {
        let config = World::new("", &format!("{text}\n[bundled]\nmcp = true\n")).config();
        assert_eq!(findings(&config), [wanted], "{text}: {:?}", config.diagnostics());
        assert!(!config.uses_bundled(Channel::Mcp), "{text}");
        let finding = &config.diagnostics()[0];
        assert!(finding.span.is_some() && finding.help.contains("left out"), "{finding:?}");
    }
}

#[test]
fn times_are_seconds_or_texts_with_a_unit() {
    for (text, seconds) in [
        ("60", 60),
        ("\"90s\"", 90),
        ("\"1.5m\"", 90),
        ("\"15m\"", 900),
        ("\"2h\"", 7200),
        ("\"1d\"", 86_400),
    ] {
        let world = World::new(&format!("[fetch.team]\nsource = \"x\"\nrefresh = {text}\n"), "");
        let config = world.config();
        assert_eq!(findings(&config), [""; 0], "{text}");
        let refresh = config.fetch_sections()[0].refresh;
        assert_eq!(refresh, Some(Duration::from_secs(seconds)), "{text}");
        assert_eq!(value(&config, "fetch.team.refresh"), seconds);
    }
}

#[test]
fn the_nearest_name_is_proposed() {
    for (text, wanted) in [
        ("[limits]\nmax_skils = 3", "did you mean `max_skills`?"),
        ("[bundled]\nhook = true", "did you mean `hooks`?"),
        ("[skill]\n", "did you mean `skills`?"),
        ("[meta_phrases]\nxyz = 1", "there are `registry`, `show_all`"),
    ] {
        assert_eq!(World::new(text, "").config().diagnostics()[0].help, wanted);
    }
}

#[test]
fn a_project_grants_nothing() {
    let user = "[scripts]\ntimeout = 30\n[toolsets.Hello]\ncall_timeout = 5\n";
    for (text, is_refused) in [
        ("[scripts]\nnetwork = true", false),
        ("[scripts]\nnetwork = false", false),
        ("[scripts]\ntimeout = 31", true),
        ("[scripts]\ntimeout = 29.5", false),
        ("[scripts]\nmemory = 1_000_000_000_000", true),
        ("[scripts]\naddress_space = 1_000_000_000_000", false),
        ("[scripts]\nwrite = [\"/\"]", true),
        ("[scripts]\nenv = [\"SECRET\"]", true),
        ("[limits]\nmax_query_bytes = 1_000_000_000", true),
        ("[toolsets.Hello]\nnetwork = true", true),
        ("[toolsets.Hello]\nnetwork = false", false),
        ("[toolsets.Hello]\nread = [\"/\"]", true),
        ("[toolsets.Hello]\nenv = [\"SECRET\"]", true),
        ("[toolsets.Hello]\ncall_timeout = 6", true),
        ("[toolsets.\"greet:Hello\"]\ncall_timeout = 6", true),
        ("[toolsets.\"greet:Hello\"]\ncall_timeout = 4", false),
        ("[toolsets.Other]\ncall_timeout = 60", false),
        ("[toolsets.Other]\ncall_timeout = 61", true),
        ("[toolsets.Hello.config]\nendpoint = \"x\"", false),
        ("[sources]\nadd = [\"../elsewhere\"]", true),
        ("[sources]\nadd = [\"/etc\"]", true),
        ("[sources]\nadd = [\"~/skills\"]", true),
        ("[sources]\nadd = [\"link\"]", true),
        ("[sources]\nadd = [\"./inside\"]", false),
    ] {
        let world = World::new(user, text);
        fs::create_dir(world.path("work/inside")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", world.path("work/link")).unwrap();
        let config = world.config();
        let wanted: Vec<&str> = if is_refused { vec!["refused-setting"] } else { vec![] };
        let codes: Vec<_> = config.diagnostics().iter().map(|d| d.code.as_str()).collect();
        assert_eq!(codes, wanted, "{text}: {:?}", config.diagnostics());
        let is_set = config.found.iter().any(|found| found.scope == Scope::Project);
        assert_eq!(is_set, !is_refused, "{text}");
    }
    // A project cannot turn on the network if the user turned it off.
    let closed = World::new("[scripts]\nnetwork = false", "[scripts]\nnetwork = true").config();
    assert_eq!(findings(&closed), ["refused-setting 2:11"]);
    assert_eq!(value(&closed, "scripts.network"), false);
}

#[test]
fn sources_are_added_above_the_standard_ones_of_their_scope_or_replace_them() {
    let user = "[sources]\nadd = [\"~/mine\"]\n";
    let project = "[sources]\nadd = [\"shared\"]\n";
    let roots = |world: &World| -> Vec<String> {
        for dir in ["home/mine", "work/shared"] {
            fs::create_dir_all(world.path(dir)).unwrap();
        }
        let config = world.config();
        assert_eq!(findings(&config), [""; 0]);
        let root = |source: &Source| {
            let root = source.root().unwrap().strip_prefix(world.dir.path()).unwrap();
            format!("{} {}", source.scope(), root.display())
        };
        config.sources().iter().map(root).collect()
    };
    let all = roots(&World::new(user, project));
    assert_eq!(all.len(), 3 + 1 + 4 + 1);
    assert_eq!((all[3].as_str(), all[8].as_str()), ("user home/mine", "project work/shared"));
    let replaced = roots(&World::new(&format!("{user}standard = false\n"), project));
    assert_eq!(replaced, ["user home/mine", "project work/shared"]);
}

#[test]
fn the_nearest_file_decides_whether_a_skill_is_on() {
    let choices = |user: &str, project: &str| {
        let choices = World::new(user, project).config().choices();
        let shown = |choice: &SkillChoice| {
            let sign = if choice.off.is_some() { '-' } else { '+' };
            format!("{sign}{}", choice.skills)
        };
        choices.iter().map(shown).collect::<Vec<_>>().join(" ")
    };
    let (on, off) = ("[skills]\nenabled = [\"a\"]", "[skills]\ndisabled = [\"a-*\"]");
    assert_eq!(choices(on, ""), "+a");
    assert_eq!(choices(off, on), "-a-* +a");
    assert_eq!(choices(on, off), "+a -a-*");
    assert_eq!(choices("[skills]\ndisabled = [\"a\", \"b\"]\nenabled = [\"a\"]", ""), "+a -a -b");
    // What turns off and cannot be read turns off all that can be.
    assert_eq!(choices("[skills]\ndisabled = \"a, b\"\nenabled = \"c\"", ""), "-a -b");
    assert_eq!(choices("[skills]\ndisabled = [\"a\", 3, \"\"]", ""), "-a -3");
    let unknown = &World::new("", off).config().choices()[0].unknown;
    assert_eq!((unknown.line, unknown.path.ends_with("work/.acme/config.toml")), (2, true));
}

#[test]
fn files_that_are_none_are_findings() {
    let world = World::new("", "");
    let (user, project) =
        (world.path("home/.acme/config.toml"), world.path("work/.acme/config.toml"));
    fs::write(&user, b"[limits]\n# \xff\n").unwrap();
    fs::remove_file(&project).unwrap();
    fs::create_dir(&project).unwrap();
    assert_eq!(findings(&world.config()), ["not-utf8 2:3", "not-a-file 1:1"]);
    fs::write(&user, " ".repeat(300_000)).unwrap();
    assert_eq!(findings(&world.config())[0], "invalid-toml 1:1");
    #[cfg(unix)]
    {
        fs::remove_dir(&project).unwrap();
        fs::write(world.path("secret"), "[bundled]\nmcp = true\n").unwrap();
        std::os::unix::fs::symlink(world.path("secret"), &project).unwrap();
        fs::write(&user, "").unwrap();
        assert_eq!(findings(&world.config()), ["link-outside 1:1"]);
        assert!(!world.config().uses_bundled(Channel::Mcp));
        // The user's own file may be a link, for example into a directory of dotfiles.
        fs::remove_file(&user).unwrap();
        std::os::unix::fs::symlink(world.path("secret"), &user).unwrap();
        assert!(world.config().uses_bundled(Channel::Mcp));
    }
}

#[test]
fn a_project_that_is_the_home_directory_has_the_file_of_the_user() {
    let world = World::new("[scripts]\nenv = [\"KEY\"]\n", "");
    let home = world.path("home");
    let place = ConfigPlace {
        home: Some(home.clone()),
        project: home.clone(),
        working_dir: home,
        brand: "acme".to_owned(),
    };
    let config = Config::load(&place);
    assert_eq!((config.diagnostics(), config.files().len()), (&[][..], 1));
}

#[test]
fn the_documented_example_has_every_setting() {
    let page = include_str!("../../../docs/config.md");
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let world = World::new(example, "");
    fs::create_dir_all(world.path("home/work/team-skills")).unwrap();
    let config = world.config();
    assert_eq!(config.diagnostics(), []);
    for key in schema::KEYS {
        let names = ["HelloToolset", "anthropics-skills"].map(|name| key.name.replace('*', name));
        let mut found = config.found.iter();
        assert!(found.any(|found| names.contains(&found.name)), "{} is not there", key.name);
    }
    assert_eq!(value(&config, "limits.max_skills"), 3);
    let margin = value(&config, "routing.relevance");
    assert_eq!(margin, Value::Margin(Some(RelevanceMargin::default())).to_json());
}
