//! Settings of git in a working directory: they are somebody else's, and start nothing.

use std::fs;

use crate::binary::{Place, finish};
use crate::repository::Repository;

/// A working directory with settings of git that name programs: unpacked with its `.git`, or cloned with a bare
/// repository in a directory.
#[test]
fn settings_of_git_where_a_command_runs_start_nothing() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    place.run(["add", &repository.url(), "--name", "kit"]).exits(0);
    let mark = place.path().join("mark");
    let run = format!("touch {}", mark.display());
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {run}\n\tsshCommand = {run}\n\tgitProxy = {run}\n\
         \thooksPath = hooks\n[credential]\n\thelper = \"!{run}\"\n[protocol \"ext\"]\n\tallow = always\n\
         [uploadpack]\n\tpackObjectsHook = {run}\n[url \"ext::./run \"]\n\tinsteadOf = file://\n"
    );
    for at in ["project/.git", "project/docs"] {
        for (name, text) in [
            ("config", config.as_str()),
            ("HEAD", "ref: refs/heads/main\n"),
            ("objects/.keep", ""),
            ("refs/.keep", ""),
        ] {
            place.write(&format!("{at}/{name}"), text);
        }
    }
    place.write("project/run", format!("#!/bin/sh\n{run}\n"));
    place.write("project/docs/run", format!("#!/bin/sh\n{run}\n"));
    for file in ["project/run", "project/docs/run"] {
        let path = place.path().join(file);
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let other = Repository::with_deploy();
    place.write(
        "project/.repertoire/config.toml",
        format!("[fetch.own]\nsource = \"{}\"\n", other.url()),
    );
    for dir in ["project", "project/docs"] {
        for args in [
            &["outdated"][..],
            &["update", "--dry-run"],
            &["update"],
            &["add", &other.url(), "--list"],
            &["list"],
            &["doctor"],
            &["check"],
        ] {
            let mut command = place.command(args);
            command.current_dir(place.path().join(dir));
            finish(command, b"");
            assert!(!mark.exists(), "{dir}: {args:?}");
        }
    }
}
