package postgrestest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// longest is how long the path of the folder may be, so that the path of a socket in it fits into 103 bytes.
const longest = 103 - len("/1000/.s.PGSQL.65535")

// A folder contains the servers of a test program. As soon as the program has ended, the keeper of the folder lets the frozen
// servers go on, so that they end as well, and removes the folder.
type folder struct {
	path   string
	keeper *exec.Cmd
	input  io.Closer
}

// keeping is the shell script of the keeper. The servers end by themselves, and may still write into the folder until then.
const keeping = `
cat >/dev/null
for file in "$0"/*/data/postmaster.pid; do
	read -r pid <"$file" && kill -CONT $pid $(cat /proc/$pid/task/$pid/children)
done 2>/dev/null
tries=0
until rm -rf "$0" || [ $tries -gt 100 ]; do tries=$((tries+1)); sleep 0.1; done`

func newFolder() (*folder, error) {
	path, err := shortFolder()
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, keeper: exec.Command("/bin/sh", "-c", keeping, path)}
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
		if len(path) > longest {
			err = fmt.Errorf("%s is too long for the path of a socket", path)
		} else if err = found.own(path); err == nil {
			cmd := found.command("/bin/true")
			cmd.Dir = path
			if err = found.run(cmd); err == nil {
				return path, nil
			}
		}
		os.RemoveAll(path)
	}
	return "", err
}

// own gives a folder to the user of the servers.
func (i tools) own(dir string) error {
	if i.as == nil {
		return nil
	}
	return os.Chown(dir, i.as.uid, i.as.gid)
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

// initdb is how the data of a server is made.
var initdb = []string{"-U", superuser, "--auth-local=trust", "--auth-host=scram-sha-256", "--no-locale", "-E", "UTF8", "--wal-segsize=1", "--no-sync", "--no-instructions"}

// unpack makes the data of a server in a folder that is not there yet. initdb takes much longer: what it makes is kept in the user's cache, for
// all test programs. Several may make it at once.
func (f *folder) unpack(data string) error {
	found, err := installed()
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = f.path
	}
	sum := sha256.Sum256([]byte(found.bin + found.version + strings.Join(initdb, " ")))
	name := filepath.Join(cache, "ferrus-test", fmt.Sprintf("initdb-%x.tar", sum[:8]))
	archive, err := os.Open(name)
	if err != nil {
		if err := found.run(found.command("initdb", append(initdb, "-D", data)...)); err != nil {
			return err
		}
		_ = found.pack(data, name) // without it the next server takes longer
		return nil
	}
	defer archive.Close()
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if err := found.own(data); err != nil {
		return err
	}
	cmd := found.command("/bin/tar", "-x", "-C", data)
	cmd.Stdin = archive
	return found.run(cmd)
}

// pack keeps the data of a server that was never started in an archive.
func (i tools) pack(data, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	archive, err := os.CreateTemp(filepath.Dir(name), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(archive.Name())
	cmd := i.command("/bin/tar", "-c", "-C", data, ".")
	cmd.Stdout = archive
	if err := cmp.Or(i.run(cmd), archive.Sync(), archive.Close()); err != nil {
		return err
	}
	return os.Rename(archive.Name(), name)
}
