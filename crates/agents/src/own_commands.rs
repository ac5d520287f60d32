//! The commands that agents have by themselves. A skill with the name of one cannot be called by a slash
//! there.

use super::HookAgent;

impl HookAgent {
    /// The agent's own slash commands, without the slash, in byte order. None are known of Cursor and Droid,
    /// whose programs are not public.
    ///
    /// ```
    /// use repertoire_agents::HookAgent;
    ///
    /// assert!(HookAgent::ClaudeCode.own_commands().any(|name| name == "release-notes"));
    /// assert!(!HookAgent::Codex.own_commands().any(|name| name == "release-notes"));
    /// ```
    pub fn own_commands(self) -> impl Iterator<Item = &'static str> {
        let names = match self {
            HookAgent::ClaudeCode => CLAUDE_CODE,
            HookAgent::Codex => CODEX,
            HookAgent::Gemini => GEMINI,
            HookAgent::Cursor | HookAgent::Droid => "",
            HookAgent::Copilot => COPILOT,
            HookAgent::OpenCode => OPEN_CODE,
            HookAgent::Qwen => QWEN,
        };
        names.split_ascii_whitespace()
    }
}

/// From the program of Claude Code 2.1.197.
const CLAUDE_CODE: &str = "\
     add-dir advisor agents autocompact autofix-pr background branch brief btw bug cd chrome \
     clear color compact config context continue copy cost daemon desktop diff doctor effort exit \
     export extra-usage fast feedback focus fork goal help hooks ide init insights install \
     install-github-app install-slack-app keybindings login logout loops marketplace mcp memory \
     mobile model new passes permissions plan plugin plugins powerup privacy-settings quit recap \
     release-notes reload-plugins reload-skills remote remote-control remote-env rename reset \
     resume review rewind session settings setup-bedrock setup-vertex share skills stats status \
     statusline stickers stop tasks team-onboarding teleport terminal-setup theme tui ultraplan \
     ultrareview undo update upgrade usage usage-credits version voice web-setup workflows";

/// From `codex-rs/tui/src/slash_command.rs` of openai/codex (`001cb8e2`), and the program of Codex
/// 0.171.0.
const CODEX: &str = "\
     approvals compact debug-config diff exit experimental export feedback import init logout mcp \
     mention model new output-style permissions ps quit resume review skills status statusline \
     vim";

/// From the bundle of Gemini CLI 0.61.0.
const GEMINI: &str = "\
     about agents auth bug chat clear commands compress copy corgi directory docs editor \
     extensions footer gemma help hooks ide init mcp memory model oncall permissions plan \
     policies privacy quit restore resume rewind settings setup-github shortcuts skills stats \
     tasks terminal-setup theme tools upgrade vim voice";

/// From `copilot help commands` of Copilot CLI 1.0.102.
const COPILOT: &str = "\
     add-dir agent allow-all app ask autopilot changelog chronicle clear collect-debug-logs \
     compact computer context copy cwd delegate diagnose diff env exit experimental feedback \
     fleet footer fork help ide init instructions keep-alive limits list-dirs login logout lsp \
     mcp memory model move new permissions plan plugin pr refine remote rename research \
     reset-allowed-tools restart resume review rewind rubber-duck sandbox search security-review \
     session settings share skills statusline subagents tasks terminal-setup theme update usage \
     user version vim voice worktree";

/// From the program of `OpenCode` 1.18.33.
const OPEN_CODE: &str = "\
     agents compact connect copy debug diff editor exit export fork help init mcps models move \
     new org redo rename review sessions share skills status summarize themes timeline timestamps \
     undo unshare variants warp workspaces";

/// From the program of Qwen Code 0.24.4.
const QWEN: &str = "\
     about advisor agents approval-mode arena auth branch btw bug cd clear collapse-on-resume \
     compress compress-fast config connect context continue copy curator delete dir directory \
     docs doctor dream editor effort exit expand-now expand-on-resume export extensions \
     forget fork goal help history hooks import-config init insight language learn login lsp \
     mcp memory model new output-style peers permissions plan quit recap reload-plugins \
     remember rename reset restore resume rewind rollback settings setup-github skills stats \
     status statusline summarize summary tag tasks terminal-setup theme tools trust update \
     usage vim voice workflows";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_order_and_none_is_there_twice() {
        for agent in HookAgent::ALL {
            let names: Vec<&str> = agent.own_commands().collect();
            assert!(names.is_sorted_by(|a, b| a < b), "{agent}: {names:?}");
        }
    }
}
