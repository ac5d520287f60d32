use std::fs;

use super::*;

#[test]
fn addresses_are_read_and_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
    fs::create_dir_all(dir.path().join("a b c")).unwrap();
    fs::write(dir.path().join("a b c/SKILL.md"), "").unwrap();
    for name in ["x.tar.gz", "pdf.skill", "SKILL.md"] {
        fs::write(dir.path().join("a").join(name), "").unwrap();
    }
    let git = |url: &str| Location::Git(url.to_owned());
    let at = |path: &str| dir.path().join(path);
    for (text, wanted, name) in [
        ("a/d", git("https://github.com/a/d"), "a-d"),
        ("./a/b", Location::Directory(at("./a/b")), "b"),
        ("a", Location::Directory(at("a")), "a"),
        ("./a/SKILL.md", Location::Directory(at("./a")), "a"),
        ("a/pdf.skill", Location::Archive(at("a/pdf.skill")), "pdf"),
        ("a/b/pdf", git("https://github.com/a/b"), "a-b"),
        ("https://github.com/o/r/tree/main/x", git("https://github.com/o/r"), "o-r"),
        (
            "https://docs.h.org",
            Location::WellKnown(
                "https://docs.h.org/.well-known/agent-skills/index.json".to_owned(),
            ),
            "docs-h-org",
        ),
        ("\"./a/b\",", Location::Directory(at("./a/b")), "b"),
        ("'./a'", Location::Directory(at("./a")), "a"),
        ("claude plugin marketplace add ./a", Location::Directory(at("./a")), "a"),
        ("./a b\\ c", Location::Directory(at("./a b c")), "a-b-c"),
        ("./a b c/SKILL.md", Location::Directory(at("./a b c")), "a-b-c"),
        ("npx skills add a/d", git("https://github.com/a/d"), "a-d"),
        ("[x](https://github.com/o/r/).", git("https://github.com/o/r"), "o-r"),
        (
            "https://dev.azure.com/o/p/_git/r?path=/x",
            git("https://dev.azure.com/o/p/_git/r"),
            "p-r",
        ),
        ("ghcr.io/o/r", Location::Oci("oci://ghcr.io/o/r".to_owned()), "r"),
        ("docker pull o/r", Location::Oci("oci://docker.io/o/r".to_owned()), "r"),
        ("docker pull ghcr.io/o/r:v1", Location::Oci("oci://ghcr.io/o/r:v1".to_owned()), "r"),
        ("* o/r", git("https://github.com/o/r"), "o-r"),
        ("1. https://github.com/o/r", git("https://github.com/o/r"), "o-r"),
        ("sr.ht/~o/r", git("https://git.sr.ht/~o/r"), "o-r"),
        ("git@ssh.github.com:443/o/r.git", git("git@ssh.github.com:443/o/r.git"), "o-r"),
        ("ssh://git@h.org:2222/o/r.git", git("ssh://git@h.org:2222/o/r.git"), "o-r"),
        ("gh repo clone o/r", git("https://github.com/o/r"), "o-r"),
        ("o/r --skill pdf", git("https://github.com/o/r"), "o-r"),
        ("./a/.", Location::Directory(at("./a/.")), "a"),
        ("./a/b/..", Location::Directory(at("./a/b/..")), "a"),
        ("a/b/c", Location::Directory(at("a/b/c")), "c"),
        ("a/x.tar.gz", Location::Archive(at("a/x.tar.gz")), "x"),
        ("git@h.org:o/My.Repo.git", git("git@h.org:o/My.Repo.git"), "o-my-repo"),
        ("https://h.org/o/r.git", git("https://h.org/o/r.git"), "o-r"),
        ("https://h.org/r", git("https://h.org/r"), "r"),
        ("https://h.org/o/r.ZIP", Location::RemoteArchive("https://h.org/o/r.ZIP".to_owned()), "r"),
        ("ssh://git@h.org/o/r", git("ssh://git@h.org/o/r"), "o-r"),
        ("file:///srv/o/r", git("file:///srv/o/r"), "r"),
        ("s3://b/o/r/", Location::ObjectStore("s3://b/o/r".to_owned()), "r"),
        ("oci://h:5000/o/r:v1", Location::Oci("oci://h:5000/o/r:v1".to_owned()), "r"),
        ("gs://b/r.tar.gz", Location::ObjectStore("gs://b/r.tar.gz".to_owned()), "r"),
    ] {
        let location = Location::parse(text, dir.path()).unwrap();
        assert_eq!(location, wanted, "{text}");
        assert_eq!(location.default_name(), name, "{text}");
        check_name(name).unwrap();
    }
}

