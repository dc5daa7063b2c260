//go:build unix

package checks

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/test/kit"
)

// mute is the variable by which a test gets a helper whose server hears nothing beyond the lock.
const mute = "MUTE_HELPER"

// TestMain is also the programs that the tests need: the helper, a server to be killed, and a daemon.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == HelperArg && os.Getenv(mute) != "" {
		runtime.LockOSThread()
		_ = helper(os.Stdin, &oneMessage{w: os.Stdout})
	}
	Helper()
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case "serve":
			serve(os.Args[2])
		case "daemon":
			daemon(os.Args[2])
		}
	}
	// A program with the race detector sleeps a second before it exits, and the helper inherits this.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// oneMessage passes the first message on; whoever writes a second one waits for ever.
type oneMessage struct {
	w    io.Writer
	full bool
}

func (o *oneMessage) Write(p []byte) (int, error) {
	if o.full {
		select {}
	}
	o.full = true
	return o.w.Write(p)
}

// serve starts the job of the spec at path, says so and waits to be killed.
func serve(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	var spec Spec
	if err := json.Unmarshal(data, &spec); err != nil {
		panic(err)
	}
	if _, err := Start(spec); err != nil {
		panic(err)
	}
	fmt.Println("started")
	select {}
}

// daemon leaves a sleeper behind in a session of its own, with the output it was given, and writes its id to path.
func daemon(path string) {
	cmd := exec.Command("sleep", "1000")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if err := os.WriteFile(path, fmt.Append(nil, cmd.Process.Pid), 0o600); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// specFor is a spec in a fresh directory. The commands find this program in $SELF.
func specFor(t *testing.T, commands ...string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return Spec{
		Dir:       dir,
		Commands:  commands,
		Env:       map[string]string{"SELF": self},
		Log:       filepath.Join(dir, "check.log"),
		TailLines: 20,
		Lock:      filepath.Join(dir, "check.lock"),
	}
}

func start(t *testing.T, spec Spec) *Job {
	t.Helper()
	j, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Stop)
	return j
}

// finished is the result of the spec, and checks what every run promises.
func finished(t *testing.T, spec Spec) Result {
	t.Helper()
	j := start(t, spec)
	select {
	case <-j.Done():
	case <-time.After(kit.Patience):
		t.Fatal("the run does not end")
	}
	r := j.Result()
	if Running(spec.Lock) {
		t.Error("the lock is held after the end")
	}
	if (r.Status == GateError) != (r.Err != "") {
		t.Errorf("status %s with error %q", r.Status, r.Err)
	}
	return r
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// gate is a named pipe; its wait returns when a command has written a line to it.
func gate(t *testing.T, path string) (wait func()) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func() {
		t.Helper()
		if err := f.SetReadDeadline(time.Now().Add(kit.Patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
}
