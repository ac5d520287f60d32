//! MCP's Skills extension, tested with a client in this process.

use std::fs::{self, File};

use repertoire::{ConsentPolicy, Engine, Source};
use repertoire_mcp::{McpOptions, McpServer};
use rmcp::model::{
    CacheScope, ElicitationAction, ErrorCode, GetSkillRequestParams, PaginatedRequestParams,
    ReadResourceDirectoryRequestParams, ReadResourceRequestParams, Skill, SkillResources,
};
use rmcp::service::{
    ClientLifecycleMode, RoleClient, RunningService, ServiceExt, serve_client_with_lifecycle,
};
use serde_json::{Value, json};

use crate::peer::{Told, code, connect, modern, simple};
use crate::skills;

type Client = RunningService<RoleClient, Told>;

/// Connects a client to a server of the skills in `dir`.
pub(super) async fn client_of(dir: &std::path::Path) -> Client {
    let engine = Engine::builder().source(Source::user(dir)).build().unwrap();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = McpServer::new(&engine, McpOptions::default());
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await.unwrap() });
    Told::default().serve(ours).await.unwrap()
}

#[tokio::test]
async fn instructions_leave_the_list_to_a_client_that_declares_the_extension() {
    for lists_skills in [false, true] {
        for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
            let skills = skills();
            let engine = Engine::builder().source(Source::user(skills.path())).build().unwrap();
            let server = McpServer::new(&engine, McpOptions::default());
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
            let told = Told { lists_skills, ..Told::default() };
            let client = serve_client_with_lifecycle(told, ours, lifecycle).await.unwrap();
            let instructions = client.peer_info().unwrap().instructions.clone().unwrap();
            assert!(instructions.contains("call `use_skill`"), "{instructions}");
            assert_eq!(instructions.contains("Does sven/plan."), !lists_skills, "{instructions}");
            let listed = client.list_all_skills().await.unwrap();
            assert!(listed.iter().any(|skill| skill.uri == "skill://sven/plan/SKILL.md"));
        }
    }
}

/// Reads the bytes of a resource.
async fn bytes(client: &Client, uri: &str) -> Vec<u8> {
    let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    let contents = serde_json::to_value(&read.contents[0]).unwrap();
    assert_eq!(contents["uri"], uri);
    match contents["text"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => {
            data_encoding::BASE64.decode(contents["blob"].as_str().unwrap().as_bytes()).unwrap()
        }
    }
}

fn files(skill: &Skill) -> Vec<&str> {
    let SkillResources::Files(files) = &skill.resources else { panic!("{skill:?}") };
    files.iter().map(|file| file.uri.as_str()).collect()
}

/// Compares every file of a skill with its digest and size.
async fn verify(client: &Client, skill: &Skill) {
    let SkillResources::Files(files) = &skill.resources else { panic!("{skill:?}") };
    for file in files {
        file.verify(&bytes(client, &file.uri).await).unwrap();
    }
}

#[tokio::test]
async fn skills_are_listed_with_the_digests_of_what_is_read() {
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        let place = connect(lifecycle, ConsentPolicy::Never, None).await;
        let client = &place.client;
        let skills = client.list_all_skills().await.unwrap();
        let uris: Vec<&str> = skills.iter().map(|skill| skill.uri.as_str()).collect();
        let expected = ["forked", "hello", "review", "slow", "sven", "sven/plan"];
        assert_eq!(uris, expected.map(|path| format!("skill://{path}/SKILL.md")));
        let review = &skills[2];
        let front_matter = serde_json::to_value(&review.frontmatter).unwrap();
        let written = json!({
            "name": "review",
            "description": "Does review.",
            "argument-hint": "[pr]",
            "triggers": {"keywords": ["pull request"]},
        });
        assert_eq!(front_matter, written);
        // The files of a nested skill also belong to the skill above it.
        let sven = ["SKILL.md", "plan/SKILL.md", "plan/steps.md"];
        assert_eq!(files(&skills[4]), sven.map(|file| format!("skill://sven/{file}")));
        for skill in &skills {
            verify(client, skill).await;
            let got = client.get_skill(GetSkillRequestParams::new(&skill.uri)).await.unwrap();
            assert_eq!(&got.skill, skill);
            assert_eq!(got.cache_scope, Some(CacheScope::Private));
            assert!(got.ttl_ms.is_some_and(|ttl| ttl > 0), "{got:?}");
        }
    }
}

