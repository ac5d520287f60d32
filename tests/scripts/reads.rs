//! The files that scripts read, by the scope of their skill.

use repertoire::catalog::Scope;
use repertoire::skill::ToolsetRights;
use repertoire::trust::ContentHash;

use super::*;

/// Reads the files that its arguments name.
const CAT: &str = r#"echo "home $HOME"
for file in "$@"; do cat "$file" 2>/dev/null || echo "closed"; done
cat "$(dirname "$0")/../notes.txt"
ls /proc/self/fd >/dev/null && getent passwd root >/dev/null && echo works"#;

#[test]
fn a_script_of_a_project_reads_what_it_asked_for_and_nothing_else_at_home() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path().canonicalize().unwrap();
    let (home, project) = (world.join("home"), world.join("home/project"));
    let keys = home.join(".ssh");
    for file in ["home/.ssh/id", "home/notes/a", "home/project/b", "home/.state/trust", "other/c"] {
        let path = world.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{file}\n")).unwrap();
    }
    let paths = ["home/.ssh/id", "home/notes/a", "home/project/b", "home/.state/trust", "other/c"];
    let args = paths.map(|path| world.join(path).display().to_string());
    let args = args.each_ref().map(String::as_str);
    let notes = || vec![home.join("notes").display().to_string()];
    let all = || vec![home.display().to_string()];
    // The scope; what the skill asks for; what was granted; the workspace; and what is open.
    let cases = [
        (Scope::User, vec![], vec![], &project, [true, true, true, false, true]),
        (Scope::Project, vec![], vec![], &project, [false, false, true, false, false]),
        (Scope::Project, notes(), vec![], &project, [false, false, true, false, false]),
        (Scope::Project, vec![], notes(), &project, [false, false, true, false, false]),
        (Scope::Project, notes(), notes(), &project, [false, true, true, false, false]),
        (Scope::Project, all(), all(), &project, [true, true, true, false, false]),
        // A workspace that holds the home of the user is not a project.
        (Scope::Project, vec![], vec![], &home, [false, false, false, false, false]),
        (Scope::Project, vec![], vec![], &world, [false, false, false, false, false]),
        // Nor is a directory that holds keys.
        (Scope::Project, vec![], vec![], &keys, [false, false, false, false, false]),
    ];
    for (scope, asked, granted, workspace, open) in cases {
        let rights = |read| ToolsetRights { read, ..ToolsetRights::default() };
        let mut place = Place::sh(CAT);
        place.write("notes.txt", "of the skill\n");
        place.options.environment = variables(&[("HOME", home.to_str().unwrap())]);
        place.options.workspace = Some(workspace.clone());
        place.options.hidden = vec![home.join(".state")];
        (place.owner.scope, place.owner.script_rights) = (scope, rights(asked.clone()));
        let script = place.root().join("scripts/a.sh");
        let hash = ContentHash::of_file(&script).unwrap();
        place.store.add_with(&script, hash, rights(granted.clone())).unwrap();
        let may = place
            .scripts()
            .abilities(&place.owner, &place.owner.script_rights.resolved())
            .to_string();
        let output = place.only(&args);
        let (first, rest) = output.stdout.split_once('\n').unwrap();
        let expected = paths.iter().zip(open);
        let expected: String = expected
            .map(|(path, open)| if open { format!("{path}\n") } else { "closed\n".to_owned() })
            .collect();
        assert_eq!(
            rest,
            format!("{expected}of the skill\nworks\n"),
            "{scope:?} {asked:?} {granted:?}"
        );
        let is_at_home = scope == Scope::User || open[1];
        assert_eq!(first == format!("home {}", home.display()), is_at_home, "{first}");
        let told = |path: &Path| may.contains(&format!("`{}`", path.display()));
        match scope {
            Scope::User => assert!(may.starts_with("reads all your files"), "{may}"),
            _ => {
                assert!(may.contains("the project in which it runs") && !told(&project), "{may}");
            }
        }
    }
}

#[test]
fn a_script_of_a_project_runs_without_the_shims_of_a_version_manager() {
    if !has("python3") {
        return;
    }
    let world = tempfile::tempdir().unwrap();
    let world = world.path().canonicalize().unwrap();
    let shims = world.join("home/.pyenv/shims");
    std::fs::create_dir_all(&shims).unwrap();
    std::fs::write(world.join("home/.pyenv/manager"), "exec /usr/bin/python3 \"$@\"\n").unwrap();
    let shim = shims.join("python3");
    std::fs::write(&shim, format!("#!/bin/sh\n. {}/home/.pyenv/manager\n", world.display()))
        .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&shim, mode).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", shims.display());
    for line in ["", "#!/usr/bin/env python3\n", &format!("#!{}\n", shim.display())] {
        let mut place = Place::py(&format!("{line}print('works')\n"));
        let home = world.join("home");
        place.options.environment = variables(&[("HOME", home.to_str().unwrap()), ("PATH", &path)]);
        place.owner.scope = Scope::Project;
        let script = place.root().join("scripts/a.py");
        let hash = ContentHash::of_file(&script).unwrap();
        place.store.add_with(&script, hash, ToolsetRights::default()).unwrap();
        let output = place.only(&[]);
        assert_eq!(output.stdout, "works\n", "{line:?}: {}", output.stderr);
    }
}

/// A script may run in any directory later, with the network that the user saw when it was trusted elsewhere.
#[test]
fn a_directory_of_keys_is_no_workspace_unless_it_is_a_project() {
    for (dir, marker, is_open) in [
        (".aws", None, false),
        (".aws", Some(".aws/.git"), false),
        (".aws/sso/cache", None, false),
        (".config", Some(".config/.git"), false),
        (".config/gh", None, false),
        (".config/gh", Some(".config/.git"), false),
        (".config/nvim", Some(".config/nvim/.git"), true),
        (".config/nvim/lua", Some(".config/nvim/.git"), true),
        (".mozilla/firefox", None, false),
        (".dotfiles/vim", Some(".dotfiles/.git"), true),
        (".agents-worktrees/fix", Some(".agents-worktrees/fix/.git"), true),
        (".dotfiles", Some(".git"), false),
        ("work/.secret", None, true),
        ("work", None, true),
        ("", Some(".git"), false),
    ] {
        for is_link in [false, true] {
            let world = tempfile::tempdir().unwrap();
            let world = world.path().canonicalize().unwrap();
            let home = world.join("home");
            let file = home.join(dir).join("key");
            std::fs::create_dir_all(home.join(dir)).unwrap();
            std::fs::write(&file, "secret\n").unwrap();
            if let Some(marker) = marker {
                std::fs::create_dir_all(home.join(marker)).unwrap();
            }
            let link = world.join("link");
            std::os::unix::fs::symlink(home.join(dir), &link).unwrap();
            let mut place = Place::sh("cat \"$1\" 2>/dev/null");
            place.options.environment = variables(&[("HOME", home.to_str().unwrap())]);
            place.options.workspace = Some(if is_link { link } else { home.join(dir) });
            place.owner.scope = Scope::Project;
            place.store.add(&place.root().join("scripts/a.sh")).unwrap();
            let output = place.only(&[file.to_str().unwrap()]);
            assert_eq!(output.stdout == "secret\n", is_open, "{dir} {marker:?} {is_link}");
        }
    }
}