#[test]
fn a_file_url_is_a_repository_only_if_git_knows_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    for name in ["my kit", "work/.git", "bare.git/objects"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    fs::write(at("my kit/SKILL.md"), "").unwrap();
    fs::write(at("my kit/x.zip"), "").unwrap();
    let url = |path: &str| format!("file://{}/{path}", dir.path().display());
    for (text, wanted) in [
        (url("my%20kit"), Location::Directory(at("my kit"))),
        (url("my%20kit/SKILL.md"), Location::Directory(at("my kit"))),
        (url("my%20kit/x.zip"), Location::Archive(at("my kit/x.zip"))),
        (url("my%20kit").replace("://", "://localhost"), Location::Directory(at("my kit"))),
        (url("work"), Location::Git(url("work"))),
        (url("bare.git/"), Location::Git(url("bare.git"))),
        (url("nothing"), Location::Git(url("nothing"))),
    ] {
        assert_eq!(Location::parse(&text, Path::new("/")).unwrap(), wanted, "{text}");
    }
}

#[test]
fn what_cannot_be_read_says_what_to_type_instead() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("skills")).unwrap();
    fs::create_dir_all(dir.path().join("my skills")).unwrap();
    for (text, why, help) in [
        ("claude plugin install pdf@acme", "plugin of a marketplace", "`owner/repo@pdf`"),
        ("/plugin install pdf@acme", "plugin of a marketplace", "`owner/repo@pdf`"),
        ("pdf@acme", "plugin of a marketplace", "`owner/repo@pdf`"),
        ("npx -y skills", "names a package", "repository"),
        ("brew install o/r/pdf", "names a package", "repository"),
        ("sudo apt-get install -y pdf", "names a package", "repository"),
        (
            "npx skills add o/r && npx skills add o/s",
            "several commands",
            "`repertoire add ONE OTHER`",
        ),
        ("$skill-installer pdf", "of Codex", "`openai/skills@pdf`"),
        ("take pdf and docx", "no address, or several", "`owner/repo@skill`"),
        ("https://a.org/x/y https://b.org/x", "several addresses", "`repertoire add ONE OTHER`"),
        ("https://a.org/x y", "has blanks", "alone"),
        ("@acme/skills", "name of a package", "write `acme/skills`"),
        ("npm:skills", "name of a package", "repository"),
        ("https://www.npmjs.com/package/skills", "page of a package", "repository"),
        ("https://github.com", "not a repository", "github.com/OWNER/REPO"),
        ("github.com/acme", "not a repository", "github.com/acme/REPO"),
        ("https://github.com/orgs/acme/repositories", "not a repository", "OWNER/REPO"),
        ("https://skills.sh/", "not a repository", "OWNER/REPO"),
        ("https://mcp.acme.org/mcp", "MCP server", "`mcp+https://mcp.acme.org/mcp`"),
        ("https://h.org/o/r?key=secret", "holds a parameter", "follows `?`"),
        ("https://ghp_secret0123456789abcdefgh@h.org/o/r", "holds a token", "before `@`"),
        ("https://glpat-secret@h.org/o/r", "holds a token", "before `@`"),
        ("work:o/r.git", "names no user", "`ssh://work/o/r.git`"),
        ("./skils", "nothing at", "skills`?"),
        ("skils", "nothing at", "skills`?"),
        ("http://h.org/o/r", "unsupported scheme", "owner/repo"),
        ("ftp://h.org/x.zip", "unsupported scheme", "owner/repo"),
        #[cfg(not(windows))]
        (r"C:\Users\me\kit", "path of Windows", "`/mnt/c/Users/me/kit`"),
        #[cfg(not(windows))]
        ("C:/Users/me", "path of Windows", "`/mnt/c/Users/me`"),
        #[cfg(not(windows))]
        (
            r"\\host\share\kit",
            r"`\\host\share\kit` is a path of Windows",
            "such as `/mnt/host/share/kit`",
        ),
        #[cfg(not(windows))]
        (r".\skills\pdf", "path of Windows", "write `./skills/pdf`"),
        #[cfg(not(windows))]
        ("file:///C:/Users/me", "path of Windows", "`/mnt/c/Users/me`"),
        ("$HOME/kit", "begins with a variable", "write `~/kit`"),
        (r"%USERPROFILE%\kit\a", "begins with a variable", "write `~/kit/a`"),
        ("${KIT}/a", "begins with a variable", "`echo ${KIT}/a` prints"),
        ("~ann/kit", "home directory of a user", "`echo ~ann/kit` prints"),
        ("my skils", "nothing at", "my skills`?"),
        ("anthropics", "nothing at", "`owner/repo@anthropics` for a skill, `anthropics/REPO`"),
        ("docs.h.org", "nothing at", "`https://docs.h.org`"),
        ("NOTES.md", "nothing at", "a `SKILL.md`"),
        ("github.com", "not a repository", "github.com/OWNER/REPO"),
        ("https://gist.github.com/ann", "not a repository", "gist.github.com/ann/REPO"),
        ("ssh://h.org:o/r", "`o` in `ssh://h.org:o` is not a port", "`h.org:o/r`"),
        ("https://h.org/kit.tar.xz", "of a kind that is not read", "`.tar.gz`"),
        ("https://h.org/pdf/SKILL.md", "one file of a site", "repository"),
        ("https://skillsmp.com/skills/pdf", "in which repository", "`owner/repo@skill`"),
        ("skillsmp.com", "`https://skillsmp.com` does not say", "`owner/repo@skill`"),
        ("www.skillsmp.com/", "`https://skillsmp.com` does not say", "`owner/repo@skill`"),
        ("https://skillsmp.com", "`https://skillsmp.com` does not say", "`owner/repo@skill`"),
        ("skillsmp.com/skills/pdf", "in which repository", "`owner/repo@skill`"),
        ("smithery.ai", "in which repository", "`owner/repo@skill`"),
        ("npmjs.com", "page of a package", "repository"),
        ("crates.io/crates/x", "page of a package", "repository"),
        ("https://unpkg.com/@acme/skills", "page of a package", "repository"),
        ("skills.sh", "not a repository", "skills.sh/OWNER/REPO"),
        ("https://drive.google.com/file/d/1/view", "a page, not a file", "`./FILE.zip`"),
        ("https://www.dropbox.com/s/1/kit.zip?dl=0", "a page, not a file", "`./FILE.zip`"),
        ("ann.github.io/kit", "page of GitHub Pages", "`ann/kit`"),
        ("https://h.org/install.sh", "one file of a site", "repository"),
        ("curl -fsSL https://h.org/install.sh | bash", "one file of a site", "repository"),
        (
            "https://h.org/skills/index.json",
            "one file of a site",
            "`https://h.org/skills/index.json.git`",
        ),
        (
            "https://a.org/x/y and https://b.org/x/y",
            "several addresses",
            "`repertoire add ONE OTHER`",
        ),
        ("o/r,p/q", "several addresses", "`repertoire add ONE OTHER`"),
        ("o/r p/q", "several addresses", "`repertoire add ONE OTHER`"),
        ("pdf@o/r", "names the skill before the repository", "write `o/r@pdf`"),
        ("localhost:3000", "no scheme", "`http://localhost:3000` for a site"),
        ("h.org:8443/mcp", "MCP server", "`mcp+https://h.org:8443/mcp`"),
        ("http://localhost:3000/mcp", "MCP server", "`mcp+http://localhost:3000/mcp`"),
        ("file://srv/kit", "a host where the path belongs", "write `file:///srv/kit`"),
        ("skils/*", "nothing at", "are taken: `skils`"),
        ("./skills/{pdf,docx}", "nothing at", "are taken: `./skills`"),
        ("npm i @acme/skills", "names a package", "write `acme/skills`"),
        ("pip install skills", "names a package", "repository"),
        (
            "claude mcp add x -- npx y",
            "adds an MCP server",
            "`repertoire add mcp: --name NAME -- COMMAND`",
        ),
        ("https://h.org/r.git?ref=v1&key=secret", "holds a parameter", "`#REV`"),
    ] {
        let error = Location::parse(text, dir.path()).expect_err(text);
        assert!(error.message().contains(why), "{text}: {error}");
        assert!(error.help().contains(help), "{text}: {} {}", error, error.help());
        assert!(!format!("{error} {}", error.help()).contains("secret"), "{error}");
    }
}

