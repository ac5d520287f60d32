//! The scripts of a skill, their interpreters, and the files next to them.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use repertoire::ErrorCode;

use super::*;

fn make_executable(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_first_line_decides_then_the_extension() {
    let place = Place::with(&[
        ("scripts/by_line", "#!/usr/bin/env sh\necho line \"$@\""),
        ("scripts/absolute.py", "#!/bin/sh\necho absolute \"$@\""),
        ("scripts/extension.sh", "echo extension \"$@\""),
    ]);
    std::fs::copy("/bin/echo", place.root().join("scripts/program")).unwrap();
    make_executable(&place.root().join("scripts/program"));
    for (script, expected) in [
        ("by_line", "line a b\n"),
        ("absolute.py", "absolute a b\n"),
        ("extension.sh", "extension a b\n"),
        ("program", "a b\n"),
    ] {
        assert_eq!(place.run(script, &["a", "b"]).unwrap().stdout, expected);
    }
    if has("node") {
        place.write("scripts/a.js", "console.log(process.argv.slice(2).join())");
        assert_eq!(place.run("a.js", &["a", "b"]).unwrap().stdout, "a,b\n");
    }
}

#[test]
fn interpreters_are_those_of_the_path() {
    let bin = tempfile::tempdir().unwrap();
    for name in ["ruby", "pwsh", "tsx"] {
        let path = bin.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\"")).unwrap();
        make_executable(&path);
    }
    let node = bin.path().join("node");
    let mut place =
        Place::with(&[("scripts/a.rb", ""), ("scripts/a.ps1", ""), ("scripts/a.ts", "")]);
    place.options.environment = variables(&[("PATH", bin.path().to_str().unwrap())]);
    let shown = |output: ScriptOutput| {
        let words =
            output.stdout.split_whitespace().map(|word| match word.rsplit_once("/skill/") {
                Some((_, path)) => path.to_owned(),
                None => word.to_owned(),
            });
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(place.run("a.rb", &["x"]).unwrap()), "ruby scripts/a.rb x");
    let expected = "pwsh -NoProfile -File scripts/a.ps1 x";
    assert_eq!(shown(place.run("a.ps1", &["x"]).unwrap()), expected);
    assert_eq!(shown(place.run("a.ts", &["x"]).unwrap()), "tsx scripts/a.ts x");
    std::fs::remove_file(bin.path().join("tsx")).unwrap();
    for (version, runs) in [("v22.18.0", true), ("v24.1.2", true), ("v20.9.0", false), ("", false)]
    {
        let text = format!("#!/bin/sh\n[ $1 = --version ] && echo {version} || echo node \"$@\"");
        std::fs::write(&node, text).unwrap();
        make_executable(&node);
        let ran = place.run("a.ts", &["x"]);
        assert_eq!(ran.is_ok(), runs, "{version}: {ran:?}");
    }
}

#[test]
fn a_missing_interpreter_is_named_with_the_remedy() {
    let mut place = Place::with(&[
        ("scripts/a.rb", "puts 1"),
        ("scripts/b", "#!/usr/bin/env perl6\n"),
        ("scripts/c.json", "{}"),
    ]);
    place.options.environment = variables(&[("PATH", "/no/such/place")]);
    for (script, message, help) in [
        ("a.rb", "needs `ruby`, and it is not on the PATH", "install `ruby`"),
        ("b", "needs `perl6`, and it is not on the PATH", "install `perl6`"),
        (
            "c.json",
            "has no first line such as `#!/usr/bin/env bash`, and no extension that says what \
             runs it",
            "write such a line; or, if it is not a script, keep it out of `scripts`",
        ),
    ] {
        let error = place.run(script, &[]).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError);
        let expected = format!("the script `scripts/{script}` of the skill `tried` {message}");
        assert_eq!((error.message(), error.help()), (&*expected, help));
    }
    let listed = place.scripts().list(&place.owner).unwrap();
    let problem = listed[0].problem.as_deref();
    assert_eq!(problem, Some("it needs `ruby`, and it is not on the PATH"));
}

