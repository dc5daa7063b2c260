//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// An actor is this binary as an agent that the conductor starts: it does what stands in the plan of its duty, in the
// line of its own start, or in the last line when there are fewer. A word is a tool to call, or one of those of act.
type actor struct {
	side, duty string
	start      int // the how manieth of its duty, from 1
	c          *mcpclient.Client
	last       tools.Result
}

// play is the life of an actor.
func play(side string) int {
	a := &actor{side: side, duty: os.Getenv("FERRUS_DUTY")}
	a.start = 1 + strings.Count(a.read("starts"), a.duty+" ")
	a.add("starts", fmt.Sprintf("%s %d", a.duty, os.Getpid()))
	plan := strings.Split(strings.TrimSpace(a.read(a.duty+".plan")), "\n")
	for _, word := range strings.Fields(plan[min(a.start, len(plan))-1]) {
		if code := a.act(word); code >= 0 {
			return code
		}
	}
	return 0
}

func (a *actor) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(a.side, name))
	return string(text)
}

// add adds a line to a file.
func (a *actor) add(name, line string) {
	f, err := os.OpenFile(filepath.Join(a.side, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

// act does one word; a code of 0 or more ends the actor.
func (a *actor) act(word string) int {
	name, arg, _ := strings.Cut(word, ":")
	switch name {
	case "exit":
		code, _ := strconv.Atoi(arg)
		return code
	case "hang":
		time.Sleep(time.Hour)
	case "say":
		fmt.Println(strings.ReplaceAll(arg, "_", " "))
	case "until":
		for a.read(arg) == "" {
			time.Sleep(time.Millisecond)
		}
	case "mark":
		a.add(arg, a.duty)
	case "follow":
		for a.last.Next = "status"; a.last.Next != "stop"; {
			if a.last.Next == "choose" {
				a.last.Next = "approve"
			}
			if code := a.call(a.last.Next); code >= 0 {
				return code
			}
		}
	default:
		return a.call(name)
	}
	return -1
}

// with are the arguments of the tools that need some.
var with = map[string]args{
	"consult": consultation, "submit": submission, "respond_consult": {"response": "The left one."}, "reject": {"notes": "Fix it."},
	"ask_human": {"question": "Tabs?"}, "progress": {"note": "Half done."},
}

// call calls a tool until it says more than that time has run out.
func (a *actor) call(tool string) int {
	ctx := context.Background()
	if a.c == nil {
		cmd := exec.Command("/bin/sh", "-c", "exec "+os.Getenv("FERRUS_SERVER"))
		c, err := mcpclient.Start(ctx, "actor", cmd)
		if err != nil {
			fmt.Println(err)
			return 4
		}
		a.c = c
		a.add("servers", strconv.Itoa(c.Process().Pid))
	}
	for a.last.Status = "timeout"; a.last.Status == "timeout" || a.last.Status == "running"; {
		var err error
		if a.last, err = a.c.Call(ctx, tool, with[tool]); err != nil || a.last.Code != "" {
			fmt.Println(tool, err, a.last.Code, a.last.Message)
			return 3
		}
		if a.last.Next == "stop" {
			break
		}
	}
	if a.last.Status == "claimed" {
		text, _ := json.Marshal(a.last)
		a.add("claims", string(text))
	}
	return -1
}
