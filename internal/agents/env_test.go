package agents

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInherited(t *testing.T) {
	got := inherited([]string{"PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=x", "CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_MAX_RETRIES=3",
		"CODEX_HOME=/h", "CODEX_SANDBOX_NETWORK_DISABLED=1", "CODEX_THREAD_ID=t", "QWEN_CODE_MODEL_IDENTITY=m", "GEMINI_CLI=1",
		"GEMINI_API_KEY=k", "OPENCODE_SERVER_PASSWORD=p", "OPENCODE_CONFIG=/o", "GIT_DIR=.git", "GIT_AUTHOR_NAME=me", "FERRUS_ROOT=/r",
		"FERRUS_AGENT=a", "FERRUS_NOTIFY_URL=ntfy://h/t", "AI_AGENT=x", "EMPTY=", "A=b=c",
		"PGHOST=h", "PGPASSFILE=/p", "PGPASSWORD=p", "PGSERVICE=s", "PGSERVICEFILE=/s"}, []string{"NEW=1"})
	want := []string{"PATH=/bin", "CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_MAX_RETRIES=3", "CODEX_HOME=/h", "GEMINI_API_KEY=k",
		"OPENCODE_CONFIG=/o", "GIT_AUTHOR_NAME=me", "EMPTY=", "A=b=c", "NEW=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAServerOutsideReachesTheDatabase that its agent does not: it writes the journal.
func TestAServerOutsideReachesTheDatabase(t *testing.T) {
	s := LaunchSpec{Duty: Executor, Index: 1, Root: "/p", Environ: []string{"PATH=/bin", "PGPASSFILE=/p", "CLAUDECODE=1", "FERRUS_NOTIFY_URL=ntfy://h/t"}}
	want := []string{"PATH=/bin", "PGPASSFILE=/p", "FERRUS_AGENT=executor:codex:1", "FERRUS_PROJECT=/p"}
	if diff := cmp.Diff(want, s.ServerEnv("codex")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPassedAreNamesOnly(t *testing.T) {
	got := passed([]string{"PATH=/bin", "OPENAI_API_KEY=k", "GITHUB_TOKEN=t", "MY_API_KEY=k", "ANTHROPIC_BASE_URL=u", "SSH_AUTH_SOCK=/s",
		"https_proxy=p", "VIRTUAL_ENV=/v", "PATH=/again", "FERRUS_AGENT=x", "BASH_FUNC_f%%=()", "ProgramFiles(x86)=c", "=C:=c"})
	if diff := cmp.Diff([]string{"PATH", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "https_proxy"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
