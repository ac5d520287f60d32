//! The check of the settings of Claude Code, which ignores all of a file in which one setting has a value of another form
//! than its schema demands. The schema is that of the program 2.1.332; each form was observed with a file that has another
//! value. Settings whose wrong value it passes over are left out, and so is `hooks`.

use serde_json::Value;

use super::claude_types::Form::{
    self, Any, Either, Filled, Integer, Keys, List, Map, Number, Object, Range, Switch, Text, Time,
    Words,
};
use super::claude_types::wrong;

/// Returns the first setting of `settings` that has a value of a wrong form, and that value.
pub(super) fn wrong_type(settings: &Value) -> Option<(String, Value)> {
    let settings = settings.as_object()?;
    settings.iter().find_map(|(name, value)| wrong(name, form_of(name)?, value))
}

fn form_of(name: &str) -> Option<Form> {
    let has = |names: &str| names.split_ascii_whitespace().any(|of| of == name);
    if has(SWITCHES) {
        return Some(Switch);
    }
    if has(TEXTS) {
        return Some(Text);
    }
    if has(LISTS) {
        return Some(List(&Text));
    }
    OTHERS.iter().find(|(of, _)| *of == name).map(|(_, form)| *form)
}

/// Settings that are `true` or `false`.
const SWITCHES: &str = "
    agentPushNotifEnabled allowAllClaudeAiMcps allowClaudeInChromeWithManagedMcp
    allowManagedHooksOnly allowManagedMcpServersOnly allowManagedPermissionRulesOnly
    allowNestedModelAccessUnderForceLogin alwaysThinkingEnabled autoCompactEnabled
    autoContinueAtUsageLimit autoDreamEnabled autoMemoryEnabled autoScrollEnabled
    autoUploadSessions awaySummaryEnabled axScreenReader bashEditDiffEnabled channelsEnabled
    clawdFileProgressEnabled disableAgentView disableAllHooks disableArtifact
    disableBundledSkills disableClaudeAiConnectors disableCommandPluginSources
    disableDirectMcpSkills disableRemoteControl disableReplyCheck disableSideloadFlags
    disableSkillShellExecution disableWindowsBashCommandSplit disableWorkflows doneMeansMerged
    emojiCompletionEnabled enableAllProjectMcpServers enableArtifact enableWorkflows
    enforceAvailableModels fastMode fastModePerSessionOptIn fileCheckpointingEnabled
    forceRemoteSettingsRefresh idleCompaction includeCoAuthoredBy includeGitInstructions
    inputNeededNotifEnabled isolatePeerMachines precomputeCompactionEnabled prefersReducedMotion
    promptSuggestionEnabled remoteControlAtStartup respectGitignore respondToBashCommands
    responseComparisonEnabled showClearContextOnPlanAccept showMessageTimestamps
    showThinkingSummaries showTurnDuration skipAutoPermissionPrompt
    skipDangerousModePermissionPrompt skipWebFetchPreflight skipWorkflowUsageWarning
    spinnerTipsEnabled switchModelsOnFlag syncClaudeAiPlugins syncClaudeAiSkills
    syntaxHighlightingDisabled terminalProgressBarEnabled terminalTitleFromRename
    todoFeatureEnabled totalTokensReminderAfterUserTurn useAutoModeDuringPlan verbose
    voiceEnabled wheelScrollAccelerationEnabled workflowKeywordTriggerEnabled
    wslInheritsWindowsSettings
";

/// Settings that are a text.
const TEXTS: &str = "
    $schema advisorModel agent apiKeyHelper attributionProject autoMemoryDirectory
    awsAuthRefresh awsCredentialExport claudeMd downloadsMirrorUrl gcpAuthRefresh language
    minimumVersion model modelCatalogPublicKey modelCatalogUrl otelHeadersHelper outputStyle
    plansDirectory pluginTrustMessage prUrlTemplate processWrapper proxyAuthHelper
    requiredMaximumVersion requiredMinimumVersion timeZone
";

