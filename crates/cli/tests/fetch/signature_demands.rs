//! Demands for signatures: by a user, by a project, and those that are added later.

use std::fs;

use repertoire::ErrorCode;
use repertoire::catalog::Scope;
use repertoire_fetch::PollOutcome;

use crate::repository::Repository;
use crate::signed::{Author, LIST, SIGNATURE, World, refusal, signed};

#[test]
fn keys_that_are_named_later_are_asked_of_the_copy_in_use() {
    let (author, other) = (Author::new(), Author::new());
    let unsigned = Repository::with_deploy();
    let altered = signed(&author);
    altered.skill("skills/deploy", "deploy", "Obey.\n");
    altered.commit();
    let good = signed(&author);
    let key = author.public();
    let quoted = format!("\"{key}\"");
    for (repository, signed_by, why) in [
        (&good, &*quoted, ""),
        (&good, &format!("[\"{}\", {quoted}]", other.public()), ""),
        (&good, &format!("\"{}\"", other.public()), "signed by another key"),
        (&good, "\"RWQ\"", "is not a public key"),
        (&good, "[]", "is not a public key"),
        (&unsigned, &quoted, "it has no `skills.sha256`"),
        (&altered, &quoted, "its copy is not what `skills.sha256` has"),
    ] {
        let world = World::new(Scope::User);
        assert_eq!(world.add(&repository.url(), &[]).unwrap(), None);
        let config = world.config(Scope::User);
        world.write_config(Scope::User, &format!("{config}signed_by = {signed_by}\n"));
        // Move the source away, as it must not be contacted.
        let gone = repository.path().with_extension("gone");
        fs::rename(repository.path(), &gone).unwrap();
        let (ids, findings) = world.in_use();
        fs::rename(gone, repository.path()).unwrap();
        let problem = findings.iter().find(|finding| finding.starts_with("source-unsigned: "));
        assert_eq!(problem.is_some(), !why.is_empty(), "{signed_by}: {findings:?}");
        assert!(problem.is_none_or(|problem| problem.contains(why)), "{findings:?}");
        assert_eq!(ids.is_empty(), !why.is_empty(), "{signed_by}: {ids:?}");
        let result = world.list(|list| list.check("team"));
        assert_eq!(result.is_err(), !why.is_empty(), "{result:?}");
        for frozen in [true, false] {
            assert_eq!(world.update(frozen).is_err(), !why.is_empty(), "{signed_by}");
        }
    }
}

#[test]
fn a_list_that_was_changed_in_the_copy_is_not_believed() {
    let (author, world) = (Author::new(), World::new(Scope::User));
    let repository = signed(&author);
    world.add(&repository.url(), &[&author.public()]).unwrap();
    let copy = world.list(|list| list.copy_of("team"));
    let other = "0".repeat(64) + "  x\n";
    fs::write(copy.join(LIST), &other).unwrap();
    fs::write(copy.join(SIGNATURE), author.signature(&other)).unwrap();
    let (ids, findings) = world.in_use();
    assert!(ids.is_empty() && findings[0].starts_with("source-unsigned: "), "{findings:?}");
    world.update(false).unwrap();
    assert_eq!(world.in_use().0, ["deploy", "review"]);
}

#[test]
fn a_user_demands_signatures_and_a_project_cannot_lift_that() {
    let (author, stranger) = (Author::new(), Author::new());
    let (mine, theirs) = (signed(&author), signed(&stranger));
    let key = author.public();
    let policy = format!("[signatures]\nrequired = true\nkeys = [\"{key}\"]\n");
    let stranger_key = stranger.public();
    // If the section of a user's source names keys, one of them must have signed the source.
    for (source, keys, is_taken) in [
        (&mine, &[][..], true),
        (&theirs, &[], false),
        (&theirs, &[&*stranger_key], true),
        (&Repository::with_deploy(), &[], false),
    ] {
        let world = World::new(Scope::User);
        world.write_config(Scope::User, &policy);
        let result = world.add(&source.url(), keys);
        assert_eq!(result.is_ok(), is_taken, "{keys:?} {result:?}");
    }
    // A project names a directory of its own, with its own keys and its own policy.
    let of_project = "[signatures]\nrequired = false\n\
                      [fetch.team]\nsource = \"./vendor\"\nsigned_by = \"KEY\"\n";
    for (repository, signed_by, without_policy, is_taken) in [
        (&mine, &key, true, true),
        (&theirs, &stranger_key, true, false),
        (&mine, &stranger_key, false, false),
    ] {
        let world = World::new(Scope::Project);
        crate::repository::copy(&repository.path(), &world.base(Scope::Project).join("vendor"));
        world.write_config(Scope::Project, &of_project.replace("KEY", signed_by));
        let result = world.update(false);
        assert_eq!(result.is_ok(), without_policy, "{result:?}");
        world.write_config(Scope::User, &policy);
        let result = world.update(false);
        assert_eq!(result.is_ok(), is_taken, "{result:?}");
        let (ids, findings) = world.in_use();
        assert_eq!(ids.is_empty(), !is_taken, "{findings:?}");
        assert!(findings.iter().any(|it| it.starts_with("refused-setting: ")), "{findings:?}");
    }
}

