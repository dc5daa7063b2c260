package proc

import (
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A zombie has ended: where process 1 collects no orphans it stays one for ever.
func TestAZombieIsNotAlive(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if !Alive(pid) || !Of(cmd.Process).Alive() {
		t.Error("a process that runs is not alive")
	}
	Of(cmd.Process).Kill()
	kit.Eventually(t, "a zombie is not alive", func() bool { return !Alive(pid) && !Of(cmd.Process).Alive() })
	if err := unix.Kill(pid, 0); err != nil {
		t.Errorf("it was no zombie: %v", err)
	}
	_ = cmd.Wait()
}