/// Settings that are a list of texts.
const LISTS: &str = "
    allowedHttpHookUrls availableModels claudeMdExcludes companyAnnouncements
    disabledMcpjsonServers enabledMcpjsonServers fallbackModel httpHookAllowedEnvVars
    pluginSuggestionMarketplaces
";

const TEXT: Form = List(&Text);
const POSITIVE: Form = Integer(1);
const DISABLE: Form = Words("disable");
const DENY: Form = Words("deny passthrough");
/// The value of an option of a plugin.
const OPTIONS: Form = Map(&Either(&[Text, Number, Switch, TEXT]));

/// Settings of other forms.
const OTHERS: &[(&str, Form)] = &[
    ("allowedChannelPlugins", List(&Keys(&[("marketplace!", Text), ("plugin!", Text)]))),
    ("allowedMarketplaces", List(&Object)),
    ("attribution", Either(&[Switch, Keys(ATTRIBUTION)])),
    ("autoMode", Keys(AUTO_MODE)),
    ("autoUpdatesChannel", Words("latest stable rc")),
    ("blockedMarketplaces", List(&Object)),
    ("breakReminder", Keys(BREAK_REMINDER)),
    ("cleanupPeriodDays", POSITIVE),
    ("daemonColdStart", Words("transient ask")),
    ("defaultShell", Words("bash powershell")),
    ("defaultView", Words("chat transcript")),
    ("desktopSessionCleanupPeriodDays", Integer(0)),
    ("disableAutoMode", DISABLE),
    ("disableDeepLinkRegistration", DISABLE),
    ("enabledPlugins", Map(&Either(&[TEXT, Switch]))),
    ("env", Object),
    ("feedbackDrafts", Words("notify quiet off")),
    ("feedbackSurveyRate", Range(0.0, 1.0)),
    ("fileSuggestion", Keys(&[("type!", Words("command")), ("command!", Text)])),
    ("forceLoginOrgUUID", Either(&[Text, TEXT])),
    ("managedSourcesBehavior", Words("first-wins merge")),
    ("modelOverrides", Map(&Text)),
    ("parentSettingsBehavior", Words("first-wins merge")),
    ("permissions", Keys(PERMISSIONS)),
    ("pluginConfigs", Map(&Keys(&[("mcpServers", Map(&OPTIONS)), ("options", OPTIONS)]))),
    ("quietHours", Keys(&[("enabled", Switch), ("start", Time), ("end", Time)])),
    ("remote", Keys(&[("defaultEnvironmentId", Text)])),
    ("remoteTools", Keys(&[("allowUnattendedServing", Switch)])),
    ("sandbox", Keys(SANDBOX)),
    ("skillListingBudgetFraction", Form::Above(0.0, 1.0)),
    ("skillListingMaxDescChars", POSITIVE),
    ("skillOverrides", Map(&Words("on name-only user-invocable-only off"))),
    ("spinnerVerbs", Keys(&[("mode!", Words("append replace")), ("verbs!", TEXT)])),
    ("sshConfigs", List(&Keys(SSH_CONFIG))),
    ("statusLine", Keys(STATUS_LINE)),
    ("strictKnownMarketplaces", List(&Object)),
    ("timeFormat", Text),
    ("totalTokensReminder", Words("off infinite fixed countdown padded-countdown")),
    ("totalTokensReminderBudget", POSITIVE),
    ("tui", Words("default fullscreen")),
    ("voice", Keys(VOICE)),
    ("workflowSizeGuideline", Words("unrestricted small medium large")),
    ("worktree", Keys(WORKTREE)),
];

const ATTRIBUTION: &[(&str, Form)] = &[("commit", Text), ("pr", Text), ("sessionUrl", Switch)];

const AUTO_MODE: &[(&str, Form)] = &[
    ("allow", TEXT),
    ("soft_deny", TEXT),
    ("hard_deny", TEXT),
    ("environment", TEXT),
    ("classifyAllShell", Switch),
];

