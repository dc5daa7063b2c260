package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: whatever a log holds, each of its calls has a tool, and no call ends before it begins.
func FuzzParse(f *testing.F) {
	f.Add(`{"time":"2026-01-02T12:00:09Z","msg":"call","tool":"submit","took":8000000000,"began":"2026-01-02T12:00:01Z","seq":7}` + "\n{")
	f.Add(`{"time":"2026-01-02T12:00:09Z","msg":"call","tool":"submit","took":-1}` + "\n" + `{"msg":"call"}`)
	f.Add(`{"time":"2026-01-02T12:00:09Z","msg":"call","tool":"check","began":"2026-01-02T13:00:00Z"}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range parseLog(strings.NewReader(text)) {
			if c.Tool == "" || c.Start().After(c.End) {
				t.Errorf("%+v", c)
			}
		}
	})
}

// TestOldLinesAndTornOnesAreRead: all logs of a folder in the order of the calls, and nothing else.
func TestOldLinesAndTornOnesAreRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"serve-executor-codex-1-120000-7.log": `{"time":"2026-01-02T12:00:09Z","level":"INFO","msg":"call","tool":"submit","agent":"executor:codex:1","status":"submitted","code":"","next":"stop","bytes":9,"took":8000000000,"task":"t-1","seq":7,"run":"executor-1","args":"ab"}
{"time":"2026-01-02T12:00:10Z","level":"ERROR","msg":"panic","in":"submit"}
{"time":"2026-01-02T12:00:11Z","level":"INFO","msg":"call","tool":"pro`,
		"serve-executor-codex-1-110000-6.log": `{"time":"2026-01-02T12:00:02Z","level":"INFO","msg":"call","tool":"check","agent":"executor:codex:1","status":"passed","code":"","next":"submit","bytes":9,"took":0}
`,
		"agent-t-1-executor-1.log": `{"time":"2026-01-02T12:00:02Z","msg":"call","tool":"approve"}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := ReadLog(dir)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if c := list[0]; c.Tool != "submit" || c.Task != "t-1" || c.Seq != 7 || c.Run != "executor-1" || c.Args != "ab" {
		t.Errorf("%+v", c) // it began first
	}
	if c := list[1]; c.Tool != "check" || c.Agent != "executor:codex:1" || c.Run != "" || c.Status != "passed" {
		t.Errorf("an old line: %+v", c)
	}
	if list, err := ReadLog(filepath.Join(dir, "none")); err != nil || list != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// TestALineThatIsTooLongHidesNoOther: the calls after it are read.
func TestALineThatIsTooLongHidesNoOther(t *testing.T) {
	call := `{"time":"2026-01-02T12:00:09Z","msg":"call","tool":"submit"}`
	list := parseLog(strings.NewReader(call + "\n" + strings.Repeat("x", maxLogLine+100) + "\n" + call + "\n" + call))
	if len(list) != 3 {
		t.Errorf("%d calls", len(list))
	}
}