#[tokio::test]
async fn an_entry_follows_its_files() {
    let place = simple().await;
    let get = async || {
        let params = GetSkillRequestParams::new("skill://review/SKILL.md");
        place.client.get_skill(params).await.unwrap().skill
    };
    let before = get().await;
    fs::write(place.dir.path().join("review/ref/how to.md"), "Look thrice.\n").unwrap();
    fs::write(place.dir.path().join("review/new.md"), "New.\n").unwrap();
    let after = get().await;
    assert_eq!(files(&after).len(), files(&before).len() + 1);
    assert_ne!(before, after);
    verify(&place.client, &after).await;
}

#[tokio::test]
async fn what_is_not_there_is_an_invalid_parameter() {
    let place = simple().await;
    for uri in [
        "skill://nobody/SKILL.md",
        "skill://user-only/SKILL.md",
        "skill://review/ref/SKILL.md",
        "skill://sven%2Fplan/SKILL.md",
        "skill://review/logo.png",
        "file:///review/SKILL.md",
    ] {
        let error = place.client.get_skill(GetSkillRequestParams::new(uri)).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::INVALID_PARAMS, "{uri}: {error:?}");
    }
    for uri in [
        "skill://review/SKILL.md",
        "skill://review/",
        "skill://review/nothing",
        "skill://review/..",
        "skill://user-only",
        "skill://nobody",
        "skill://",
        "file:///",
    ] {
        let params = ReadResourceDirectoryRequestParams::new(uri);
        let error = place.client.read_resource_directory(params).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::INVALID_PARAMS, "{uri}: {error:?}");
    }
}

#[tokio::test]
async fn directories_are_read_level_by_level() {
    let place = simple().await;
    fs::create_dir(place.dir.path().join("review/empty")).unwrap();
    for (uri, children) in [
        (
            "skill://review",
            json!([
                ["SKILL.md", "text/markdown"],
                ["empty", null],
                ["logo.png", "image/png"],
                ["ref", "inode/directory"],
            ]),
        ),
        ("skill://review/ref", json!([["how%20to.md", "text/markdown"]])),
        ("skill://review/empty", json!([])),
        ("skill://sven", json!([["SKILL.md", "text/markdown"], ["plan", "inode/directory"]])),
        (
            "skill://sven/plan",
            json!([["SKILL.md", "text/markdown"], ["steps.md", "text/markdown"]]),
        ),
    ] {
        let params = ReadResourceDirectoryRequestParams::new(uri);
        let read = place.client.read_resource_directory(params).await.unwrap();
        // A directory without files exists if a client asks for its name, but no list contains it.
        let expected = children.as_array().unwrap().iter().filter(|child| !child[1].is_null());
        let expected: Vec<Value> = expected
            .map(|child| json!([format!("{uri}/{}", child[0].as_str().unwrap()), child[1]]))
            .collect();
        let read: Vec<Value> = read.resources.iter().map(|r| json!([r.uri, r.mime_type])).collect();
        assert_eq!(read, expected, "{uri}");
    }
}

#[tokio::test]
async fn skills_that_other_readers_refuse_are_served_in_a_form_they_take() {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("Code Review/SKILL.md", "---\ndescription: Reviews.\n---\nLook.\n"),
        ("loose/skill.md", "---\nname: Loose One\ndescription: use: it\n---\nLook.\n"),
        ("dir/SKILL.md", "---\nname: other\ndescription: d\n---\nLook.\n"),
        ("dir/sub/SKILL.md", "---\nname: below\ndescription: d\n---\nLook.\n"),
        ("dir/sub/a.md", "a"),
    ] {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let client = client_of(dir.path()).await;
    let skills = client.list_all_skills().await.unwrap();
    let uris: Vec<&str> = skills.iter().map(|skill| skill.uri.as_str()).collect();
    let expected = [
        "skill://Code%20Review/code-review/SKILL.md",
        "skill://dir/sub/below/SKILL.md",
        "skill://loose/loose-one/SKILL.md",
        "skill://other/SKILL.md",
    ];
    assert_eq!(uris, expected);
    for skill in &skills {
        verify(&client, skill).await;
    }
    let other = ["SKILL.md", "sub/SKILL.md", "sub/a.md"];
    assert_eq!(files(&skills[3]), other.map(|file| format!("skill://other/{file}")));
    let text = String::from_utf8(bytes(&client, &skills[2].uri).await).unwrap();
    assert_eq!(text, "---\nname: \"loose-one\"\ndescription: \"use: it\"\n---\nLook.\n");
}

