//! The types of the settings of Claude Code. It ignores all of a file in which one of these settings has another
//! type. Observed with 2.1.332, by one file for each of the settings that its program names with a plain type.

use serde_json::Value;

/// Settings that are `true` or `false`.
const SWITCHES: [&str; 70] = [
    "allowAllClaudeAiMcps",
    "allowClaudeInChromeWithManagedMcp",
    "allowManagedHooksOnly",
    "allowManagedMcpServersOnly",
    "allowManagedPermissionRulesOnly",
    "allowNestedModelAccessUnderForceLogin",
    "alwaysThinkingEnabled",
    "autoCompactEnabled",
    "autoContinueAtUsageLimit",
    "autoDreamEnabled",
    "autoMemoryEnabled",
    "autoScrollEnabled",
    "awaySummaryEnabled",
    "bashEditDiffEnabled",
    "channelsEnabled",
    "clawdFileProgressEnabled",
    "disableAgentView",
    "disableAllHooks",
    "disableArtifact",
    "disableBundledSkills",
    "disableClaudeAiConnectors",
    "disableCommandPluginSources",
    "disableDirectMcpSkills",
    "disableRemoteControl",
    "disableReplyCheck",
    "disableSideloadFlags",
    "disableSkillShellExecution",
    "disableWindowsBashCommandSplit",
    "disableWorkflows",
    "doneMeansMerged",
    "emojiCompletionEnabled",
    "enableAllProjectMcpServers",
    "enableArtifact",
    "enableWorkflows",
    "enforceAvailableModels",
    "fastMode",
    "fastModePerSessionOptIn",
    "fileCheckpointingEnabled",
    "forceRemoteSettingsRefresh",
    "idleCompaction",
    "includeCoAuthoredBy",
    "includeGitInstructions",
    "isolatePeerMachines",
    "precomputeCompactionEnabled",
    "prefersReducedMotion",
    "promptSuggestionEnabled",
    "remoteControlAtStartup",
    "respectGitignore",
    "respondToBashCommands",
    "responseComparisonEnabled",
    "showClearContextOnPlanAccept",
    "showMessageTimestamps",
    "showThinkingSummaries",
    "showTurnDuration",
    "skipDangerousModePermissionPrompt",
    "skipWebFetchPreflight",
    "skipWorkflowUsageWarning",
    "spinnerTipsEnabled",
    "switchModelsOnFlag",
    "syncClaudeAiPlugins",
    "syncClaudeAiSkills",
    "syntaxHighlightingDisabled",
    "terminalProgressBarEnabled",
    "terminalTitleFromRename",
    "todoFeatureEnabled",
    "totalTokensReminderAfterUserTurn",
    "verbose",
    "wheelScrollAccelerationEnabled",
    "workflowKeywordTriggerEnabled",
    "wslInheritsWindowsSettings",
];

/// Settings that are a text.
const TEXTS: [&str; 25] = [
    "advisorModel", "agent", "apiKeyHelper", "attributionProject", "autoMemoryDirectory",
    "awsAuthRefresh", "awsCredentialExport", "claudeMd", "downloadsMirrorUrl", "gcpAuthRefresh",
    "language", "minimumVersion", "model", "modelCatalogPublicKey", "modelCatalogUrl",
    "otelHeadersHelper", "outputStyle", "plansDirectory", "pluginTrustMessage", "prUrlTemplate",
    "processWrapper", "proxyAuthHelper", "requiredMaximumVersion", "requiredMinimumVersion",
    "timeZone",
];

/// Settings that are a number.
const NUMBERS: [&str; 6] = [
    "cleanupPeriodDays",
    "desktopSessionCleanupPeriodDays",
    "feedbackSurveyRate",
    "skillListingBudgetFraction",
    "skillListingMaxDescChars",
    "totalTokensReminderBudget",
];

/// Settings that are a list of texts.
const LISTS: [&str; 7] = [
    "companyAnnouncements",
    "disabledMcpjsonServers",
    "enabledMcpjsonServers",
    "permissions/additionalDirectories",
    "permissions/allow",
    "permissions/ask",
    "permissions/deny",
];

/// Settings that are a map.
const MAPS: [&str; 6] =
    ["attribution", "enabledPlugins", "env", "permissions", "sandbox", "statusLine"];

/// Settings that are one of some words.
const WORDS: [(&str, &[&str]); 8] = [
    ("autoUpdatesChannel", &["latest", "stable", "rc"]),
    ("daemonColdStart", &["transient", "ask"]),
    ("defaultShell", &["bash", "powershell"]),
    ("disableAutoMode", &["disable"]),
    ("feedbackDrafts", &["notify", "quiet", "off"]),
    ("managedSourcesBehavior", &["first-wins", "merge"]),
    ("parentSettingsBehavior", &["first-wins", "merge"]),
    ("tui", &["default", "fullscreen"]),
];

/// The words of `skillOverrides`, a map from skills to one of them.
const OVERRIDES: [&str; 4] = ["on", "name-only", "user-invocable-only", "off"];

/// Returns the first setting of `settings` that has a value of a wrong type, and that value.
pub(super) fn wrong_type(settings: &Value) -> Option<(String, &Value)> {
    let is_text = |value: &Value| value.is_string();
    let is_list = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(is_text));
    let is_one_of =
        |words: &[&str], value: &Value| value.as_str().is_some_and(|of| words.contains(&of));
    let is_overrides = |value: &Value| {
        value.as_object().is_some_and(|map| map.values().all(|of| is_one_of(&OVERRIDES, of)))
    };
    let wrong = |name: &str, is_right: &dyn Fn(&Value) -> bool| {
        let value = name.split('/').try_fold(settings, |map, key| map.get(key))?;
        (!is_right(value)).then(|| (name.replace('/', "."), value))
    };
    let all = |names: &[&str], is_right: &dyn Fn(&Value) -> bool| {
        names.iter().find_map(|name| wrong(name, is_right))
    };
    all(&SWITCHES, &Value::is_boolean)
        .or_else(|| all(&TEXTS, &is_text))
        .or_else(|| all(&NUMBERS, &Value::is_number))
        .or_else(|| all(&MAPS, &Value::is_object))
        .or_else(|| all(&LISTS, &is_list))
        .or_else(|| WORDS.iter().find_map(|(name, words)| wrong(name, &|of| is_one_of(words, of))))
        .or_else(|| wrong("skillOverrides", &is_overrides))
}
