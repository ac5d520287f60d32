use super::*;

/// An address as `SOURCE [rev] [skill]`.
pub(super) fn shown(text: &str) -> Option<String> {
    let Address { source, rev, skills, .. } = Address::read(text)?;
    let source = source.replace("https://github.com/", "gh ");
    let skills = skills.iter().map(|skill| format!("@{skill}"));
    let parts =
        [Some(source), rev.map(|rev| format!("#{rev}"))].into_iter().flatten().chain(skills);
    Some(parts.collect::<Vec<_>>().join(" "))
}

#[test]
fn addresses_of_the_clipboard_are_taken_apart() {
    for (text, wanted) in [
        ("o/r", "gh o/r"),
        ("github:o/r", "gh o/r"),
        ("gh:o/r@pdf", "gh o/r @pdf"),
        ("o/r@pdf", "gh o/r @pdf"),
        ("o/r/pdf", "gh o/r @pdf"),
        ("o/r/skills/pdf/", "gh o/r @skills/pdf"),
        ("o/r/skills/pdf/SKILL.md", "gh o/r @skills/pdf"),
        ("o/r#v1", "gh o/r #v1"),
        ("o/r#feature/x", "gh o/r #feature/x"),
        ("o/r#v1@pdf", "gh o/r #v1 @pdf"),
        ("o/r@pdf#v1", "gh o/r #v1 @pdf"),
        ("o/r#@a/b@1.0.0", "gh o/r #@a/b@1.0.0"),
        ("github.com/o/r", "gh o/r"),
        ("www.github.com/o/r", "gh o/r"),
        ("http://github.com/o/r", "gh o/r"),
        ("https://GitHub.com/o/r/", "gh o/r"),
        ("<https://github.com/o/r>", "gh o/r"),
        ("git+https://github.com/o/r.git#v1", "gh o/r.git #v1"),
        ("https://github.com/o/r?tab=readme-ov-file#readme-ov-file", "gh o/r"),
        ("https://github.com/o/r/issues/12#issuecomment-1", "gh o/r"),
        ("https://github.com/o/r/tree/main", "gh o/r #main"),
        ("https://github.com/o/r/tree/main/skills/pdf", "gh o/r #main @skills/pdf"),
        ("github.com/o/r/tree/main/skills/pdf/", "gh o/r #main @skills/pdf"),
        ("https://github.com/o/r/blob/v1/skills/pdf/SKILL.md#L3", "gh o/r #v1 @skills/pdf"),
        ("https://github.com/o/r/blob/main/SKILL.md", "gh o/r #main"),
        ("https://github.com/o/r/blob/main/a%20b/SKILL.md?plain=1", "gh o/r #main @a b"),
        ("https://github.com/o/r/tree/main/.claude/skills/x", "gh o/r #main @.claude/skills/x"),
        ("https://github.com/o/r/commit/0a1b2c3d", "gh o/r #0a1b2c3d"),
        ("https://github.com/o/r/releases/tag/v1.2", "gh o/r #v1.2"),
        (
            "https://raw.githubusercontent.com/o/r/refs/heads/main/skills/pdf/SKILL.md",
            "gh o/r #main @skills/pdf",
        ),
        ("https://skills.sh/o/r/pdf", "gh o/r @pdf"),
        ("skills.sh/o/r", "gh o/r"),
        ("https://gitlab.com/g/s/r", "https://gitlab.com/g/s/r"),
        ("gitlab:g/r#v1", "https://gitlab.com/g/r #v1"),
        (
            "https://gitlab.com/g/s/r/-/tree/main/skills/pdf?ref_type=heads",
            "https://gitlab.com/g/s/r #main @skills/pdf",
        ),
        (
            "https://git.acme.org/g/r/-/blob/main/pdf/SKILL.md",
            "https://git.acme.org/g/r #main @pdf",
        ),
        (
            "https://codeberg.org/o/r/src/branch/main/skills/pdf",
            "https://codeberg.org/o/r #main @skills/pdf",
        ),
        ("codeberg.org/o/r/src/tag/v1", "https://codeberg.org/o/r #v1"),
        ("https://git.acme.org/o/r/src/commit/0a1b/x", "https://git.acme.org/o/r #0a1b @x"),
        ("https://bitbucket.org/o/r/src/main/pdf/", "https://bitbucket.org/o/r #main @pdf"),
        ("https://ghe.acme.org/o/r/tree/main/x", "https://ghe.acme.org/o/r #main @x"),
        ("ghe.acme.org/o/r", "https://ghe.acme.org/o/r"),
        ("git@github.com:o/r.git#v1", "git@github.com:o/r.git #v1"),
        ("ssh://git@h.org/o/r#v1", "ssh://git@h.org/o/r #v1"),
        ("https://h.org/o/r.git#v1", "https://h.org/o/r.git #v1"),
        ("https://h.org", "https://h.org/.well-known/agent-skills/index.json"),
        (
            "h.org/.well-known/skills/pdf/SKILL.md",
            "https://h.org/.well-known/skills/index.json @pdf",
        ),
        ("HTTPS://GitHub.com/o/r", "gh o/r"),
        ("github.com:o/r.git", "gh o/r.git"),
        ("o/r@v1.2", "gh o/r #v1.2"),
        ("o/r@v1", "gh o/r @v1"),
        ("github.com/o/r//skills/pdf?ref=v1", "gh o/r #v1 @skills/pdf"),
        ("https://github.com/o/r?tab=readme-ov-file#installation", "gh o/r"),
        ("https://github.com/o/r#:~:text=skills", "gh o/r"),
        ("https://github.com/o/r/stargazers", "gh o/r"),
        ("https://github.com/o/r/tree/feature%2Fx/skills/pdf", "gh o/r #feature/x @skills/pdf"),
        ("https://github.dev/o/r/tree/main/pdf", "gh o/r #main @pdf"),
        ("https://vscode.dev/github/o/r", "gh o/r"),
        ("https://codeload.github.com/o/r/zip/refs/heads/main", "gh o/r #main"),
        ("https://gist.github.com/o/0a1b#file-skill-md", "https://gist.github.com/o/0a1b"),
        ("https://ghe.acme.org/o/r?tab=readme-ov-file#x", "https://ghe.acme.org/o/r"),
        ("https://ghe.acme.org/o/r/issues/7", "https://ghe.acme.org/o/r"),
        ("https://o@dev.azure.com/o/My%20P/_git/r", "https://dev.azure.com/o/My%20P/_git/r"),
        (
            "https://dev.azure.com/o/p/_git/r?path=/skills/pdf&version=GBteam%2Fnext&_a=contents",
            "https://dev.azure.com/o/p/_git/r #team/next @skills/pdf",
        ),
        (
            "https://tfs.acme.org/p/_git/r?path=%2Fpdf%2FSKILL.md&version=GTv1",
            "https://tfs.acme.org/p/_git/r #v1 @pdf",
        ),
        (
            "https://huggingface.co/spaces/o/r/tree/main/skills/pdf",
            "https://huggingface.co/spaces/o/r #main @skills/pdf",
        ),
        (
            "https://hf.co/datasets/o/r/blob/main/pdf/SKILL.md",
            "https://huggingface.co/datasets/o/r #main @pdf",
        ),
        ("https://huggingface.co/o/r/resolve/v1/pdf", "https://huggingface.co/o/r #v1 @pdf"),
        ("o/r:skills/pdf", "gh o/r @skills/pdf"),
        ("o/r#v1:skills/pdf", "gh o/r #v1 @skills/pdf"),
        ("git@github.com:o/r.git#v1:skills/pdf", "git@github.com:o/r.git #v1 @skills/pdf"),
        ("https://github.com/o/r.git#:skills/pdf", "gh o/r.git @skills/pdf"),
        ("copilot plugin install o/r:skills/pdf", "gh o/r @skills/pdf"),
        ("o/r --skill pdf", "gh o/r @pdf"),
        ("o/r --skill pdf --skill docx", "gh o/r @pdf @docx"),
        ("* o/r@pdf", "gh o/r @pdf"),
        ("• https://github.com/o/r", "gh o/r"),
        ("docker pull o/r", "oci://docker.io/o/r"),
        ("podman pull ghcr.io/o/r:v1", "oci://ghcr.io/o/r:v1"),
        ("gist:0123456789abcdef0123", "https://gist.github.com/0123456789abcdef0123"),
        ("gh gist clone 0123456789abcdef0123", "https://gist.github.com/0123456789abcdef0123"),
        ("gl:g/r#v1", "https://gitlab.com/g/r #v1"),
        ("sr.ht/~o/r/tree/v1/item/pdf", "https://git.sr.ht/~o/r #v1 @pdf"),
        ("https://gitpod.io/#https://github.com/o/r/tree/v1", "gh o/r #v1"),
        ("https://web.archive.org/web/2026/https://github.com/o/r", "gh o/r"),
        ("vscode://vscode.git/clone?url=https%3A%2F%2Fgithub.com%2Fo%2Fr.git", "gh o/r.git"),
        ("x-github-client://openRepo/https://github.com/o/r", "gh o/r"),
        ("gh repo clone o/r -- --depth 1", "gh o/r"),
        ("git clone -b v1 --single-branch https://github.com/o/r.git && cd r", "gh o/r.git #v1"),
        ("git submodule add https://github.com/o/r skills/r", "gh o/r"),
        (
            "gemini skills install https://github.com/o/r.git --path skills/pdf",
            "gh o/r.git @skills/pdf",
        ),
        ("/plugin marketplace add https://gitlab.com/g/r.git#v1", "https://gitlab.com/g/r.git #v1"),
        ("[o/r](https://github.com/o/r \"title\")", "gh o/r"),
        ("[1]: https://github.com/o/r", "gh o/r"),
        ("ssh://git@h.org:2222/o/r.git#v1", "ssh://git@h.org:2222/o/r.git #v1"),
        ("https://git.sr.ht/~o/r", "https://git.sr.ht/~o/r"),
        ("https://git.sr.ht/~o/r/tree/main/item/pdf", "https://git.sr.ht/~o/r #main @pdf"),
        ("git.sr.ht/~o/r/refs/v1", "https://git.sr.ht/~o/r #v1"),
        ("https://gitee.com/o/r/tree/master/skills", "https://gitee.com/o/r #master @skills"),
        (
            "https://bb.acme.org/projects/P/repos/r/browse/skills/pdf?at=refs%2Fheads%2Fmain",
            "https://bb.acme.org/scm/P/r.git #main @skills/pdf",
        ),
        ("https://bb.acme.org/users/u/repos/r/browse", "https://bb.acme.org/scm/~u/r.git"),
        ("git+https://github.com/o/r.git@v1#subdirectory=a/b", "gh o/r.git #v1 @a/b"),
        ("git+https://h.org/o/r", "https://h.org/o/r"),
        ("git+ssh://git@h.org/o/r.git", "ssh://git@h.org/o/r.git"),
        ("ghcr.io/o/r", "oci://ghcr.io/o/r"),
        ("https://ghcr.io/o/r:v1", "oci://ghcr.io/o/r:v1"),
        ("https://hub.docker.com/r/o/r/tags", "oci://docker.io/o/r"),
        ("https://quay.io/repository/o/r?tab=tags", "oci://quay.io/o/r"),
        ("o/r@pdf,docx", "gh o/r @pdf @docx"),
        ("o/r@pdf,docx#v1", "gh o/r #v1 @pdf @docx"),
        ("https://github.com/o/r/tree/main/a,b", "gh o/r #main @a,b"),
        ("@o/r/pdf", "gh o/r @pdf"),
        ("https://m.github.com/o/r", "gh o/r"),
        ("https://mobile.github.com/o/r/tree/main/pdf", "gh o/r #main @pdf"),
        ("https://github.com/o/r/pkgs/container/x", "gh o/r"),
        ("https://raw.github.com/o/r/v1/pdf/SKILL.md", "gh o/r #v1 @pdf"),
        ("https://api.github.com/repos/o/r", "gh o/r"),
        ("https://api.github.com/repos/o/r/contents/skills/pdf?ref=v1", "gh o/r #v1 @skills/pdf"),
        ("https://api.github.com/repos/o/r/tarball/v1", "gh o/r #v1"),
        (
            "https://gist.github.com/0a1b2c3d4e5f60718293",
            "https://gist.github.com/0a1b2c3d4e5f60718293",
        ),
        (
            "https://gist.githubusercontent.com/o/0a1b2c/raw/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567/SKILL.md",
            "https://gist.github.com/o/0a1b2c #0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
        ),
        (
            "https://gist.githubusercontent.com/o/0a1b2c/raw/SKILL.md",
            "https://gist.github.com/o/0a1b2c",
        ),
        ("https://cdn.jsdelivr.net/gh/o/r@v1/skills/pdf/SKILL.md", "gh o/r #v1 @skills/pdf"),
        ("https://deepwiki.com/o/r/2.1-skills", "gh o/r"),
        ("https://gitingest.com/o/r/tree/main/pdf", "gh o/r #main @pdf"),
        ("https://sourcegraph.com/github.com/o/r@v1/-/blob/pdf/SKILL.md", "gh o/r #v1 @pdf"),
        ("https://claude-plugins.dev/skills/@o/r/pdf", "gh o/r @pdf"),
        ("https://git.acme.org/g/r.git?ref=v1", "https://git.acme.org/g/r.git #v1"),
        ("git::https://github.com/o/r.git//skills/pdf?ref=v1", "gh o/r.git #v1 @skills/pdf"),
        ("git::https://h.org/g/r//pdf", "https://h.org/g/r @pdf"),
        ("git::ssh://git@h.org/o/r.git?ref=v1", "ssh://git@h.org/o/r.git #v1"),
        ("git+ssh://git@h.org:22/o/r.git@v1#subdirectory=a", "ssh://git@h.org:22/o/r.git #v1 @a"),
        ("file:/srv/my%20kit", "file:///srv/my%20kit"),
        ("h.org/o/r:v1", "oci://h.org/o/r:v1"),
    ] {
        assert_eq!(shown(text).as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn an_address_is_found_in_what_was_copied_with_it() {
    for (text, wanted) in [
        ("\"o/r\"", "gh o/r"),
        ("'o/r@pdf'", "gh o/r @pdf"),
        ("`o/r`", "gh o/r"),
        ("“https://github.com/o/r”", "gh o/r"),
        ("https://github.com/o/r,", "gh o/r"),
        ("https://github.com/o/r.", "gh o/r"),
        ("(https://github.com/o/r).", "gh o/r"),
        ("https://github.com/o/r)", "gh o/r"),
        ("<https://github.com/o/r/tree/main/pdf>,", "gh o/r #main @pdf"),
        ("[skills](https://github.com/o/r)", "gh o/r"),
        ("**[skills](https://github.com/o/r \"title\")**", "gh o/r"),
        ("\u{feff}o/r\u{200b}", "gh o/r"),
        ("npx skills add o/r", "gh o/r"),
        ("$ npx -y skills@latest add o/r --skill pdf docx -g -a claude-code", "gh o/r @pdf @docx"),
        ("npx skills add https://github.com/o/r --skill=pdf", "gh o/r @pdf"),
        ("npx skills add --skill 'pdf' o/r", "gh o/r @pdf"),
        ("bunx openskills install o/r", "gh o/r"),
        ("repertoire add o/r@pdf --agent codex", "gh o/r @pdf"),
        ("gh skill install o/r pdf", "gh o/r @pdf"),
        ("gh skill install https://github.com/o/r pdf", "gh o/r @pdf"),
        ("npx skills add o/r pdf docx -a codex cursor", "gh o/r @pdf @docx"),
        ("npx degit o/r my-dir", "gh o/r"),
        ("gh repo clone o/r dir", "gh o/r"),
        ("gh repo clone o/r ./dir", "gh o/r"),
        ("git clone --depth=1 --filter=blob:none ssh://git@h.org:22/o/r", "ssh://git@h.org:22/o/r"),
        ("git submodule add https://github.com/o/r vendor/r", "gh o/r"),
        ("skillkit install o/r --skills=pdf,docx", "gh o/r @pdf @docx"),
        ("npx claude-plugins install @o/r/pdf", "gh o/r @pdf"),
        ("claude plugin marketplace add ./kit", "./kit"),
        ("/plugin marketplace add ~/kit", "~/kit"),
        ("git clone -b v1 --depth 1 https://github.com/o/r.git a/b", "gh o/r.git #v1"),
        ("git clone git@h.org:o/r.git", "git@h.org:o/r.git"),
        ("gemini skills install https://github.com/o/r.git --path pdf", "gh o/r.git @pdf"),
        ("claude plugin marketplace add o/r", "gh o/r"),
        ("/plugin marketplace add o/r", "gh o/r"),
        ("$skill-installer https://github.com/o/r/tree/main/x", "gh o/r #main @x"),
        ("docker pull ghcr.io/o/r:v1", "oci://ghcr.io/o/r:v1"),
        ("curl -LO https://h.org/x.zip", "https://h.org/x.zip"),
        ("`npx skills add o/r --skill pdf`", "gh o/r @pdf"),
        ("`$ npx skills add o/r --skill pdf`", "gh o/r @pdf"),
        ("**`npx skills add o/r`**", "gh o/r"),
        ("Install: `npx skills add o/r`", "gh o/r"),
        ("Run `npx skills add o/r --skill pdf` to install.", "gh o/r @pdf"),
        ("1. `npx skills add o/r`", "gh o/r"),
        ("1. npx skills add o/r", "gh o/r"),
        ("```sh npx skills add o/r ```", "gh o/r"),
        ("```\nnpx skills add o/r\n```", "gh o/r"),
        ("# npx skills add o/r", "gh o/r"),
        ("~ $ npx skills add o/r", "gh o/r"),
        ("me@host:~$ npx skills add o/r", "gh o/r"),
        ("me@host ~/x % npx skills add o/r", "gh o/r"),
        ("PS C:\\> npx skills add o/r", "gh o/r"),
        ("➜  ~ npx skills add o/r", "gh o/r"),
        ("cd ~/x && npx skills add o/r --skill pdf", "gh o/r @pdf"),
        ("git clone https://github.com/o/r.git && cp -r r/skills/pdf ~/.claude/", "gh o/r.git"),
        ("mkdir -p ~/x; git clone https://github.com/o/r ~/x/r", "gh o/r"),
        ("curl -fsSL https://github.com/o/r/raw/main/pdf/SKILL.md | sh", "gh o/r #main @pdf"),
        ("/plugin marketplace add o/r && /plugin install pdf@r", "gh o/r"),
        ("npx skills add o/r; npx skills add o/r", "gh o/r"),
        ("/plugin install pdf@o/r", "gh o/r @pdf"),
        ("claude plugin install pdf@o/r --scope user", "gh o/r @pdf"),
        ("droid plugin install pdf@o/r", "gh o/r @pdf"),
        ("copilot plugin install o/r:skills/pdf", "gh o/r @skills/pdf"),
        (
            "gemini skills install https://github.com/o/r --path pdf --scope workspace",
            "gh o/r @pdf",
        ),
        ("gemini extensions install https://github.com/o/r --ref=v1", "gh o/r #v1"),
        ("codex skills add o/r --skill pdf", "gh o/r @pdf"),
        ("openskills install o/r", "gh o/r"),
        ("/skill add o/r", "gh o/r"),
        ("amp skill add o/r/pdf", "gh o/r @pdf"),
        ("goose skills add o/r", "gh o/r"),
        ("skillshare install o/r", "gh o/r"),
        ("Don't miss https://github.com/o/r, it's great", "gh o/r"),
        ("\"./o r\"", "./o r"),
        ("./o/r,", "./o/r"),
    ] {
        assert_eq!(shown(text).as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn other_texts_are_left_as_they_are() {
    for text in [
        "",
        "skills",
        "./o/r",
        "../o/r",
        "/o/r",
        "~/o/r",
        "./SKILL.md",
        "x.skill",
        "dir/x.tar.gz",
        "https://h.org/o/r",
        "https://h.org/o/r.git",
        "https://h.org/r?token=secret#x",
        "https://github.com/o/r/archive/refs/tags/v1.tar.gz",
        "git@h.org:o/r",
        "ssh://h.org/r",
        "https://h.org#@127.0.0.1/r",
        "https://h.org?@127.0.0.1/r",
        "s3://b/o/r",
        "mcp:npx -y x/y",
        "oci://ghcr.io/o/r:v1",
        "file:///srv/r#x",
        "http://h.org/o/r",
        "ext::sh -c x/y",
        ".",
        "..",
        "./dir/.",
        "/tmp/my dir/skills",
        "my dir/o/r",
        "and/or so",
        "s3://b/my prefix",
        "file:///srv/my dir",
        "https://github.com/o/r and https://github.com/o/s",
        "claude plugin install x@y",
        "brew install o/r/pdf",
        "brew tap o/r",
        "npx skills add o/r; npx skills add o/s",
        "/tmp/my add dir/skills",
        "npx -y x",
        "npx x@latest --skill=a/pdf",
        "git::sh -c x/y",
        "@acme/skills",
    ] {
        assert_eq!(shown(text), None, "{text}");
    }
}

#[test]
fn a_branch_may_have_slashes() {
    let splits = Address::splits("feature", "x/skills/pdf");
    let shown: Vec<String> = splits
        .iter()
        .map(|(rev, dir)| format!("{rev} {}", dir.as_deref().unwrap_or(".")))
        .collect();
    assert_eq!(shown, ["feature/x skills/pdf", "feature/x/skills pdf", "feature/x/skills/pdf ."]);
}

#[test]
fn repositories_are_the_same_by_every_protocol() {
    let one = "https://github.com/o/r";
    for other in
        ["git@github.com:O/R.git", "ssh://git@github.com/o/r", "https://github.com/o/r.git", "o/r"]
    {
        assert!(is_same(one, other), "{other}");
    }
    for other in [
        "https://gitlab.com/o/r", "o/r2", "npx skills add o/s", "file:///o/r", "./o/r",
        "s3://github.com/o/r",
    ] {
        assert!(!is_same(one, other), "{other}");
    }
}
