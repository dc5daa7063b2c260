package internal

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// fits stands for a file of ours whose writer asks rootfs.Fits with the limit of the reader, and says what to do. The other words say
// why a file that is read with a limit is never one that ferrus has written and cannot read.
const fits = "its writer refuses what does not fit"

// limits are all reads with a limit: by the folder of the package, the reader and its limit.
var limits = map[string]string{
	"agents/process r.ReadFile max":                          "readFile itself",
	"agents/process readFile maxOccupant":                    "the record of a shim: ids and names, each bounded",
	"agents/process readFile maxRuns":                        "note refuses a start when half of it is full; TestAFullListOfRunsTakesNoStart",
	"agents/process rootfs.ReadOwnTail 4 * maxSaid":          "the end of a log is enough",
	"agents/register root.ReadFile maxFile":                  fits,
	"agents/register root.ReadFile maxRecord":                fits,
	"project/agreement rootfs.ReadFile maxClientFile":        "a file of the project",
	"engine/branch from.ReadFile maxCarried":                 "a file of the person; a larger one is not copied",
	"engine/branch root.ReadFile 1 << 10":                    "a name and a time, or two ids",
	"engine/checkrun root.ReadFile maxTrials":                "Try begins a new list when half of it is full",
	"cli rootfs.ReadOwnTail maxLast":                         "the end of a log is enough",
	"cli/setup rootfs.ReadRegular maxReminders":              "two ids of at most 64 bytes, and a number",
	"cli/ui rootfs.ReadOwnTail outputTail":                   "the end of a log is enough",
	"conductor root.ReadFile maxHolder":                      "a process id and a time",
	"config rootfs.ReadFile maxFile":                         "register and init parse what they write, and Parse has the same limit",
	"config rootfs.ReadFile maxProject":                      "a file of the project",
	"agents/confine root.ReadFile maxRecord":                 fits,
	"agents/confine rootfs.ReadOwnTail maxShared":            "the end of a log is enough",
	"project home.ReadFile mostIndex":                        "a cache: a larger one counts as none, and is made again",
	"status/doctor rootfs.ReadOwn project.MaxState":          "the limit of the store",
	"status/doctor rootfs.ReadOwn store.MaxDoc":              "the store accepts no larger document",
	"status/evidence root.ReadFile maxSums":                  fits,
	"status/evidence rootfs.ReadOwn maxLog":                  "checks and scores end their logs at a few MiB",
	"project/gc machine.ReadFile maxCleared":                 "25 bytes a task: millions of tasks; then archives are made again",
	"project/records s.home.ReadFile maxKept":                "a line for each task that was cleared away: a gigabyte holds millions of runs",
	"project/notify root.ReadFile maxRecord":                 fits,
	"pipeline/run root.ReadFile maxFile":                     "outputs of workers; what ferrus writes itself is a small part of them",
	"project dir.ReadFile 1 << 10":                           "a number and an id",
	"project home.ReadFile maxRehearsal":                     "a digest, a word and a time",
	"project rootfs.ReadFile maxWorkflows":                   "a person writes it",
	"project rootfs.ReadOwn maxWorkflows":                    "a person writes it",
	"project/queue root.ReadFile store.MaxDoc + maxFileHead": "a task has at most store.MaxDoc bytes, and ferrus writes the head",
	"agents/confine rootfs.ReadFile maxTicket":               "an address and a secret of one length",
	"platform/rootfs r.ReadFile max":                         "the reader itself",
	"platform/rootfs r.ReadTail most":                        "the reader itself",
	"project project.ReadFile maxIgnore":                     "git reads all of it; init refuses a larger one",
	"project rootfs.ReadOwn MaxState":                        "the limit of the store",
	"conductor/schedule root.ReadFile maxRefused":            "a larger one counts as none, and merges are tried again",
	"store/file root.ReadFile maxIndex":                      "the state has no texts: every field of it is bounded",
	"store/file slurp maxIndex":                              "the state has no texts: every field of it is bounded",
	"store/file slurp maxView":                               "the store accepts no document of more than store.MaxDoc bytes",
	"store/live r.ReadFile maxHeard":                         "an instant",
	"status/review root.ReadFile maxFile":                    fits,
	"ui/web root.ReadFile 16 << 20":                          "the output of a worker; a larger one is not shown",
	"worktree root.ReadFile maxTable":                        "a cache: a larger one counts as none",
	"project root.ReadFile maxFile":                          fits,
	"worktree root.ReadFile maxCopied":                       fits,
	"worktree/checkout root.ReadFile maxPatterns":            "a file of the repository",
	"worktree rootfs.ReadRegular repository.MaxRules":        "a file of the repository",
	"agents/confine root.ReadFile maxLink":                   "one path",
	"agents/confine rootfs.ReadRegular maxFile":              "a file of git",
	"agents/confine rootfs.ReadRegular maxIndex":             "a file of git",
	"agents/confine rootfs.ReadRegular most":                 "files of git",
	"worktree/repository root.ReadFile MaxRules":             "compared with what is to be there; a larger one is written again",
	"worktree/repository root.ReadFile maxMessage":           "a hook of the person writes it",
	"worktree/repository root.ReadFile maxAdmin":             "one path",
	"worktree/repository root.ReadFile maxFrozen":            fits,
	"worktree/repository root.ReadFile maxShallow":           "one line a commit that was fetched",
	"worktree/repository rootfs.ReadRegular 1 << 30":         "a file of git",
	"worktree/repository rootfs.ReadRegular MaxRules":        "a file of the repository",
	"worktree/repository rootfs.ReadRegular maxLoose":        "an object; git reads a larger one",
	"worktree/repository rootfs.ReadRegular maxPackedRefs":   "a file of git",
	"worktree/repository rootfs.ReadRegular maxRef":          "a file of git",
	"worktree/repository rootfs.ReadRegular maxShallow":      "a file of git",
}

// limited are the functions that read a file with a limit, their last argument.
var limited = map[string]bool{"ReadFile": true, "ReadOwn": true, "ReadOwnTail": true, "ReadTail": true, "ReadRegular": true, "slurp": true, "readFile": true}

// TestWhatIsWrittenCanBeReadAgain finds every read with a limit, and demands a row of the table for it. Where the row says so, the
// package asks rootfs.Fits with the same limit.
func TestWhatIsWrittenCanBeReadAgain(t *testing.T) {
	t.Parallel()
	found, asked := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(name))
		text := func(n ast.Node) string {
			var b bytes.Buffer
			if err := printer.Fprint(&b, files, n); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			fun, last := text(call.Fun), text(call.Args[len(call.Args)-1])
			if fun == "rootfs.Fits" {
				asked[pkg+" "+strings.TrimSuffix(last, " - 1")] = true
			}
			if limited[fun[strings.LastIndexByte(fun, '.')+1:]] && fun != "fs.ReadFile" && !strings.HasSuffix(fun, "f.slurp") {
				found[pkg+" "+fun+" "+last] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for read := range found {
		if limits[read] == "" {
			t.Errorf("%s is not in the table: can ferrus write a file there that is larger?", read)
		}
	}
	for read, how := range limits {
		words := strings.Fields(read)
		if !found[read] {
			t.Errorf("%s is in the table, and nothing reads so", read)
		}
		if limit := words[0] + " " + words[len(words)-1]; how == fits && !asked[limit] {
			t.Errorf("%s: no writer asks rootfs.Fits with that limit", limit)
		}
	}
}
