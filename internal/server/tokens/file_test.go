package tokens

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile/atomicfiletest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// each runs every way to ask a book, and to change it.
func each(b *Book) map[string]error {
	_, _, made := b.New(state.Executor, "new", never)
	_, listed := b.List()
	_, revoked := b.Revoke("old")
	_, verified := b.Verify("ferrus_x", time.Now())
	return map[string]error{"New": made, "List": listed, "Revoke": revoked, "Verify": verified}
}

// notOurs is what is said of a text that ferrus does not write.
const notOurs = "it is not JSON as ferrus writes it"

// TestADamagedFileStopsEverything: it is no empty one, and nothing is written over it.
func TestADamagedFileStopsEverything(t *testing.T) {
	t.Parallel()
	b := book(t)
	secret, tok := made(t, b, state.Executor, "old", time.Now().Add(time.Hour))
	made(t, b, state.Executor, "other", never)
	sound, err := os.ReadFile(b.path(fileName))
	if err != nil {
		t.Fatal(err)
	}
	swap := func(from, to string) string {
		text := strings.Replace(string(sound), from, to, 1)
		if text == string(sound) {
			t.Fatalf("there is no %q to replace in\n%s", from, sound)
		}
		return text
	}
	for _, c := range []struct{ text, why string }{
		{"", notOurs},
		{"\n", notOurs},
		{"null", "schema is 0"},
		{"[]", notOurs},
		{"{}", "schema is 0"},
		{string(sound[:len(sound)/2]), notOurs},
		{string(sound) + "x", notOurs},
		{string(sound) + string(sound), notOurs},
		{strings.Repeat("\x00", len(sound)), notOurs},
		{string(sound) + strings.Repeat(" ", maxFile), "more than 1048576 bytes"},
		{swap(`"schema": 1`, `"schema": 2`), "schema is 2, and this ferrus understands 1"},
		{swap(`"executor"`, `"human"`), `token 1: "human" is not the role`},
		{swap(`"executor"`, `"holder"`), `token 1: "holder" is not the role`},
		{swap(`"executor"`, `""`), `token 1: "" is not the role`},
		{swap(`"other"`, `"old"`), "token 2: another one has"},
		{swap(`"other"`, `"o ther"`), `token 2: "o ther" is not the name`},
		{swap(tok.ID, "tk-xyzxyz"), `token 1: "tk-xyzxyz" is not an id`},
		{swap(hash(secret), strings.ToUpper(hash(secret))), "token 1: its sha256 is not a hash"},
		{swap(hash(secret), ""), "token 1: its sha256 is not a hash"},
		{swap(`"sha256"`, `"SHA256"`), "something that ferrus does not write"},
		{swap(`"name"`, `"name": "hidden", "name"`), "something that ferrus does not write"},
		{swap(`"name"`, `"admin": true, "name"`), "something that ferrus does not write"},
		{swap(`"created": "2`, `"created": "x2`), notOurs},
		{swap(`"created"`, `"expires": "0001-01-01T00:00:00Z", "created"`), "something that ferrus does not write"},
	} {
		if err := os.WriteFile(b.path(fileName), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		errs := each(b)
		for what, err := range each(Open(b.dir)) { // which has never understood it
			errs[what+", afresh"] = err
		}
		for what, err := range errs {
			kind(t, err, ErrDamaged)
			if err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), b.path(fileName)) {
				t.Errorf("%s of %.60q: %v, not %q", what, c.text, err, c.why)
			}
		}
		if now, err := os.ReadFile(b.path(fileName)); err != nil || string(now) != c.text {
			t.Errorf("%.60q was written over: %v", c.text, err)
		}
	}
	// What a person may do with an editor: other white space, and a token less.
	var list []entry
	if list, err = parse(sound); err != nil {
		t.Fatal(err)
	}
	less, err := encode(list[:1])
	if err != nil {
		t.Fatal(err)
	}
	less = bytes.ReplaceAll(less, []byte("\n"), []byte("\r\n\t"))
	if err := os.WriteFile(b.path(fileName), less, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Verify(secret, time.Now()); err != nil || got != tok {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheFileIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("access lists have the permissions")
	}
	b := book(t)
	made(t, b, state.Executor, "old", never)
	for _, name := range []string{fileName, lockName} {
		if info, err := os.Stat(b.path(name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666} {
		if err := os.Chmod(b.path(fileName), mode); err != nil {
			t.Fatal(err)
		}
		for what, err := range each(b) {
			kind(t, err, ErrUnsafe)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("mode 0%o", mode)) || !strings.Contains(err.Error(), "chmod 600 "+b.dir) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if err := os.Chmod(b.path(fileName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Revoke("old"); err != nil {
		t.Error(err)
	}
}

// TestNoLinkIsFollowed: neither to read nor to write, wherever it leads.
func TestNoLinkIsFollowed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{fileName, lockName} {
		for _, there := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s to something %v", name, there), func(t *testing.T) {
				b, away := book(t), filepath.Join(t.TempDir(), "away")
				sound, err := encode(nil)
				if there {
					err = errors.Join(err, os.WriteFile(away, sound, 0o600))
				}
				if err = errors.Join(err, os.Symlink(away, b.path(name))); err != nil {
					t.Skip(err)
				}
				errs := each(b)
				if name == lockName {
					delete(errs, "List") // who only reads needs no lock
					delete(errs, "Verify")
				}
				for what, err := range errs {
					kind(t, err, ErrUnsafe)
					if err == nil || !strings.Contains(err.Error(), b.path(name)+" is a symbolic link") {
						t.Errorf("%s: %v", what, err)
					}
				}
				if now, err := os.ReadFile(away); there != (err == nil) || there && string(now) != string(sound) {
					t.Errorf("%q, %v", now, err)
				}
			})
		}
	}
}

func TestAFolderInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	b := book(t)
	if err := os.Mkdir(b.path(fileName), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, err := range each(b) {
		kind(t, err, ErrUnsafe)
	}
}

// TestAWriteThatFailsLeavesWhatThereWas.
func TestAWriteThatFailsLeavesWhatThereWas(t *testing.T) {
	t.Parallel()
	b := book(t)
	secret, tok := made(t, b, state.Executor, "old", never)
	for n := range 4 { // create, write, sync, rename
		atomicfiletest.Fail(t, b.dir, n+1, true, syscall.ENOSPC, func() {
			_, _, err := b.New(state.Executor, "new", never)
			kind(t, err, ErrDisk)
			_, err = b.Revoke("old")
			kind(t, err, ErrDisk)
		})
	}
	if got, err := b.Verify(secret, time.Now()); err != nil || got != tok {
		t.Errorf("%+v, %v", got, err)
	}
	if list, err := b.List(); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}

	// Nor does one that fails at its last step leave anything of its own.
	b = book(t)
	if err := os.MkdirAll(filepath.Join(b.path(fileName), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	kind(t, b.write([]byte("x")), ErrDisk)
	if left, err := filepath.Glob(b.path(".*.tmp")); len(left) > 0 || err != nil {
		t.Errorf("left are %q, %v", left, err)
	}
}

func TestALockThatIsHeldIsSaidToBe(t *testing.T) {
	t.Parallel()
	b := book(t)
	secret, tok := made(t, b, state.Executor, "old", never)
	patient := b.wait
	b.wait = time.Millisecond
	lock := flock.New(b.path(lockName), flock.SetFlag(os.O_RDWR))
	if got, err := lock.TryLock(); !got || err != nil {
		t.Fatal(got, err)
	}
	_, _, err := b.New(state.Executor, "new", never)
	kind(t, err, ErrBusy)
	_, err = b.Revoke("old")
	kind(t, err, ErrBusy)
	if got, err := b.Verify(secret, time.Now()); err != nil || got != tok { // who only reads does not wait
		t.Errorf("%+v, %v", got, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	b.wait = patient
	made(t, b, state.Executor, "new", never)
}

func TestThereIsAnEndToThem(t *testing.T) {
	t.Parallel()
	b := book(t)
	var list []entry
	for i := range 6000 {
		list = append(list, entry{Token{ID: fmt.Sprintf("tk-%06x", i), Role: state.Executor, Name: strings.Repeat("n", 55) + fmt.Sprint(i),
			Created: time.Unix(1, 0).UTC()}, hash(fmt.Sprint(i))})
	}
	size := func(n int) int {
		text, err := encode(list[:n])
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	n := (maxFile - size(0)) / (size(5001) - size(5000)) // a little less than one more would fit
	for size(n+1) <= maxFile {
		n++
	}
	text, err := encode(list[:n])
	if err == nil {
		err = os.WriteFile(b.path(fileName), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = b.New(state.Executor, strings.Repeat("z", 64), never)
	kind(t, err, ErrInvalid)
	if got, err := b.List(); err != nil || len(got) != n {
		t.Errorf("%d, %v", len(got), err)
	}
}

func FuzzParse(f *testing.F) {
	full, err := encode([]entry{
		{Token{ID: "tk-000001", Role: state.Executor, Name: "a", Created: time.Unix(1, 0).UTC()}, hash("a")},
		{Token{ID: "tk-000002", Role: state.Supervisor, Name: "a", Created: time.Unix(1, 0).UTC(), Expires: time.Unix(2, 3).UTC()}, hash("b")},
	})
	if err != nil {
		f.Fatal(err)
	}
	none, err := encode(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{full, none, full[:40], nil, []byte(`{"schema":1}`), []byte(`{"schema":1,"tokens":[{}]}`),
		bytes.ReplaceAll(full, []byte("executor"), []byte("engine")), bytes.ReplaceAll(full, []byte("tk-000002"), []byte("tk-000001")),
		bytes.ReplaceAll(full, []byte(`"sha256": "`), []byte(`"sha256": "x`)), append([]byte(`{"schema":1,`), full[1:]...)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parse(text)
		if err != nil {
			if list != nil {
				t.Fatalf("%q: %v, and yet %v", text, err, list)
			}
			return
		}
		ids := map[string]bool{}
		for _, e := range list {
			if e.Role != state.Executor && e.Role != state.Supervisor || len(e.Hash) != 64 || ids[e.ID] {
				t.Fatalf("%q: %+v", text, e)
			}
			ids[e.ID] = true
		}
		again, err := encode(list)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := parse(again)
		if err != nil || fmt.Sprint(back) != fmt.Sprint(list) {
			t.Fatalf("%q becomes %q: %v", text, again, err)
		}
	})
}