#[test]
fn scripts_are_listed_with_what_they_say() {
    let mut place = Place::with(&[
        ("scripts/b.sh", "#!/bin/sh\n# Says hello.\n\necho hello"),
        ("scripts/deep/er/a.py", "\"\"\"Counts.\"\"\"\n"),
        ("scripts/.hidden.sh", "#!/bin/sh\n"),
        ("scripts/.dir/a.sh", "#!/bin/sh\n"),
        ("scripts/__pycache__/a.sh", "#!/bin/sh\n"),
        ("scripts/node_modules/x/a.js", ""),
        ("bin/tool", "#!/bin/sh\n"),
        ("a.sh", "#!/bin/sh\n"),
    ]);
    symlink("b.sh", place.root().join("scripts/link.sh")).unwrap();
    let names = |place: &Place| -> Vec<String> {
        let listed = place.scripts().list(&place.owner).unwrap();
        listed.into_iter().map(|script| script.path).collect()
    };
    assert_eq!(names(&place), ["scripts/b.sh", "scripts/deep/er/a.py"]);
    let listed = place.scripts().list(&place.owner).unwrap();
    assert_eq!(listed[0].help.as_deref(), Some("Says hello."));
    assert_eq!(listed[0].interpreter.as_deref(), Some("/bin/sh"));
    assert_eq!(listed[1].help.as_deref(), Some("Counts."));

    let declared = ["bin/tool", "b.sh", "./a.sh", "missing.sh", "../out.sh", "/bin/sh", "bin"];
    place.owner.scripts = Some(declared.map(str::to_owned).to_vec());
    let listed = place.scripts().list(&place.owner).unwrap();
    let shown: Vec<_> = listed.iter().map(|s| (&*s.path, s.problem.is_none())).collect();
    // Files that cannot be requested are not in the list.
    let expected = [
        ("a.sh", true),
        ("bin", false),
        ("bin/tool", true),
        ("missing.sh", false),
        ("scripts/b.sh", true),
    ];
    assert_eq!(shown, expected);
    assert!(place.run("a.sh", &[]).unwrap().is_success(), "others do not matter");
    let error = place.run("none.sh", &[]).unwrap_err();
    let all = "it has `a.sh`, `bin`, `bin/tool`, `missing.sh`, `scripts/b.sh`";
    assert_eq!(error.help(), all);
    let error = place.run("missing.sh", &[]).unwrap_err();
    assert!(error.message().contains("the skill `tried`"), "{error}");
    assert_eq!(error.help(), "fix its path, or write the file");
    place.owner.scripts = Some(Vec::new());
    assert_eq!(names(&place), Vec::<String>::new());
    assert_eq!(place.run("b.sh", &[]).unwrap_err().code(), ErrorCode::NotFound);
    place.owner.dir = place.root().join("missing");
    let error = place.scripts().list(&place.owner).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert_eq!(names(&Place::with(&[])), Vec::<String>::new());
}

