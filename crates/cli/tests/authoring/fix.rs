//! `check --fix`: what is written, and what is not.

use std::fs;

use crate::binary::Place;

const BROKEN: &str = "---\r\nname: late\r\ndescription: Use when: it's late  # at night\r\ntriggers: \
                      [night bus, @b]\r\n---\r\nBody: of: it\r\n";
const FIXED: &str = "---\r\nname: late\r\ndescription: 'Use when: it''s late'  # at night\r\ntriggers: \
                     [night bus, '@b']\r\n---\r\nBody: of: it\r\n";

fn place() -> Place {
    let place = Place::new();
    place.write("skills/late/SKILL.md", BROKEN);
    place.write("skills/fine/SKILL.md", "---\nname: fine\ndescription: Grows basil\n---\nB\n");
    place
}

fn text(place: &Place, file: &str) -> String {
    fs::read_to_string(place.path().join(file)).unwrap()
}

#[test]
fn lines_are_written_as_loading_reads_them_and_only_once() {
    let place = place();
    let before = place.run(["show", "late", "--source", "skills", "--json"]).exits(0).json();
    let told = place.run(["check", "skills", "--fix"]).exits(0).stdout;
    assert_eq!(text(&place, "skills/late/SKILL.md"), FIXED);
    for line in [
        "fixed skills/late/SKILL.md:3\n  - description: Use when: it's late  # at night\n  + description: \
         'Use when: it''s late'  # at night\n",
        "fixed skills/late/SKILL.md:4\n  - triggers: [night bus, @b]\n  + triggers: [night bus, '@b']\n",
    ] {
        assert!(told.contains(line), "{line}\nis not in\n{told}");
    }
    assert!(told.ends_with("checked 2 skills: 0 errors, 0 warnings, 0 notes\n"), "{told}");
    let after = place.run(["show", "late", "--source", "skills", "--json"]).exits(0).json();
    assert_eq!(before["manifest"], after["manifest"]);
    let again = place.run(["check", "skills", "--fix", "--json"]).exits(0).json();
    assert_eq!(again["fixed"], serde_json::json!([]));
    assert_eq!(text(&place, "skills/late/SKILL.md"), FIXED);
}

#[test]
fn json_has_the_lines_and_nothing_is_written_without_the_option() {
    let place = place();
    let json = place.run(["check", "skills", "--json"]).exits(0).json();
    assert_eq!(json.get("fixed"), None);
    assert_eq!(text(&place, "skills/late/SKILL.md"), BROKEN);
    let json = place.run(["check", "skills", "--fix", "--json"]).exits(0).json();
    let fixed = json["fixed"].as_array().unwrap();
    assert_eq!(fixed.len(), 2);
    assert_eq!(
        (&fixed[1]["line"], &fixed[1]["after"]),
        (&4.into(), &"triggers: [night bus, '@b']".into())
    );
    assert_eq!(json["diagnostics"], serde_json::json!([]));
}

#[test]
fn only_files_that_are_named_are_written() {
    let place = place();
    let run = place.run(["check", "--fix", "--source", "skills"]).exits(2);
    assert!(run.stderr.contains("PATH"), "{run:?}");
    place.run(["check", "skills/fine", "--fix", "--source", "skills"]).exits(0);
    assert_eq!(text(&place, "skills/late/SKILL.md"), BROKEN);
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link_and_a_read_only_file_stays_as_it_is() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = place();
    place.write("texts/linked.md", BROKEN.replace("late", "linked"));
    fs::create_dir_all(place.path().join("linked/linked")).unwrap();
    let link = place.path().join("linked/linked/SKILL.md");
    symlink("../../texts/linked.md", &link).unwrap();
    place.run(["check", "linked/linked/SKILL.md", "--fix"]);
    assert!(link.is_symlink());
    assert_eq!(text(&place, "texts/linked.md"), FIXED.replace("late", "linked"));

    let file = place.path().join("skills/late/SKILL.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let run = place.run(["check", "skills", "--fix"]).exits(1);
    assert!(run.stderr.contains("is read-only"), "{run:?}");
    assert_eq!(text(&place, "skills/late/SKILL.md"), BROKEN);
}
