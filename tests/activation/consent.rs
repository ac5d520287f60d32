//! Activations that need the user's consent.

use std::sync::{Arc, Mutex};

use repertoire::activation::{MountLimits, Risk};
use repertoire::{Audience, Consent, ConsentPolicy, ErrorCode};
use serde_json::json;

use super::{builder, message, skills, write};

#[test]
fn consent_is_asked_for_as_the_policy_says() {
    let dir = skills(&[("a", "", "A"), ("b", "", "B")]);
    write(dir.path(), "a/scripts/run.sh", "#!/bin/sh\n");
    for (policy, needed) in [
        (ConsentPolicy::Never, [false, false, false]),
        (ConsentPolicy::FirstUse, [true, false, false]),
        (ConsentPolicy::Always, [true, true, true]),
    ] {
        // First, the host asks the user itself and passes the consent on.
        let engine = builder(&dir).consent(Consent::new(policy)).build().unwrap();
        let session = engine.session("s");
        for (nth, needed) in needed.into_iter().enumerate() {
            let first = engine.activate("a", "", &session);
            if needed {
                assert_eq!(first.unwrap_err().code(), ErrorCode::ConsentRequired, "{policy:?}");
                let request = engine.consent_request("a", &session, Audience::Model).unwrap();
                let risk = if nth == 0 { Risk::Risky } else { Risk::Safe };
                assert_eq!((request.risk, request.description.as_str()), (risk, "Does a."));
                assert!(request.tree.contains("run.sh"), "{}", request.tree);
                session.consent(&request.id).unwrap();
                engine.activate("a", "", &session).unwrap();
            } else {
                first.unwrap();
            }
        }
        let other = engine.session("other").state().unwrap();
        assert!(other.skills.is_empty(), "sessions are isolated");

        // Then, the engine asks through its callback.
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let consent = Consent::new(policy).ask(move |request| {
            log.lock().unwrap().push((request.id.to_string(), request.risk));
            assert_eq!(request.session, "asked in");
            request.id == "a"
        });
        let engine = builder(&dir).consent(consent).build().unwrap();
        let session = engine.session("asked in");
        for _ in needed {
            engine.activate("a", "", &session).unwrap();
        }
        assert_eq!(
            asked.lock().unwrap().len(),
            needed.iter().filter(|n| **n).count(),
            "{policy:?}"
        );
        if policy != ConsentPolicy::Never {
            let before = session.state().unwrap();
            let error = engine.user_message("/b", &session).unwrap_err();
            assert_eq!(error.code(), ErrorCode::ConsentRequired);
            assert_eq!(session.state().unwrap(), before, "a refusal changes nothing");
        }
    }
}

#[test]
fn a_consent_for_one_activation_serves_one_however_many_ask_at_once() {
    let dir = skills(&[("a", "", "A")]);
    let engine = builder(&dir).consent(Consent::new(ConsentPolicy::Always)).build().unwrap();
    for round in 0..50 {
        let session = engine.session(&format!("s{round}"));
        session.consent(&"a".into()).unwrap();
        let activate = || engine.activate("a", "", &session).is_ok();
        let served = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(activate)).collect();
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>()
        });
        assert_eq!(served, 1);
    }
}

#[test]
fn files_and_scripts_wait_for_consent_too() {
    let dir = skills(&[("a", "", "A")]);
    write(dir.path(), "a/notes.md", "notes");
    let consent = Consent::new(ConsentPolicy::FirstUse);
    let engine = builder(&dir).consent(consent).build().unwrap();
    let session = engine.session("s");
    let tools = engine.tools(&session);
    let read = || tools.call("read_skill_file", &json!({"skill": "a", "path": "notes.md"}));
    assert_eq!(read().code(), Some(ErrorCode::ConsentRequired));
    assert!(message(&read()).contains("`a`"));
    let target = tempfile::tempdir().unwrap();
    let mounted = engine.mount("a", target.path(), &session, &MountLimits::default());
    assert_eq!(mounted.unwrap_err().code(), ErrorCode::ConsentRequired);
    session.consent(&"a".into()).unwrap();
    assert_eq!(read().code(), None);
    engine.mount("a", target.path(), &session, &MountLimits::default()).unwrap();
}
