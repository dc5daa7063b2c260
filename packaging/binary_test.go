package packaging_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/kit"
)

// bin is a folder with the program ferrus, built as it is.
var bin string

func TestMain(m *testing.M) {
	os.Exit(kit.Main(func() int {
		dir, err := os.MkdirTemp("", "packaging-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		bin = dir
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+string(filepath.Separator), "../cmd/ferrus").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}))
}

// program is the path of the program under a name of it.
func program(name string) string { return filepath.Join(bin, name) }

// TestALinkNamedFerrusdIsTheServer: packages have one program, and ferrusd is a link to it.
func TestALinkNamedFerrusdIsTheServer(t *testing.T) {
	if err := os.Symlink("ferrus", program("ferrusd")); err != nil {
		t.Skip(err)
	}
	if answer := initialize(t, exec.Command(program("ferrusd"), "--root", t.TempDir())); !strings.Contains(answer, `"serverInfo":{"name":"ferrus"`) {
		t.Error(answer)
	}
	for name, want := range map[string]string{"ferrusd": "ferrusd ", "ferrus": "ferrus "} {
		out, err := exec.Command(program(name), "--version").Output()
		if err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// initialize starts a server, returns its first answer, and ends it by the end of its input.
func initialize(t *testing.T, server *exec.Cmd) string {
	t.Helper()
	in, _ := server.StdinPipe()
	out, _ := server.StdoutPipe()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
		`"clientInfo":{"name":"t","version":"1"}}}`)
	answer, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	in.Close()
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	return answer
}
