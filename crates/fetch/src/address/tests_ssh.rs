//! Tests of addresses for SSH.

use super::tests::shown;

#[test]
fn an_address_for_ssh_has_behind_it_what_one_of_a_page_has() {
    for (text, wanted) in [
        ("git@github.com:o/r/tree/main/skills/pdf", "git@github.com:o/r #main @skills/pdf"),
        ("ssh://git@h.org:o/r.git", "git@h.org:o/r.git"),
        ("git+ssh://git@h.org:o/r.git", "git@h.org:o/r.git"),
        ("git@github.com:o/r.git/tree/main/a", "git@github.com:o/r.git #main @a"),
        ("git@github.com:o/r/blob/v1/a/SKILL.md", "git@github.com:o/r #v1 @a"),
        ("git@github.com:o/r/skills/pdf", "git@github.com:o/r @skills/pdf"),
        ("git@github.com:o/r/pdf", "git@github.com:o/r @pdf"),
        ("git@github.com:o/r@pdf", "git@github.com:o/r @pdf"),
        ("git@github.com:o/r.git@pdf#v1", "git@github.com:o/r.git #v1 @pdf"),
        ("git@github.com:o/r.git#v1@pdf", "git@github.com:o/r.git #v1 @pdf"),
        ("git@github.com:o/r.git//a/b?ref=v1", "git@github.com:o/r.git #v1 @a/b"),
        ("git@github.com:o/r.git?ref=v1", "git@github.com:o/r.git #v1"),
        ("git@h.org:o/r.git//a?ref=v1", "git@h.org:o/r.git #v1 @a"),
        ("git@h.org:o/r/tree/main/a", "git@h.org:o/r #main @a"),
        ("git@gitlab.com:g/s/r/-/tree/main/a", "git@gitlab.com:g/s/r #main @a"),
        ("git@codeberg.org:o/r/src/branch/main/a", "git@codeberg.org:o/r #main @a"),
        ("ssh://git@github.com/o/r/tree/main/a", "ssh://git@github.com/o/r #main @a"),
        ("ssh://git@github.com:22/o/r/tree/main/a", "ssh://git@github.com:22/o/r #main @a"),
        (
            "ssh://git@ssh.github.com:443/o/r/tree/main/a",
            "ssh://git@ssh.github.com:443/o/r #main @a",
        ),
        ("ssh://git@github.com/o/r@pdf", "ssh://git@github.com/o/r @pdf"),
        ("ssh://git@github.com/o/r.git?ref=v1", "ssh://git@github.com/o/r.git #v1"),
        ("git://github.com/o/r/tree/main/a", "git://github.com/o/r #main @a"),
        // A slash for the colon, and a colon for the slash.
        ("git@github.com/o/r", "git@github.com:o/r"),
        ("git@github.com/o/r.git#v1", "git@github.com:o/r.git #v1"),
        ("git@github.com/o/r/tree/main/a", "git@github.com:o/r #main @a"),
        ("ssh://git@github.com:o/r.git", "git@github.com:o/r.git"),
        ("git+ssh://git@github.com:o/r.git#v1", "git@github.com:o/r.git #v1"),
        ("git+git@github.com:o/r.git", "git@github.com:o/r.git"),
        ("git::git@github.com:o/r.git//a?ref=v1", "git@github.com:o/r.git #v1 @a"),
        ("github://o/r", "gh o/r"),
        ("github://o/r@pdf", "gh o/r @pdf"),
    ] {
        assert_eq!(shown(text).as_deref(), Some(wanted), "{text}");
    }
    // A repository alone stays as it was written, and so does one at any depth of an unknown host.
    for text in [
        "git@github.com:o/r",
        "ssh://git@github.com/o/r.git",
        "ssh://git@h.org:2222/deep/path/r.git",
        "git@h.org:deep/path/r.git",
        "git@h.org:~me/r",
        "user@h.org:/srv/git/r.git",
        "ssh://git@[::1]:22/o/r",
    ] {
        assert_eq!(shown(text), None, "{text}");
    }
}
