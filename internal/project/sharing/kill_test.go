//go:build unix

package sharing

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// TestAMoveIntoADatabaseIsKilledAfterEachStep: at no moment two computers can work on the project, and the next move ends with one project in which each event
// and each task is once.
func TestAMoveIntoADatabaseIsKilledAfterEachStep(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	conn := postgrestest.Connect(t, url)
	for step, over := 1, false; !over && !t.Failed(); step++ {
		if !kit.Every(2, step) {
			continue
		}
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			a, b := newProject(t, "a"), newFolder(t, "b")
			steps, killed, err := process(t, "move", a, url, step)
			if over = !killed; over && err != nil {
				t.Fatal(err)
			}
			t.Log(steps)
			_, joined := Join(t.Context(), b, url, filepath.Base(a), time.Now())
			inA, inB := writes(a, ""), writes(b, "")
			if joined == nil && inA == nil && !project.At(a, "").InDatabase() {
				t.Errorf("both computers can write, after %q", steps[len(steps)-1])
			}
			if joined == nil && inB != nil {
				t.Error(inB)
			}
			if joined != nil && inA != nil {
				wantError(t, inA, "move") // says what helps
			}
			was := ""
			if inA == nil && !over {
				was = journal(t, a, "")
			}
			if !over {
				if _, _, err := process(t, "move", a, url, 0); err != nil && !strings.Contains(err.Error(), "in a database already") { // where only the end was not told
					t.Fatal(err)
				}
			}
			closeAll(a)
			if n := projects(t, conn, a); n != 1 {
				t.Errorf("the database has %d projects", n)
			}
			if joined != nil {
				c := newFolder(t, "c") // b has an event of its own by now
				if _, err := Join(t.Context(), c, url, "", time.Now()); err != nil {
					t.Fatal(err)
				}
				b = c
			}
			if got := journal(t, b, ""); !strings.HasPrefix(got, was) || got == "" {
				t.Errorf("the journal does not go on from the one in files")
			}
			if got := journal(t, b, "side"); got == "" || got != journal(t, a, "side") {
				t.Errorf("the journals of the branch are not the same")
			}
			for _, root := range []string{a, b} {
				if got := waiting(t, root); got != "a: Do a., b: Do b." {
					t.Errorf("%s: %s wait", root, got)
				}
				if file.Initialised(filepath.Join(root, ".ferrus")) || file.Initialised(filepath.Join(root, ".ferrus/branches/side")) {
					t.Errorf("%s has a journal in files", root)
				}
			}
			takeA(t, b)
			if it, err := queue.Put(filepath.Join(a, ".ferrus"), "old", "Again."); err != nil || it.Name != "old-2" {
				t.Errorf("the name of a task that was taken was used again: %s, %v", it.Name, err)
			}
			if got := waiting(t, a); got != "b: Do b., old-2: Again." {
				t.Errorf("%s wait", got)
			}
			_, err = Move(t.Context(), a, url, time.Now())
			wantError(t, err, "in a database already")
		})
	}
}

// takeA takes the task a out of the queue.
func takeA(t *testing.T, root string) {
	t.Helper()
	it, err := queue.Find(filepath.Join(root, ".ferrus"), "a")
	must(t, err)
	c, err := queue.Take(t.Context(), it)
	must(t, err)
	must(t, c.Done())
	must(t, c.Close())
}

// TestAMoveToFilesIsKilledAfterEachStep: one computer has the project afterwards, whichever tries first, and the error of the other names it. By
// turns another computer tries first, and with -full after each step.
func TestAMoveToFilesIsKilledAfterEachStep(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	conn := postgrestest.Connect(t, url)
	for step, over := 1, false; !over && !t.Failed(); step++ {
		for _, other := range []bool{false, true} {
			if !kit.Full() && other != (step%2 == 0) || !kit.Every(3, step) {
				continue
			}
			t.Run(fmt.Sprintf("%d, another computer first %v", step, other), func(t *testing.T) {
				a, b := newProject(t, "a"), newFolder(t, "b")
				must(t, second(Move(t.Context(), a, url, time.Now())))
				must(t, second(Join(t.Context(), b, url, "", time.Now())))
				own, side := journal(t, a, ""), journal(t, a, "side")
				steps, killed, err := process(t, "return", a, url, step)
				over = !killed
				t.Log(steps)
				if !killed {
					must(t, err)
				}
				first, then := a, b
				if other {
					first, then = b, a
				}
				err1 := second(Return(t.Context(), first))
				err2 := second(Return(t.Context(), then))
				got, told := first, err2
				switch {
				case first == a && !killed:
					wantError(t, err1, "in its files")
				case err1 == nil:
				default: // a has taken it out before it was killed
					got, told = then, err1
					if !killed {
						wantError(t, err2, "in its files")
					} else if err2 != nil {
						t.Fatal(err2)
					}
				}
				wantError(t, told, "moved into the files of "+got, "store move", "store join")
				if err := writes(got, ""); err != nil {
					t.Error(err)
				}
				for _, root := range []string{a, b} {
					if root != got {
						wantError(t, writes(root, ""), "moved into the files of "+got)
					}
				}
				if j := journal(t, got, ""); !strings.HasPrefix(j, own) || j == own {
					t.Error("the journal does not go on from the one in the database")
				}
				if journal(t, got, "side") != side {
					t.Error("the journal of the branch is another one")
				}
				if w := waiting(t, got); w != "a: Do a., b: Do b." {
					t.Errorf("%s wait", w)
				}
				if left, _ := filepath.Glob(filepath.Join(got, ".ferrus", "*.import")); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
				if n := projects(t, conn, got); n != 0 {
					t.Errorf("the database has %d projects", n)
				}
				must(t, second(Move(t.Context(), got, url, time.Now())))
			})
		}
	}
}

// TestAJoinIsKilledAfterEachStep: the next one ends with the folder in the project.
func TestAJoinIsKilledAfterEachStep(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	for step, over := 1, false; !over && !t.Failed(); step++ {
		if !kit.Every(2, step) {
			continue
		}
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			a, b := newProject(t, "a"), newFolder(t, "b")
			must(t, second(Move(t.Context(), a, url, time.Now())))
			_, err := queue.Put(filepath.Join(b, ".ferrus"), "a", "Do it.")
			must(t, err)
			_, killed, err := process(t, "join", b, url, step)
			if over = !killed; over {
				must(t, err)
			}
			must(t, second(Join(t.Context(), b, url, "", time.Now())))
			if w := waiting(t, b); w != "a: Do a., b: Do b., a-2: Do it." {
				t.Errorf("%s wait", w)
			}
			if file.Initialised(filepath.Join(b, ".ferrus")) {
				t.Error("it has a journal in files")
			}
		})
	}
}

// TestOneOfTwoComputersTakesTheProject when both move it to files at the same time.
func TestOneOfTwoComputersTakesTheProject(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	a, b := newProject(t, "a"), newFolder(t, "b")
	must(t, second(Move(t.Context(), a, url, time.Now())))
	must(t, second(Join(t.Context(), b, url, "", time.Now())))
	done := make(chan error, 2)
	for _, root := range []string{a, b} {
		go func() {
			_, _, err := process(t, "return", root, url, 0)
			done <- err
		}()
	}
	one, two := <-done, <-done
	if one == nil {
		one, two = two, one
	}
	if two != nil {
		t.Fatal(two)
	}
	wantError(t, one, "moved into the files of")
}
