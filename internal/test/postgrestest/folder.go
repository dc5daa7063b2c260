package postgrestest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// longest is how long the path of the folder may be, so that the path of a socket in it fits into 103 bytes, which is what
// macOS takes.
const longest = 103 - len("/1000/.s.PGSQL.65535")

// A folder contains the servers of a test program. As soon as the program has ended, the keeper of the folder lets the frozen
// servers go on, so that they end as well, and removes the folder.
type folder struct {
	path   string
	keeper *exec.Cmd
	input  io.WriteCloser
	frozen map[*Server][]int
}

// keeping is the shell script of the keeper. Each line of its input replaces the list of the frozen processes. The servers end
// by themselves, and may still write into the folder until then.
const keeping = `
while read -r line; do frozen=$line; done
[ -z "$frozen" ] || kill -CONT $frozen
tries=0
until rm -rf "$0" || [ $tries -gt 100 ]; do tries=$((tries+1)); sleep 0.1; done`

func newFolder() (*folder, error) {
	path, err := shortFolder()
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, keeper: exec.Command("/bin/sh", "-c", keeping, path), frozen: map[*Server][]int{}}
	f.keeper.SysProcAttr = proc.Leader()
	if f.input, err = f.keeper.StdinPipe(); err == nil {
		err = f.keeper.Start()
	}
	if err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	return f, nil
}

// shortFolder makes a folder that the user of the servers can reach, and which belongs to it.
func shortFolder() (path string, err error) {
	found, err := installed()
	if err != nil {
		return "", err
	}
	for _, above := range []string{os.TempDir(), "/tmp"} {
		if path, err = os.MkdirTemp(above, "ferrus-pg-"); err != nil {
			continue
		}
		if len(path) <= longest {
			if err = found.own(path); err == nil {
				return path, nil
			}
		} else {
			err = fmt.Errorf("%s is too long for the path of a socket", path)
		}
		os.RemoveAll(path)
	}
	return "", err
}

// freeze records which processes of a server are frozen; none ends the record.
func (f *folder) freeze(s *Server, pids []int) error {
	f.frozen[s] = pids
	var all []string
	for _, pids := range f.frozen {
		for _, pid := range pids {
			all = append(all, fmt.Sprint(pid))
		}
	}
	_, err := fmt.Fprintln(f.input, strings.Join(all, " "))
	return err
}

// sub makes a folder for one server.
func (f *folder) sub(n int) (string, error) {
	dir := filepath.Join(f.path, fmt.Sprint(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	found, err := installed()
	if err == nil {
		err = found.own(dir)
	}
	return dir, err
}

// remove removes the folder, in which no server runs any more.
func (f *folder) remove() {
	f.input.Close()
	_ = f.keeper.Wait()
}
