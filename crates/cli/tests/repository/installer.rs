//! The installer of a release, filled in for the archives of all targets and run with an empty home, and the
//! image.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::release::{archive, root, targets, version};

/// The files of a release whose binaries are scripts that say their version.
struct Release {
    dir: TempDir,
}

impl Release {
    fn new() -> Release {
        let (dir, built) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let script = format!("#!/bin/sh\necho 'repertoire {}'\n", version());
        for name in ["repertoire", "repertoire.exe"] {
            fs::write(built.path().join(name), &script).unwrap();
            let executable = Command::new("chmod").arg("+x").arg(built.path().join(name)).status();
            assert!(executable.unwrap().success());
        }
        let page = built.path().join("share/man/man1/repertoire.1");
        fs::create_dir_all(page.parent().unwrap()).unwrap();
        fs::write(page, ".TH repertoire 1\n").unwrap();
        let release = Release { dir };
        let mut sums = String::new();
        for target in targets() {
            let out = TempDir::new().unwrap();
            let name = archive(built.path(), &target, out.path());
            fs::copy(out.path().join(&name), release.path().join(&name)).unwrap();
            sums += &String::from_utf8(run("sha256sum", &[&name], &release.path()).stdout).unwrap();
        }
        fs::write(release.path().join("SHA256SUMS"), sums).unwrap();
        let script = root().join(".ci/formulae");
        let url = "https://example.com/repertoire";
        let filled = Command::new(script).arg(url).arg(release.path()).status().unwrap();
        assert!(filled.success());
        release
    }

    fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// Runs the installer with the archives of this directory.
    fn install(&self, home: &Path, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new("sh");
        command.arg(self.path().join("install.sh")).env_clear().env("HOME", home);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("REPERTOIRE_DOWNLOADS", format!("file://{}", self.path().display()));
        command.envs(variables.iter().copied()).output().unwrap()
    }
}

fn run(program: &str, args: &[&str], dir: &Path) -> Output {
    let output = Command::new(program).args(args).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    output
}

#[test]
fn the_installer_puts_a_release_into_an_empty_home_and_checks_it_first() {
    let (release, home) = (Release::new(), TempDir::new().unwrap());
    let installed = release.install(home.path(), &[]);
    let text = String::from_utf8_lossy(&installed.stdout).into_owned();
    assert!(installed.status.success(), "{installed:?}");
    assert!(text.contains(&format!("installed repertoire {}", version())), "{text}");
    assert!(text.contains("to your PATH"), "{text}");
    assert!(home.path().join(".local/share/man/man1/repertoire.1").is_file());
    // Once more, over the program that is there, and elsewhere.
    assert!(release.install(home.path(), &[]).status.success());
    let elsewhere = home.path().join("a b");
    let installed =
        release.install(home.path(), &[("REPERTOIRE_PREFIX", elsewhere.to_str().unwrap())]);
    assert!(installed.status.success() && elsewhere.join("bin/repertoire").is_file());

    // Nothing is installed of an archive that was changed, or that is not there.
    let fresh = TempDir::new().unwrap();
    for entry in fs::read_dir(release.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "gz") {
            fs::write(path, "other").unwrap();
        }
    }
    let refused = release.install(fresh.path(), &[]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("checksum"), "{refused:?}");
    let missing = release.install(fresh.path(), &[("REPERTOIRE_DOWNLOADS", "file:///nowhere")]);
    let text = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(!missing.status.success() && text.contains("cannot download"), "{missing:?}");
    assert!(!fresh.path().join(".local").exists());
}

#[test]
fn the_image_of_a_release_takes_its_binaries() {
    let workflow = fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    let stage = workflow.split("build-args: FROM=").nth(1).unwrap().lines().next().unwrap();
    let image = fs::read_to_string(root().join("Dockerfile")).unwrap();
    assert!(image.contains(&format!("AS {stage}\n")), "{stage}");
}
