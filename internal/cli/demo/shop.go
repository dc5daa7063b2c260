package demo

import (
	"fmt"
	"strconv"
	"strings"
)

// shop are the files of the night's project.
var shop = map[string]string{
	"README.md": "# A small shop\n\nMade by `ferrus demo --night`: its agents are scripts, and nothing in it is sold.\n",
	"cart.go": `// Package shop sells things.
package shop

// A Line is an article in a cart.
type Line struct {
	Name  string
	Cents int
	Count int
}
`,
	"lint.sh": `# The first check of the shop: nothing is to be fixed.
if grep -n FIXME *.go; then
  echo "lint: fix this first"
  exit 1
fi
`,
	"check.sh": `# The second check of the shop: nothing is left to do.
if grep -n TODO *.go; then
  echo "--- FAIL: something is left to do"
  exit 1
fi
echo "ok  shop"
`,
	"bench.sh": `# The score of an attempt: how many articles find.go has room for.
sed -n 's/.*room for \([0-9]*\) articles.*/\1/p' find.go 2>/dev/null | grep . || echo 0
`,
	"send.sh": `# Sends notes, and loses the connection before the answer.
cat >/dev/null
echo "connection reset by mail.example.org after 250 bytes" >&2
exit 1
`,
	"workflows.json": `{
  "notes": {
    "phases": [
      {"id": "collect", "workers": [{"role": "commits", "run": "git log --oneline > \"$FERRUS_OUTPUT\""}]},
      {"id": "write", "workers": [{"role": "notes", "final": true, "reads": ["commits.md"],
        "run": "{ echo '# Release notes'; echo; sed 's/^/- /' \"$FERRUS_RUN_DIR/commits.md\"; } > \"$FERRUS_OUTPUT\""}]}
    ]
  }
}
`,
}

// configuration is the ferrus.toml of the night.
func configuration(exe, deliver string, timeout int) string {
	command := strconv.Quote("'" + strings.ReplaceAll(exe, "'", `'\''`) + "' demo agent {server}")
	return fmt.Sprintf(`# The project of ferrus demo --night. Its agents follow a script.
[checks]
commands = ["sh lint.sh", "sh check.sh"]
timeout_secs = %d

[limits]
max_check_retries = 4
max_same_failure = 3

[branches]
score = "sh bench.sh"

[deliver]
to = "%s"
command = "sh send.sh"

[hq.supervisor]
agent = "command"
command = %s

[hq.executor]
agent = "command"
command = %[3]s
`, timeout, deliver, command)
}