#[test]
fn other_texts_are_refused() {
    for (text, code) in [
        ("", ErrorCode::InvalidParam),
        ("--upload-pack=x", ErrorCode::InvalidParam),
        ("ext::sh -c id", ErrorCode::InvalidParam),
        ("http://h.org/o/r", ErrorCode::InvalidParam),
        ("https://user:secret@h.org/o/r", ErrorCode::InvalidParam),
        ("http://h.org/r.tar.gz", ErrorCode::InvalidParam),
        ("https://h.org/r.tar.gz?token=secret", ErrorCode::InvalidParam),
        ("ssh://h.org/r.tar.gz", ErrorCode::InvalidParam),
        ("ssh://-oProxyCommand=x/r", ErrorCode::InvalidParam),
        ("ssh://h.org?@127.0.0.1/r", ErrorCode::InvalidParam),
        ("https://h.org#@127.0.0.1/r", ErrorCode::InvalidParam),
        ("https://h.org\\@127.0.0.1/r", ErrorCode::InvalidParam),
        ("a\nb", ErrorCode::InvalidParam),
        ("./nothing", ErrorCode::NotFound),
    ] {
        let error = Location::parse(text, Path::new("/nowhere")).unwrap_err();
        assert_eq!(error.code(), code, "{text}");
        assert!(!error.message().contains("secret"), "{error}");
    }
    for rev in ["", "@", "-x", "+x", "a..b", "a:b", "x y", "@{1}", "x@{1}"] {
        assert!(check_revision(rev).is_err(), "{rev}");
    }
    for rev in ["main", "v1.2", "feature/x", "0a1b2c3", "@a/b@1.0.0", "v1.2.0+5", "a{b}"] {
        check_revision(rev).unwrap();
    }
}

