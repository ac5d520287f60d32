//! Skills in OCI registries: a real registry, and our own registry that attacks.

use std::fs;
use std::path::PathBuf;

use repertoire::trust::ContentHash;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{Place, Run, finish};
use crate::ports::free_port;
use crate::push::write_kit;
use crate::repository::skill;
use crate::server::{SECRET, Server, assert_no_secret, serve, skip};
use crate::sign::{FORGED, assert_key_is_told, forge, signed_kit};

/// The user and the bcrypt hash of the password, in the format of `htpasswd`.
const USERS: &str = "ann:$2b$05$abcdefghijklmnopqrstuubGIO2GYAzsTYkWDBylJZ1TngL2ovaZy\n";

/// A running registry.
struct Registry {
    dir: TempDir,
    server: Server,
}

impl Registry {
    /// Starts a registry; `None` if the machine has no such program.
    fn start(has_password: bool) -> Option<Registry> {
        let Ok(program) = which::which("docker-registry") else {
            skip("docker-registry");
            return None;
        };
        let (dir, port) = (TempDir::new().unwrap(), free_port());
        let (root, users) = (dir.path().join("data"), dir.path().join("users"));
        fs::write(&users, USERS).unwrap();
        let mut config = json!({
            "version": 0.1,
            "storage": {"filesystem": {"rootdirectory": root}},
            "http": {"addr": format!("127.0.0.1:{port}")},
        });
        if has_password {
            config["auth"] = json!({"htpasswd": {"realm": "test", "path": users}});
        }
        let file = dir.path().join("config.yml");
        // JSON is valid YAML.
        fs::write(&file, config.to_string()).unwrap();
        let server = Server::start(program, ["serve".as_ref(), file.as_os_str()], port);
        Some(Registry { dir, server })
    }

    fn address(&self, name: &str) -> String {
        format!("oci://127.0.0.1:{}/{name}", self.server.port)
    }

