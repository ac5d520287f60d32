//! Skills that a message names only to deny them: neither text nor line.

use repertoire::{Disclosure, Engine, Session, SkillId};

use super::engine;

fn skills() -> Engine {
    engine(&[
        "---\nname: git-bisect\ndescription: Finds the commit that broke a build with bisect runs.\n\
         ---\nBisect.\n",
        "---\nname: log-search\ndescription: Searches logs for the error that broke a build.\n\
         ---\nSearch.\n",
    ])
}

fn is_shown(shown: &Disclosure, id: &str) -> bool {
    let id = SkillId::new(id);
    shown.full.contains(&id) || shown.registry.contains(&id)
}

#[test]
fn a_denied_skill_gets_neither_text_nor_line() {
    let engine = skills();
    for message in [
        "find the commit that broke the build, but don't use git-bisect",
        "find the error that broke the build without git-bisect",
        "finde den commit, der den build brach, aber nicht mit git-bisect",
        "don't use git-bisect",
    ] {
        let shown = engine.disclose(message);
        assert!(!is_shown(&shown, "git-bisect"), "{message}: {shown:?}");
        let denied = shown.omitted.iter().find(|of| of.id.as_str() == "git-bisect");
        assert_eq!(denied.map(|of| of.reason.code()), Some("denied"), "{message}: {shown:?}");
    }
    let asked = engine.disclose("find the commit that broke the build");
    assert!(is_shown(&asked, "git-bisect"), "{asked:?}");
    let both = engine.disclose("find the error that broke the build in the logs, not git-bisect");
    assert!(is_shown(&both, "log-search"), "{both:?}");
}

#[test]
fn a_denied_skill_that_the_context_lost_stays_away() {
    let engine = skills();
    let session = Session::in_memory("a");
    let say = |message: &str| engine.turn(message, &session).run().unwrap().text;
    assert!(say("use the git-bisect skill").contains("Bisect."));
    session.compacted().unwrap();
    assert!(!say("go on without git-bisect").contains("Bisect."));
    assert!(!say("go on").contains("Bisect."));
    assert!(say("use the git-bisect skill again").contains("Bisect."));
}
