//! Signed sources, and sources that differ from what was signed.

use std::fs;
use std::path::Path;

use repertoire::catalog::Scope;
use repertoire::trust::ContentHash;
use repertoire_config::FetchSettings;
use repertoire_fetch::Fetcher;
use tempfile::TempDir;

use crate::repository::Repository;
use crate::signed::{Author, LIST, SIGNATURE, World, list, refusal, settings, signed};

#[test]
fn what_an_author_signed_is_taken_from_every_kind_of_source() {
    let (author, other) = (Author::new(), Author::new());
    let repository = signed(&author);
    let (key, place) = (author.public(), TempDir::new().unwrap());
    let path = repository.path().display().to_string();
    let archive = place.path().join("skills.tar.gz").display().to_string();
    let packer = Fetcher::new(place.path().join("cache"));
    packer.push(&settings(&path, &[]), Path::new("/"), &archive).unwrap();
    for source in [&repository.url(), &path, &archive] {
        for keys in [&[&*key][..], &[&other.public(), &key]] {
            let world = World::new(Scope::User);
            assert_eq!(world.add(source, keys).unwrap(), Some(key.clone()), "{source}");
            assert_eq!(world.update(false).unwrap(), Some(key.clone()), "{source}");
            assert_eq!(world.update(true).unwrap(), Some(key.clone()), "{source}");
            let (ids, findings) = world.in_use();
            assert_eq!((ids, findings), (vec!["deploy".to_owned(), "review".to_owned()], vec![]));
            world.list(|list| list.check("team")).unwrap();
        }
        let of_other = refusal(World::new(Scope::User).add(source, &[&other.public()]));
        assert!(of_other.contains(&**source) && of_other.contains("another key"), "{of_other}");
    }
    // One skill of a source that is signed as a whole, and a directory that is signed by itself.
    let skills = vec!["review".to_owned()];
    let one = FetchSettings { skills, ..settings(&path, &[&key]) };
    assert_eq!(World::new(Scope::User).add_with(&one).unwrap(), Some(key.clone()));
    let below = Repository::new();
    below.skill("kit/more/build", "build", "Build it.\n");
    let list = list(&below.path().join("kit"));
    below.write("kit/skills.sha256", &list);
    below.write("kit/skills.sha256.minisig", &author.signature(&list));
    below.commit();
    let in_kit = FetchSettings { path: Some("kit/".to_owned()), ..settings(&below.url(), &[&key]) };
    assert_eq!(World::new(Scope::User).add_with(&in_kit).unwrap(), Some(key));
}

#[test]
fn a_skill_that_is_the_whole_source_is_signed_too() {
    let (author, repository) = (Author::new(), Repository::new());
    repository.skill(".", "deploy", "Deploy it.\n");
    repository.write("notes.md", "Notes.\n");
    let hash = |name: &str| ContentHash::of(&fs::read(repository.path().join(name)).unwrap());
    let list = ["SKILL.md", "notes.md"].map(|name| format!("{}  {name}\n", hash(name))).concat();
    author.sign_list(&repository, &list);
    let world = World::new(Scope::User);
    world.add(&repository.url(), &[&author.public()]).unwrap();
    repository.write("notes.md", "Other notes.\n");
    repository.commit();
    assert!(refusal(world.update(false)).contains("`notes.md` is not the file that was signed"));
}

#[test]
fn what_differs_from_what_was_signed_is_refused_and_the_last_good_state_stays() {
    type Attack = fn(&Repository, &Author);
    let attacks: [(&str, Attack); 13] = [
        ("`deploy/scripts/go.sh` is not the file that was signed", |it, _| {
            it.write("skills/deploy/scripts/go.sh", "curl evil\n");
        }),
        ("`deploy/SKILL.md` is not the file that was signed", |it, _| {
            it.skill("skills/deploy", "deploy", "Obey.\n");
        }),
        ("`deploy/scripts/more.sh` is not among the files", |it, _| {
            it.write("skills/deploy/scripts/more.sh", "curl evil\n");
        }),
        ("`evil/SKILL.md` is not among the files", |it, _| it.skill("skills/evil", "evil", "")),
        ("`deploy/scripts/go.sh`, which was signed, is missing", |it, _| {
            fs::remove_file(it.path().join("skills/deploy/scripts/go.sh")).unwrap();
        }),
        ("`review/SKILL.md`, which was signed, is missing", |it, _| {
            fs::remove_dir_all(it.path().join("skills/review")).unwrap();
        }),
        ("`other/SKILL.md` is not among the files", |it, _| {
            fs::rename(it.path().join("skills/review"), it.path().join("skills/other")).unwrap();
        }),
        ("`deploy/SKILL.md` is not the file that was signed", |it, _| {
            let file = it.path().join("skills/deploy/SKILL.md");
            fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink("../review/SKILL.md", file).unwrap();
        }),
        ("`skills.sha256` or its signature was changed", |it, _| {
            it.write("skills/deploy/scripts/go.sh", "curl evil\n");
            it.write(LIST, &list(&it.path().join("skills")));
        }),
        ("signed by another key", |it, _| {
            it.write("skills/deploy/scripts/go.sh", "curl evil\n");
            Author::new().sign(it);
        }),
        ("it has no `skills.sha256` with", |it, _| {
            fs::remove_file(it.path().join(SIGNATURE)).unwrap();
        }),
        ("it has no `skills.sha256` with", |it, _| fs::remove_file(it.path().join(LIST)).unwrap()),
        ("line 1 of `skills.sha256` has no plain path", |it, author| {
            author.sign_list(it, &format!("{}  /etc/passwd\n", "0".repeat(64)));
        }),
    ];
    for (why, attack) in attacks {
        let author = Author::new();
        let (repository, world) = (signed(&author), World::new(Scope::User));
        world.add(&repository.url(), &[&author.public()]).unwrap();
        let lock = || world.list(|list| fs::read_to_string(list.lock_file()).unwrap());
        let before = lock();
        attack(&repository, &author);
        repository.commit();
        let message = refusal(world.update(false));
        assert!(message.contains(why) && message.contains(&repository.url()), "{why}: {message}");
        let (ids, findings) = world.in_use();
        assert_eq!(ids, ["deploy", "review"], "{why}");
        let [finding] = &findings[..] else { panic!("{why}: {findings:?}") };
        assert!(finding.starts_with("source-stale: ") && finding.contains(why), "{finding}");
        assert_eq!(lock(), before, "{why}");
        let copy = world.list(|list| list.copy_of("team").join("deploy/scripts/go.sh"));
        assert_eq!(fs::read_to_string(copy).unwrap(), "echo gone\n", "{why}");
        assert!(
            refusal(World::new(Scope::User).add(&repository.url(), &[&author.public()]))
                .contains(why)
        );
    }
}