    /// Returns the path of a blob's file.
    fn blob(&self, sha256: &str) -> PathBuf {
        let blobs = self.dir.path().join("data/docker/registry/v2/blobs/sha256");
        blobs.join(&sha256[..2]).join(sha256).join("data")
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn pushed_skills_are_added_by_their_tag_and_pinned_by_their_digest() {
    let (Some(mut registry), place) = (Registry::start(false), Place::new()) else { return };
    let address = registry.address("team/kit:v1");
    write_kit(&place, "kit", false);
    let pushed = place.run(["push", "./kit", &address, "--json"]).exits(0).json();
    let digest = text_of(&pushed["digest"]);
    // Compare with the registry's own files.
    let manifest = fs::read(registry.blob(digest.strip_prefix("sha256:").unwrap())).unwrap();
    assert_eq!(format!("sha256:{}", ContentHash::of(&manifest)), digest);
    write_kit(&place, "again", true);
    let again = place.run(["push", "./again", &registry.address("other"), "--json"]).exits(0);
    assert_eq!(again.json()["digest"], digest, "the same tree has the same digest");

    let other = Place::new();
    let added = other.run(["add", &address, "--json"]).exits(0).json();
    assert_eq!((&added["name"], &added["revision"]), (&json!("kit"), &json!(digest)));
    assert_eq!(added["skills"], json!(["build", "deploy"]));
    other.run(["outdated"]).exits(0);
    other.run(["trust", "add", "deploy", "--yes"]).exits(0);
    assert_eq!(other.run(["run", "deploy", "go.sh"]).exits(0).stdout, "gone\n");

    place.write("kit/skills/deploy/SKILL.md", skill("deploy", "", "Deploy it at night.\n"));
    place.run(["push", "./kit", &address]).exits(0);
    other.run(["outdated"]).exits(1);
    // The tag has moved, but the pinned version is still fetched.
    fs::remove_dir_all(other.path().join("home/.cache")).unwrap();
    other.run(["update", "--frozen"]).exits(0);
    assert!(other.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
    let pinned = Place::new();
    let name = registry.address("team/kit");
    pinned.run(["add", &name, "--rev", digest]).exits(0);
    pinned.run(["outdated"]).exits(0);
    other.run(["update"]).exits(0);
    assert!(other.run(["use", "deploy"]).exits(0).stdout.contains("at night"));

    let missing = place.run(["add", &registry.address("team/kit:v9"), "--json"]).exits(1).json();
    assert_eq!(missing["error"]["code"], "NOT_FOUND", "{missing}");
    registry.server.stop();
    let failed = other.run(["update", "--json"]).exits(1).json();
    assert_eq!(failed["sources"][0]["error"]["code"], "EXECUTION_ERROR", "{failed}");
    assert!(other.run(["use", "deploy"]).exits(0).stdout.contains("at night"));
}

#[test]
fn the_credentials_are_those_of_docker_and_are_not_kept() {
    let (Some(registry), place) = (Registry::start(true), Place::new()) else { return };
    let address = registry.address("team/kit:v1");
    write_kit(&place, "kit", false);
    let run = |args: &[&str], password: Option<&str>| -> Run {
        let mut command = place.command(args);
        let dir = TempDir::new().unwrap();
        if let Some(password) = password {
            let auth = data_encoding::BASE64.encode(format!("ann:{password}").as_bytes());
            let host = format!("127.0.0.1:{}", registry.server.port);
            let config = json!({"auths": {host: {"auth": auth}}});
            fs::write(dir.path().join("config.json"), config.to_string()).unwrap();
        }
        command.env("DOCKER_CONFIG", dir.path());
        finish(command, b"")
    };
    for password in [None, Some("wr0ng")] {
        for args in [&["push", "./kit", &address, "--json"][..], &["add", &address, "--json"]] {
            let refused = run(args, password).exits(1);
            assert_eq!(refused.json()["error"]["code"], "PERMISSION_DENIED", "{refused:?}");
            assert!(!format!("{refused:?}").contains("wr0ng"), "{refused:?}");
        }
    }
    run(&["push", "./kit", &address], Some(SECRET)).exits(0);
    run(&["add", &address], Some(SECRET)).exits(0);
    run(&["update"], Some(SECRET)).exits(0);
    assert_no_secret(place.path());
}

#[test]
fn a_signed_artifact_is_taken_until_it_is_not_what_was_signed() {
    let (Some(registry), place) = (Registry::start(false), Place::new()) else { return };
    let address = registry.address("team/kit:v1");
    let key = signed_kit(&place, "kit");
    place.run(["push", "./kit", &address]).exits(0);
    let user = Place::new();
    let add = ["add", &address, "--signed-by", &key, "--json"];
    assert_eq!(user.run(add).exits(0).json()["signed_by"], json!(key));
    assert_key_is_told(&key, |args| user.run(args));

    forge(&place, "kit");
    place.run(["push", "./kit", &address]).exits(0);
    let refused = user.run(["update", "--json"]).exits(1).json();
    let error = &refused["sources"][0]["error"];
    assert_eq!(error["code"], "PERMISSION_DENIED", "{refused}");
    assert!(text_of(&error["message"]).contains(FORGED), "{refused}");
    assert!(user.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
    let refused = Place::new().run(add).exits(1).json();
    assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
}

#[test]
fn contents_that_were_changed_in_the_registry_are_refused() {
    let (Some(registry), place) = (Registry::start(false), Place::new()) else { return };
    let address = registry.address("team/kit:v1");
    write_kit(&place, "kit", false);
    let pushed = place.run(["push", "./kit", &address, "--json"]).exits(0).json();
    let layer = registry.blob(text_of(&pushed["sha256"]));
    let good = fs::read(&layer).unwrap();
    fs::write(&layer, [&good[..good.len() - 1], b"x"].concat()).unwrap();
    let refused = place.run(["add", &address, "--json"]).exits(1).json();
    assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
    fs::write(&layer, good).unwrap();
    place.run(["add", &address]).exits(0);
}

/// Starts a registry with this manifest and this layer, and returns the address of the artifact.
fn registry_of(manifest: Vec<u8>, layer: Vec<u8>) -> String {
    let answer = move |target: &str| match target {
        "/v2/" => Some(b"{}".to_vec()),
        _ if target.contains("/manifests/") => Some(manifest.clone()),
        _ if target.contains("/blobs/") => Some(layer.clone()),
        _ => None,
    };
    let headers = "Content-Type: application/vnd.oci.image.manifest.v1+json\r\n";
    format!("oci://127.0.0.1:{}/kit:v1", serve(answer, headers))
}

fn manifest_of(layers: &[(&str, &str)]) -> Value {
    let layers = layers
        .iter()
        .map(|(media_type, digest)| json!({"mediaType": media_type, "digest": digest, "size": 1}));
    json!({
        "schemaVersion": 2,
        "config": {"mediaType": "x", "digest": "sha256:0", "size": 0},
        "layers": layers.collect::<Vec<_>>(),
    })
}

#[test]
fn hostile_registries_are_refused_and_nothing_is_written_outside_of_the_cache() {
    let tar_type = "application/vnd.oci.image.layer.v1.tar";
    let archive = |path: &str| {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, text) in
            [("skills/good/SKILL.md", skill("good", "", "Good.\n")), (path, "x".into())]
        {
            let mut header = tar::Header::new_gnu();
            // Written as bytes, because the library refuses to write hostile names.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            tar.append(&header, text.as_bytes()).unwrap();
        }
        tar.into_inner().unwrap()
    };
    let digest = |layer: &[u8]| format!("sha256:{}", ContentHash::of(layer));
    let one = |layer: &[u8]| manifest_of(&[(tar_type, &digest(layer))]).to_string();
    let (good, bad) = (archive("skills/good/more.md"), archive("skills/good/../../../x"));
    let two = manifest_of(&[(tar_type, &digest(&good)), (tar_type, &digest(&good))]).to_string();
    let none = manifest_of(&[("application/json", &digest(&good))]).to_string();
    let escaping = manifest_of(&[(tar_type, "sha256:../../x")]).to_string();
    let index = json!({"schemaVersion": 2, "manifests": []}).to_string();
    for (name, manifest, layer, code, why) in [
        ("good", one(&good), &good, "", ""),
        ("hostile", one(&bad), &bad, "PERMISSION_DENIED", "leaves it"),
        ("other layer", one(&good), &bad, "PERMISSION_DENIED", "does not have its digest"),
        ("two", two, &good, "INVALID_PARAM", "exactly one archive"),
        ("none", none, &good, "INVALID_PARAM", "exactly one archive"),
        ("escaping", escaping, &good, "INVALID_PARAM", "SHA-256"),
        ("index", index, &good, "INVALID_PARAM", "not an artifact"),
        ("no JSON", "{".to_owned(), &good, "INVALID_PARAM", "not an artifact"),
    ] {
        let address = registry_of(manifest.into_bytes(), layer.clone());
        let place = Place::new();
        let run = place.run(["add", &address, "--json"]);
        if code.is_empty() {
            assert_eq!(run.exits(0).json()["skills"], json!(["good"]), "{name}");
            continue;
        }
        let error = &run.exits(1).json()["error"];
        assert_eq!(error["code"], code, "{name}: {error}");
        assert!(text_of(&error["message"]).contains(why), "{name}: {error}");
        let written = walkdir::WalkDir::new(place.path()).into_iter().map(Result::unwrap);
        let mut written = written.filter(|entry| entry.file_type().is_file());
        let outside = written.find(|entry| !entry.path().to_string_lossy().contains("/fetch/"));
        assert!(outside.is_none(), "{name}: {outside:?}");
    }
    // A manifest that is requested by its digest must have that digest.
    let address = registry_of(one(&good).into_bytes(), good.clone());
    let place = Place::new();
    let wrong = format!("sha256:{}", "0".repeat(64));
    let error = place.run(["add", &address, "--rev", &wrong, "--json"]).exits(1).json();
    assert_eq!(error["error"]["code"], "PERMISSION_DENIED", "{error}");
}
