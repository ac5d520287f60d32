//! Changes of `config.toml` by commands: several at once, and through links.

use std::fs;

use crate::binary::Place;
use crate::{assert_contains, place, write_skill};

const USER: &str = "home/.repertoire/config.toml";

#[test]
fn commands_that_change_the_file_at_once_all_take_effect() {
    let place = Place::new();
    let ids: Vec<String> = (0..6).map(|nth| format!("s{nth}")).collect();
    for id in &ids {
        write_skill(&place, &format!(".agents/skills/{id}"));
    }
    write_skill(&place, "kit/delta");
    let commands = ids.iter().map(|id| vec!["disable", id]);
    let commands = commands.chain([vec!["add", "./kit"]]);
    let children: Vec<_> = commands.map(|words| place.command(words).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let text = fs::read_to_string(place.path().join(USER)).unwrap();
    assert_contains(&text, &["[fetch.kit]"]);
    for id in &ids {
        assert_contains(&text, &[&format!("\"{id}\"")]);
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_for_the_user_but_never_out_of_a_project() {
    use std::os::unix::fs::symlink;
    let place = place();
    write_skill(&place, "kit/delta");
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), place.path().join(".repertoire")).unwrap();
    for words in [&["disable", "alpha", "--source", "skills"][..], &["add", "./kit"]] {
        let refused = place.run(words.iter().chain(&["--project"])).exits(1);
        assert_contains(&refused.stderr, &["leaves the project"]);
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{words:?}");
    }

    // The place to which the user's file links may still be empty.
    fs::create_dir_all(place.path().join("home/.repertoire")).unwrap();
    symlink("../dotfiles/new.toml", place.path().join(USER)).unwrap();
    place.run(["disable", "alpha", "--source", "skills"]).exits(0);
    place.run(["add", "./kit"]).exits(0);
    assert!(place.path().join(USER).is_symlink());
    let text = fs::read_to_string(place.path().join("home/dotfiles/new.toml")).unwrap();
    assert_contains(&text, &["disabled = [\"alpha\"]", "[fetch.kit]"]);
}

#[test]
fn a_list_with_an_entry_that_is_not_an_id_is_not_edited() {
    let place = place();
    let text = "[skills]\ndisabled = [\"x\", 3]\n";
    place.write(USER, text);
    let refused = place.run(["disable", "alpha", "--source", "skills"]).exits(1);
    assert_contains(
        &refused.stderr,
        &["`skills.disabled` is not a list of ids", "nothing was changed"],
    );
    assert_eq!(fs::read_to_string(place.path().join(USER)).unwrap(), text);
}

#[test]
fn the_window_of_the_command_line_wins() {
    let place = place();
    let tier = |args: &[&str]| {
        let all = ["disclose", "use alpha", "--source", "skills", "--json"];
        place.run(all.iter().chain(args)).exits(0).json()["tier"].clone()
    };
    let n_omitted = |args: &[&str]| {
        let all = ["prompt", "--source", "skills", "--json"];
        let prompt = place.run(all.iter().chain(args)).exits(0).json();
        prompt["omitted"].as_array().unwrap().len()
    };
    place.write(USER, "[limits]\nbudget = \"2%\"\nprompt_budget = \"2%\"\nwindow = 50\n");
    let (small, large) = (&["--window", "50"], &["--window", "100000"]);
    assert_ne!(tier(&[]), 3);
    assert_eq!((tier(large), n_omitted(large)), (3.into(), 0));
    assert_eq!((tier(small), n_omitted(small)), (tier(&[]), n_omitted(&[])));
    assert_ne!(n_omitted(small), 0);
    place.write(USER, "[limits]\nbudget = \"2%\"\n");
    assert_eq!(tier(&[]), 3, "a share of an unknown window has no effect");
    assert_ne!(tier(small), 3);
}