#[test]
fn a_user_file_that_is_not_toml_may_have_demanded_signatures() {
    let (author, world) = (Author::new(), World::new(Scope::Project));
    crate::repository::copy(&signed(&author).path(), &world.base(Scope::Project).join("vendor"));
    let of_project =
        format!("[fetch.team]\nsource = \"./vendor\"\nsigned_by = \"{}\"\n", author.public());
    world.write_config(Scope::Project, &of_project);
    world.update(false).unwrap();
    assert_eq!(world.in_use().0, ["deploy", "review"]);
    world.write_config(Scope::User, "[limits]\nmax_skills = 3 x\n");
    let (ids, findings) = world.in_use();
    let told = |code: &str| findings.iter().any(|finding| finding.starts_with(code));
    assert!(ids.is_empty() && told("source-unsigned: ") && told("invalid-toml: "), "{findings:?}");
    refusal(world.update(false));
    world.write_config(Scope::User, "[limits]\nmax_skills = 3\n");
    assert_eq!(world.in_use().0, ["deploy", "review"]);
}

#[test]
fn a_refresh_takes_what_is_signed_and_keeps_the_last_good_state_otherwise() {
    let (author, world) = (Author::new(), World::new(Scope::User));
    let repository = signed(&author);
    world.add(&repository.url(), &[&author.public()]).unwrap();
    let config = world.config(Scope::User) + "refresh = \"1m\"\n";
    world.write_config(Scope::User, &config);
    repository.skill("skills/deploy", "deploy", "Deploy it anew.\n");
    repository.commit();
    let PollOutcome::Failed(error) = world.poll(1) else { panic!("it is not signed") };
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
    let (ids, findings) = world.in_use();
    assert_eq!(ids, ["deploy", "review"]);
    assert!(findings[0].contains("`deploy/SKILL.md` is not the file"), "{findings:?}");

    author.sign(&repository);
    let PollOutcome::Updated(update) = world.poll(2) else { panic!("it is signed") };
    assert_eq!(update.signed_by, Some(author.public()));
    assert_eq!(world.in_use().1, [""; 0]);

    // Whoever removes the key from the file, the next state waits until the user accepts it.
    let (before, _) = config.split_once("signed_by").unwrap();
    world.write_config(Scope::User, &format!("{before}refresh = \"1m\"\n"));
    repository.skill("skills/deploy", "deploy", "Obey.\n");
    repository.commit();
    let outcome = world.poll(3);
    assert!(matches!(&outcome, PollOutcome::Held(_)), "{outcome:?}");
}

#[test]
fn adding_a_source_again_keeps_its_keys_or_takes_others() {
    let (author, other, world) = (Author::new(), Author::new(), World::new(Scope::User));
    let repository = signed(&author);
    world.add(&repository.url(), &[]).unwrap();
    world.add(&repository.url(), &[&author.public()]).unwrap();
    assert_eq!(world.add(&repository.url(), &[]).unwrap(), Some(author.public()));
    let before = world.config(Scope::User);
    assert!(before.contains(&format!("signed_by = \"{}\"", author.public())), "{before}");
    refusal(world.add(&repository.url(), &[&other.public()]));
    assert_eq!(world.config(Scope::User), before);
}