#[test]
fn declared_scripts_run_where_they_stand() {
    let mut place = Place::with(&[
        (
            "bin/tool",
            "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"; cat \"$(dirname \"$0\")/../data\"",
        ),
        ("bin/lib.sh", "echo lib"),
        ("data", "data\n"),
        ("scripts/other.sh", "#!/bin/sh\n"),
    ]);
    place.owner.scripts = Some(vec!["bin/tool".to_owned()]);
    assert_eq!(place.run("bin/tool", &[]).unwrap().stdout, "lib\ndata\n");
    let error = place.run("other.sh", &[]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert_eq!(error.help(), "it has `bin/tool`");
}

#[test]
fn scripts_see_each_other_and_the_skill() {
    let place = Place::with(&[
        (
            "scripts/a.sh",
            "#!/bin/sh\n. \"$(dirname \"$0\")/lib/b.sh\"; \"$(dirname \"$0\")/c\"; ls \"$(dirname \"$0\")\"/..",
        ),
        ("scripts/lib/b.sh", "echo b"),
        ("scripts/c", "#!/bin/sh\necho c"),
        ("references/x.md", ""),
    ]);
    make_executable(&place.root().join("scripts/c"));
    let output = place.run("a.sh", &[]).unwrap();
    assert_eq!(output.stdout, "b\nc\nSKILL.md\nreferences\nscripts\n", "{output:?}");
}

#[test]
fn python_imports_what_was_checked_and_no_old_bytecode() {
    if !has("python3") {
        return;
    }
    let place = Place::with(&[
        (
            "scripts/a.py",
            "import sibling, sys\nprint(sibling.text, sys.path[0].endswith('/scripts'))",
        ),
        ("scripts/sibling.py", "text = 'old'"),
    ]);
    // Bytecode whose header says that it must not be compared with its source.
    let compiled = std::process::Command::new("/usr/bin/python3")
        .args(["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"])
        .arg(place.root().join("scripts"))
        .status()
        .unwrap();
    assert!(compiled.success() && place.root().join("scripts/__pycache__").is_dir());
    place.write("scripts/sibling.py", "text = 'new'");
    let output = place.run("a.py", &[]).unwrap();
    assert_eq!(output.stdout, "new True\n", "{output:?}");
}

#[test]
fn what_cannot_interpret_is_named_with_the_script_and_the_remedy() {
    let mut place = Place::with(&[
        ("scripts/file", "#!/etc/passwd\n"),
        ("scripts/dir", "#!/etc\n"),
        ("scripts/nul", "#!/bin/sh\0\n"),
        ("scripts/broken", "#!/usr/bin/env broken\n"),
    ]);
    let bin = tempfile::tempdir().unwrap();
    let broken = bin.path().join("broken");
    std::fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
    make_executable(&broken);
    place.options.environment = variables(&[("PATH", bin.path().to_str().unwrap())]);
    for (script, reason) in [
        ("file", "names `/etc/passwd`, which is not a program that can be run"),
        ("dir", "names `/etc`, which is not a program that can be run"),
        ("nul", "has a first line that has a NUL byte"),
        ("broken", broken.to_str().unwrap()),
    ] {
        let error = place.run(script, &[]).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError, "{error}");
        let told = format!("{error:#}");
        for word in [reason, &format!("the script `scripts/{script}` of the skill `tried`")] {
            assert!(told.contains(word), "{word} in {told}");
        }
        assert!(!error.help().is_empty() && !told.contains("exec:"), "{told}");
    }
}

#[test]
fn scripts_of_a_sub_skill_are_none_of_its_parents() {
    let skill = "---\nname: inner\ndescription: Inner.\n---\n";
    let mut place = Place::with(&[
        ("scripts/a.sh", "#!/bin/sh\n"),
        ("scripts/sub/SKILL.md", skill),
        ("scripts/sub/run.sh", "#!/bin/sh\n"),
        ("scripts/sub/deep/run.sh", "#!/bin/sh\n"),
        ("other/skill.md", skill),
        ("other/scripts/b.sh", "#!/bin/sh\n"),
    ]);
    let declared =
        ["scripts/a.sh", "scripts/sub/run.sh", "scripts/sub/deep/run.sh", "other/scripts/b.sh"];
    for scripts in [None, Some(declared.map(str::to_owned).to_vec())] {
        place.owner.scripts = scripts;
        let listed = place.scripts().list(&place.owner).unwrap();
        assert_eq!(listed.iter().map(|script| &*script.path).collect::<Vec<_>>(), ["scripts/a.sh"]);
        assert_eq!(
            Scripts::compared_files(&place.owner).unwrap(),
            [place.root().join("scripts/a.sh")]
        );
        for name in [&declared[1..], &["sub/deep/run.sh", "sub/run.sh"]].concat() {
            let error = place.run(name, &[]).unwrap_err();
            assert_eq!(error.code(), ErrorCode::NotFound, "{name}");
            assert_eq!(error.help(), "it has `scripts/a.sh`");
        }
        assert!(place.only(&[]).is_success());
    }
    place.write("scripts/SKILL.md", skill);
    place.owner.scripts = None;
    assert!(place.scripts().list(&place.owner).unwrap().is_empty());
}
