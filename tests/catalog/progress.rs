//! Progress reports while an engine is built.

use std::fs;
use std::sync::{Arc, Mutex};

use repertoire::{Engine, EngineBuilder, Phase, Progress, Skill, Source};

/// Builds an engine, and returns it with the progress reports.
fn reports(builder: EngineBuilder) -> (Engine, Arc<Mutex<Vec<Progress>>>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&reports);
    let engine = builder.progress(move |progress| told.lock().unwrap().push(progress)).build();
    (engine.unwrap(), reports)
}

fn text(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: d\ntriggers:\n  keywords: [{name}]\n  \
         patterns: ['{name}\\s+now', 'same']\n---\n"
    )
}

/// Asserts that each phase begins at zero, advances with each report, and ends at its total.
fn assert_phases(reports: &[Progress], totals: &[(Phase, usize)]) {
    let phases: Vec<&[Progress]> = reports.chunk_by(|a, b| a.phase == b.phase).collect();
    assert_eq!(phases.len(), totals.len());
    for (of_phase, &(phase, total)) in phases.into_iter().zip(totals) {
        assert!(of_phase.iter().all(|at| at.phase == phase && at.total == total), "{of_phase:?}");
        assert!(of_phase.is_sorted_by(|a, b| a.done < b.done), "{of_phase:?}");
        assert_eq!((of_phase[0].done, of_phase[of_phase.len() - 1].done), (0, total));
        assert!(total == 0 || of_phase.len() > 2, "{of_phase:?}");
    }
}

#[test]
fn each_phase_is_told_from_its_beginning_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..300 {
        let skill = dir.path().join(if i < 100 { "a" } else { "b" }).join(format!("skill-{i}"));
        fs::create_dir_all(&skill).unwrap();
        fs::write(skill.join("SKILL.md"), text(&format!("skill-{i}"))).unwrap();
    }
    let sources = ["a", "b"].map(|name| Source::user(dir.path().join(name)));
    let (engine, reports) = reports(Engine::builder().sources(sources));
    assert_phases(
        &reports.lock().unwrap(),
        &[(Phase::Reading, 300), (Phase::Compiling, 900), (Phase::Indexing, 300)],
    );

    let n_reports = reports.lock().unwrap().len();
    fs::remove_dir_all(dir.path().join("a")).unwrap();
    assert_eq!(engine.refresh().unwrap().removed.len(), 100);
    assert_eq!(reports.lock().unwrap().len(), n_reports, "a refresh is no build");
}

#[test]
fn nothing_to_do_is_done_at_once() {
    let (_, reports) = reports(Engine::builder());
    assert_phases(
        &reports.lock().unwrap(),
        &[(Phase::Reading, 0), (Phase::Compiling, 0), (Phase::Indexing, 0)],
    );
}

#[test]
fn skills_in_memory_are_compiled_and_indexed() {
    let skills = (0..100).map(|i| text(&format!("skill-{i}")).parse::<Skill>().unwrap());
    let (_, reports) = reports(skills.fold(Engine::builder(), EngineBuilder::skill));
    assert_phases(
        &reports.lock().unwrap(),
        &[(Phase::Reading, 0), (Phase::Compiling, 300), (Phase::Indexing, 100)],
    );
}
