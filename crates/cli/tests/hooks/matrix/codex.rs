//! The rows of Codex.

use super::{Body, CLAUDE, LATE, Line, MARKED, Nothing, SKILL, SUB, UNDESCRIBED, check, set_up};

#[test]
fn codex() {
    const CODEX: (&str, &str) = ("p/.codex/skills/verse/SKILL.md", SKILL);
    const SHARED: (&str, &str) = ("p/.agents/skills/verse/SKILL.md", SKILL);
    const CONFIG: &str = "home/.codex/config.toml";
    const POETRY_ON: (&str, &str) = (CONFIG, "[plugins.\"poetry@market\"]\nenabled = true\n");
    const MANIFEST: &str =
        "home/.codex/plugins/cache/market/poetry/1.0.0/.codex-plugin/plugin.json";
    const NAMED: &str = r#"{"name": "poetry"}"#;
    const IN_POETRY: (&str, &str) =
        ("home/.codex/plugins/cache/market/poetry/1.0.0/skills/verse/SKILL.md", SKILL);
    check(
        "codex",
        &[
            set_up(&[CODEX], "", Line("read HERE/p/.codex/skills/verse/SKILL.md")),
            set_up(&[CODEX], SUB, Line("read HERE/p/.codex/skills/verse/SKILL.md")),
            set_up(&[SHARED], SUB, Line("read HERE/p/.agents/skills/verse/SKILL.md")),
            set_up(
                &[("home/.codex/skills/verse/SKILL.md", SKILL)],
                SUB,
                Line("read HERE/home/.codex/skills/verse/SKILL.md"),
            ),
            set_up(
                &[("p/.agents/skills/group/verse/SKILL.md", SKILL)],
                "",
                Line("read HERE/p/.agents/skills/group/verse/SKILL.md"),
            ),
            set_up(&[CLAUDE], SUB, Body),
            set_up(
                &[SHARED, (CONFIG, "[[skills.config]]\nname = \"verse\"\nenabled = false\n")],
                SUB,
                Nothing,
            ),
            set_up(
                &[
                    SHARED,
                    (
                        CONFIG,
                        "[[skills.config]]\npath = \"HERE/p/.agents/skills/verse/SKILL.md\"\n\
                     enabled = false\n",
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    SHARED,
                    (
                        CONFIG,
                        "skills.config = [{name = \"verse\", enabled = false}, \
                     {name = \"verse\", enabled = true}]\n",
                    ),
                ],
                "",
                Line("read "),
            ),
            set_up(
                &[
                    SHARED,
                    (
                        "p/.agents/skills/verse/agents/openai.yaml",
                        "policy:\n  allow_implicit_invocation: false\n",
                    ),
                ],
                SUB,
                Nothing,
            ),
            set_up(
                &[POETRY_ON, (MANIFEST, NAMED), IN_POETRY],
                SUB,
                Line(
                    "read HERE/home/.codex/plugins/cache/market/poetry/1.0.0/skills/verse/SKILL.md",
                ),
            ),
            set_up(&[("p/.agents/skills/verse/skill.md", SKILL)], "", Body),
            // Paths of rules: of the user's home, and relative to the file.
            set_up(
                &[
                    ("home/.agents/skills/verse/SKILL.md", SKILL),
                    (
                        CONFIG,
                        "[[skills.config]]\npath = \"~/.agents/skills/verse/SKILL.md\"\nenabled = false\n",
                    ),
                ],
                "",
                Nothing,
            ),
            // The path of a directory turns nothing off, nor does a name in another letter case.
            set_up(
                &[
                    ("home/.agents/skills/verse/SKILL.md", SKILL),
                    (
                        CONFIG,
                        "[[skills.config]]\npath = \"~/.agents/skills/verse\"\nenabled = false\n",
                    ),
                ],
                "",
                Line("read HERE/home/.agents/skills/verse/SKILL.md"),
            ),
            set_up(
                &[SHARED, (CONFIG, "[[skills.config]]\nname = \"Verse\"\nenabled = false\n")],
                "",
                Line("read HERE/p/.agents/skills/verse/SKILL.md"),
            ),
            // Without its list, it has no skills; the project has a say about that.
            set_up(&[SHARED, (CONFIG, "skills.include_instructions = false\n")], "", Nothing),
            set_up(
                &[
                    SHARED,
                    (CONFIG, "projects.\"HERE/p\".trust_level = \"trusted\"\n"),
                    ("p/.codex/config.toml", "skills.include_instructions = false\n"),
                ],
                "",
                Nothing,
            ),
            // Skills that it does not list.
            set_up(
                &[
                    ("p/verse.md", SKILL),
                    ("p/.agents/skills/verse/SKILL.md", "-> ../../../verse.md"),
                ],
                "",
                Body,
            ),
            set_up(&[("p/.agents/skills/verse/SKILL.md", LATE)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", MARKED)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", UNDESCRIBED)], "", Body),
            set_up(
                &[("home/cx/skills/verse/SKILL.md", SKILL)],
                "../home",
                Line("read HERE/home/cx/skills/verse/SKILL.md"),
            )
            .with(&[("CODEX_HOME", "cx")]),
            set_up(
                &[
                    ("home/.agents/skills/verse/SKILL.md", SKILL),
                    (
                        CONFIG,
                        "[[skills.config]]\npath = \"../.agents/skills/verse/SKILL.md\"\nenabled = false\n",
                    ),
                ],
                SUB,
                Nothing,
            ),
            // The root of the project by the user's markers.
            set_up(
                &[
                    ("p/packages/web/.agents/skills/verse/SKILL.md", SKILL),
                    (CONFIG, "project_root_markers = [\".root\"]\n"),
                    ("p/packages/.root", ""),
                ],
                SUB,
                Line("read HERE/p/packages/web/.agents/skills/verse/SKILL.md"),
            ),
            set_up(
                &[
                    SHARED,
                    (CONFIG, "project_root_markers = [\".root\"]\n"),
                    ("p/packages/.root", ""),
                ],
                SUB,
                Body,
            ),
            // Plugins: the highest version, its manifest, and the configuration of the project.
            set_up(
                &[
                    POETRY_ON,
                    (
                        "home/.codex/plugins/cache/market/poetry/1.9.0/.codex-plugin/plugin.json",
                        NAMED,
                    ),
                    (
                        "home/.codex/plugins/cache/market/poetry/1.10.0/.claude-plugin/plugin.json",
                        NAMED,
                    ),
                    ("home/.codex/plugins/cache/market/poetry/1.10.0/skills/verse/SKILL.md", SKILL),
                ],
                "",
                Line("poetry/1.10.0/skills/verse/SKILL.md"),
            ),
            set_up(
                &[
                    POETRY_ON,
                    (MANIFEST, r#"{"name": "poetry", "skills": "./more/"}"#),
                    ("home/.codex/plugins/cache/market/poetry/1.0.0/more/verse/SKILL.md", SKILL),
                ],
                "",
                Line("poetry/1.0.0/more/verse/SKILL.md"),
            ),
            set_up(&[POETRY_ON, IN_POETRY], "", Nothing),
            set_up(
                &[
                    (
                        CONFIG,
                        "plugins.\"poetry@market\".enabled = true\nfeatures.plugins = false\n",
                    ),
                    (MANIFEST, NAMED),
                    IN_POETRY,
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    (CONFIG, "projects.\"HERE/p\".trust_level = \"trusted\"\n"),
                    ("p/.codex/config.toml", POETRY_ON.1),
                    (MANIFEST, NAMED),
                    IN_POETRY,
                ],
                SUB,
                Line("poetry/1.0.0/skills/verse/SKILL.md"),
            ),
            set_up(
                &[("p/.codex/config.toml", POETRY_ON.1), (MANIFEST, NAMED), IN_POETRY],
                "",
                Nothing,
            ),
        ],
    );
}