#[test]
fn what_is_written_of_any_address_is_read_again() {
    const PIECES: [&str; 48] = [
        "https://", "HTTP://", "git@", "ssh://", "file://", "git+", "git::", "file:/", "m.",
        "api.github.com/repos/", "cdn.jsdelivr.net/gh/", "ghcr.io", "?ref=", ",", "github.com",
        "h.org", "dev.azure.com", "huggingface.co", "git.sr.ht", "gh:", "/", "//", "o", "r",
        "r.git", "tree/", "blob/", "-/", "_git/", "src/branch/", "#", "@", "?", "=", "&", "%2F",
        "..", ".", ":", "[", "](", ")", "\"", " ", "npx skills add ", "--skill ", "é", "\u{200b}",
    ];
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 40).unwrap()
    };
    let mut n_read = 0;
    for _ in 0..20_000 {
        let text: String = (0..=next() % 9).map(|_| PIECES[next() % PIECES.len()]).collect();
        let Ok(location) = Location::parse(&text, Path::new("/nowhere")) else { continue };
        let written = location.to_string();
        let again = Location::parse(&written, Path::new("/elsewhere"));
        assert!(matches!(&again, Ok(again) if *again == location), "{text}: {written}: {again:?}");
        let host = host_of(&text);
        assert_eq!(host, host_of(&written), "{text}: {written}");
        check_name(&location.default_name()).unwrap();
        n_read += 1;
    }
    assert!(n_read > 300, "{n_read} addresses were read");
}
