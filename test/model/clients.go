package model

// ClaudeEnv is the environment that leads Claude Code to the model at url, and keeps it from asking elsewhere. It tries once more what the
// model refuses: not for minutes.
func ClaudeEnv(url string) []string {
	return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1"}
}

// CodexConfig is the config.toml that leads Codex to the model at url. It wants a key in the environment, MODEL_KEY.
func CodexConfig(url string) string {
	return `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "` + url + `/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 1
stream_max_retries = 1

# Its sandbox makes an empty .git in each folder that it writes in, and one that is killed leaves it there.
[sandbox_workspace_write]
exclude_slash_tmp = true

[analytics]
enabled = false
`
}