#[tokio::test]
async fn the_list_comes_in_pages_without_what_is_too_large() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..120 {
        let skill = dir.path().join(format!("s{n}"));
        fs::create_dir(&skill).unwrap();
        fs::write(skill.join("SKILL.md"), "---\ndescription: d\n---\n").unwrap();
    }
    for n in 0..512 {
        fs::write(dir.path().join(format!("s7/{n}.txt")), "x").unwrap();
    }
    for n in 0..511 {
        fs::write(dir.path().join(format!("s8/{n}.txt")), "x").unwrap();
    }
    for (file, mib) in [("s9/a", 6), ("s9/b", 6), ("s9/c", 6), ("s10/alone", 8)] {
        File::create(dir.path().join(file)).unwrap().set_len(mib * 1024 * 1024).unwrap();
    }
    let client = client_of(dir.path()).await;
    let (mut lengths, mut cursor) = (Vec::new(), None);
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = client.list_skills(Some(params)).await.unwrap();
        lengths.push(page.skills.len());
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(lengths, [50, 50, 18]);
    for (skill, why) in [("s7", "more than 512 files"), ("s9", "more than 16777216 bytes")] {
        let params = GetSkillRequestParams::new(format!("skill://{skill}/SKILL.md"));
        let error = client.get_skill(params).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::INVALID_PARAMS, "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    }
    // A file that clients cannot read is not part of a skill.
    let params = GetSkillRequestParams::new("skill://s10/SKILL.md");
    let skill = client.get_skill(params).await.unwrap().skill;
    assert_eq!(files(&skill), ["skill://s10/SKILL.md"]);
    let params = ReadResourceRequestParams::new("skill://s10/alone");
    assert!(client.read_resource(params).await.unwrap_err().to_string().contains("over the limit"));
    let params = ReadResourceDirectoryRequestParams::new("skill://s8");
    let first = client.read_resource_directory(params.clone()).await.unwrap();
    let params = params.with_cursor(first.next_cursor.clone().unwrap());
    let second = client.read_resource_directory(params).await.unwrap();
    assert_eq!((first.resources.len(), second.resources.len()), (200, 200));
    assert!(first.resources.iter().all(|child| !second.resources.contains(child)));
    let wrong = PaginatedRequestParams::default().with_cursor(Some("made up".to_owned()));
    let error = client.list_skills(Some(wrong)).await.unwrap_err();
    assert_eq!(code(&error), ErrorCode::INVALID_PARAMS, "{error:?}");
}

#[tokio::test]
async fn instructions_need_the_consent_that_using_them_does() {
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        let says = Some(ElicitationAction::Accept);
        let place = connect(lifecycle.clone(), ConsentPolicy::FirstUse, says).await;
        for uri in ["skill://review/SKILL.md", "skill://review/ref/how%20to.md"] {
            assert!(!bytes(&place.client, uri).await.is_empty());
        }
        assert_eq!(place.told.questions.lock().unwrap().len(), 1);

        for says in [None, Some(ElicitationAction::Decline)] {
            let place = connect(lifecycle.clone(), ConsentPolicy::FirstUse, says).await;
            let params = ReadResourceRequestParams::new("skill://review/SKILL.md");
            let error = place.client.read_resource(params).await.unwrap_err();
            assert!(error.to_string().contains("CONSENT_REQUIRED"), "{error}");
            // The list is visible without consent.
            assert_eq!(place.client.list_all_skills().await.unwrap().len(), 6);
        }
    }
}
