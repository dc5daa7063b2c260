package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// PortVariable has the first port of the block in the environment of agents, workers of pipelines, [branches] setup and checks.
const PortVariable = "FERRUS_PORT_BASE"

// The blocks lie below the ports that systems give to outgoing connections.
const (
	first  = 20000
	blocks = 1000
	size   = 10 // ports of a block
)

const (
	fileName = "ports.json"
	maxFile  = 8 << 20          // bytes
	patience = 10 * time.Second // for the lock, which others hold for the time of one replacement
)

// PortEnv returns the variable of a folder as NAME=value, and nil where there is no state folder or no free block.
func PortEnv(dir string) []string {
	base, err := PortBase(dir)
	if err != nil {
		return nil
	}
	return []string{PortVariable + "=" + strconv.Itoa(base)}
}

// PortBase returns the first port of the block of a folder that exists. It is the same in each call for as long as the folder exists.
//
// Each folder in which agents and commands work has ten TCP ports of its own: a work tree, the project's own folder, or the checkout of
// clean checks. PortBase opens none of them. The blocks of a user stand in one file of the state folder, which is changed under a lock.
// Nothing is given back, so a crash leaves nothing behind. Other users of the computer have blocks of their own, and other programs do
// not know them.
func PortBase(dir string) (int, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return 0, err
	}
	state, err := trust.StateDir()
	if err == nil {
		err = os.MkdirAll(state, 0o700)
	}
	if err != nil {
		return 0, err
	}
	root, err := rootfs.Open(state)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	if base, ok := readPorts(root)[dir]; ok {
		return base, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock, err := filelock.Acquire(ctx, filepath.Join(state, "ports.lock"))
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	all := readPorts(root)
	if base, ok := all[dir]; ok {
		return base, nil
	}
	taken := map[int]bool{}
	for other, base := range all {
		if _, err := os.Lstat(other); errors.Is(err, fs.ErrNotExist) {
			delete(all, other)
		} else {
			taken[base] = true
		}
	}
	h := fnv.New32a()
	h.Write([]byte(dir))
	for i := range uint32(blocks) { // near to always the same block, also where the file was lost
		base := first + size*int((h.Sum32()+i)%blocks)
		if taken[base] {
			continue
		}
		all[dir] = base
		text, err := json.MarshalIndent(all, "", "  ")
		if err == nil {
			err = rootfs.Fits(fileName, text, maxFile)
		}
		if err == nil {
			err = root.WriteFile(fileName, text, 0o600)
		}
		return base, err
	}
	return 0, fmt.Errorf("all %d blocks of ports are in use; remove branches that you do not need", blocks)
}

// readPorts returns the blocks by their folders. Of a file that is damaged there are none: it is written again.
func readPorts(root *rootfs.Root) map[string]int {
	all := map[string]int{}
	text, err := root.ReadFile(fileName, maxFile)
	if err != nil || json.Unmarshal(text, &all) != nil || all == nil {
		return map[string]int{}
	}
	for dir, base := range all {
		if base < first || base >= first+size*blocks || base%size != 0 {
			delete(all, dir)
		}
	}
	return all
}