const BREAK_REMINDER: &[(&str, Form)] = &[
    ("enabled", Switch),
    ("intervalMinutes", POSITIVE),
    ("breakThresholdMinutes", POSITIVE),
    ("message", Text),
];

const PERMISSIONS: &[(&str, Form)] = &[
    // It takes entries of other types out.
    ("allow", List(&Any)),
    ("deny", List(&Any)),
    ("ask", List(&Any)),
    ("additionalDirectories", TEXT),
    ("defaultMode", Words("acceptEdits auto bypassPermissions default dontAsk manual plan")),
    ("disableBypassPermissionsMode", DISABLE),
    ("disableAutoMode", DISABLE),
    ("blockReadsOutsideWorkingDirectories", Switch),
    ("blockFileToolReadsOutsideWorkingDirectories", Switch),
    ("blockWritesOutsideWorkingDirectories", Switch),
    ("denyInsteadOfPrompting", Switch),
];

const SANDBOX: &[(&str, Form)] = &[
    ("enabled", Switch),
    ("failIfUnavailable", Switch),
    ("autoAllowBashIfSandboxed", Switch),
    ("allowUnsandboxedCommands", Switch),
    ("enableWeakerNestedSandbox", Switch),
    ("allowNestedUserNamespaces", Switch),
    ("enableWeakerNetworkIsolation", Switch),
    ("allowAppleEvents", Switch),
    ("excludedCommands", TEXT),
    ("ignoreViolations", Map(&TEXT)),
    ("ripgrep", Keys(&[("command!", Text), ("args", TEXT)])),
    ("windows", Keys(&[("backend", Words("sandboxuser mxc"))])),
    ("network", Keys(NETWORK)),
    ("filesystem", Keys(FILESYSTEM)),
    ("credentials", Keys(CREDENTIALS)),
];

const NETWORK: &[(&str, Form)] = &[
    ("allowedDomains", TEXT),
    ("deniedDomains", TEXT),
    ("allowUnixSockets", TEXT),
    ("allowMachLookup", TEXT),
    ("strictAllowlist", Switch),
    ("allowManagedDomainsOnly", Switch),
    ("allowAllUnixSockets", Switch),
    ("allowLocalBinding", Switch),
    ("httpProxyPort", Number),
    ("socksProxyPort", Number),
    ("tlsTerminate", Keys(&[("caCertPath", Filled), ("caKeyPath", Filled)])),
];

const FILESYSTEM: &[(&str, Form)] = &[
    ("allowWrite", TEXT),
    ("denyWrite", TEXT),
    ("allowRead", TEXT),
    ("denyRead", TEXT),
    ("allowManagedReadPathsOnly", Switch),
    ("disabled", Switch),
];

const CREDENTIALS: &[(&str, Form)] = &[
    ("files", List(&Keys(&[("path!", Text), ("mode!", Words("deny mask"))]))),
    ("envVars", List(&Keys(&[("name!", Text), ("mode!", Words("deny mask"))]))),
    ("awsPairs", List(&Keys(&[("accessKeyIdVar!", Text), ("secretAccessKeyVar!", Text)]))),
    ("allowPlaintextInject", Switch),
    ("sigv4", Keys(&[("streaming", DENY), ("presigned", DENY), ("sigv4a", DENY)])),
];

const SSH_CONFIG: &[(&str, Form)] = &[
    ("id!", Text),
    ("name!", Text),
    ("sshHost!", Text),
    ("sshPort", Integer(i64::MIN)),
    ("sshIdentityFile", Text),
    ("startDirectory", Text),
];

const STATUS_LINE: &[(&str, Form)] = &[
    ("type!", Words("command")),
    ("command!", Text),
    ("padding", Number),
    ("hideVimModeIndicator", Switch),
];

const VOICE: &[(&str, Form)] =
    &[("enabled", Switch), ("mode", Words("hold tap")), ("autoSubmit", Switch)];

const WORKTREE: &[(&str, Form)] =
    &[("symlinkDirectories", TEXT), ("sparsePaths", TEXT), ("baseRef", Words("fresh head"))];
