//! The figures of `docs/proof.md` are those that `benches/publish` measured.

use std::process::Command;

#[test]
fn every_table_is_made_from_what_was_measured() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/publish");
    let Ok(checked) = Command::new("python3").arg(program).arg("--check").output() else {
        eprintln!("SKIPPED: there is no `python3`");
        return;
    };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
