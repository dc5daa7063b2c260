package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A machine is what the figures were measured on.
type machine struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	Kernel     string `json:"kernel"`
	FileSystem string `json:"file_system"` // of the folder that was measured in
	Go         string `json:"go"`
	Date       string `json:"date"`
	Load       string `json:"load"`   // averages when it began
	Others     string `json:"others"` // what others used of the processors meanwhile, in percent; "" where that is not known
}

// look describes the machine; what Linux alone tells stays empty elsewhere.
func look(dir string) machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH, Date: time.Now().UTC().Format(time.RFC3339)}
	m.CPU = field(slurp("/proc/cpuinfo"), "model name\t: ")
	m.Kernel = slurp("/proc/sys/kernel/osrelease")
	m.Load = strings.Join(first(strings.Fields(slurp("/proc/loadavg")), 3), " ")
	m.FileSystem = mounted(slurp("/proc/mounts"), dir)
	return m
}

func slurp(path string) string {
	data, _ := os.ReadFile(path) // "" where there is no such thing
	return strings.TrimSpace(string(data))
}

// field is the rest of the first line that begins with a key.
func field(text, key string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func first(list []string, n int) []string { return list[:min(n, len(list))] }

// mounted is the type of the file system that dir lies in, by the table of mounts.
func mounted(table, dir string) (kind string) {
	longest := ""
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 3 || len(f[1]) < len(longest) {
			continue
		}
		if rel, err := filepath.Rel(f[1], dir); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			longest, kind = f[1], f[2]
		}
	}
	return kind
}

// A meter tells what others used of the processors since it was started.
type meter struct{ total, idle, ours time.Duration }

// tickTime is the unit of /proc/stat on every Linux that Go runs on.
const tickTime = 10 * time.Millisecond

func newMeter() meter {
	m := meter{ours: own()}
	line, _, _ := strings.Cut(slurp("/proc/stat"), "\n")
	for i, f := range first(strings.Fields(line), 9) { // user nice system idle iowait irq softirq steal
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			continue // its name
		}
		m.total += time.Duration(n) * tickTime
		if i == 4 || i == 5 {
			m.idle += time.Duration(n) * tickTime
		}
	}
	return m
}

// others is what others used, in percent of all processors; false where that is not known.
func (m meter) others() (percent float64, ok bool) {
	now := newMeter()
	total := now.total - m.total
	if total <= 0 {
		return 0, false
	}
	theirs := total - (now.idle - m.idle) - (now.ours - m.ours)
	return max(0, 100*float64(theirs)/float64(total)), true
}

// calm is what others may use before the figures are called those of a busy machine, in percent.
const calm = 10

// resident is the memory of a process and all below it in KiB, 0 where that is not known.
func resident(root int) (kib int) {
	parents := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		stat := slurp(name)
		pid, errPid := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		if errPid != nil || len(f) < 2 {
			continue // it has ended
		}
		if parent, err := strconv.Atoi(f[1]); err == nil {
			parents[parent] = append(parents[parent], pid)
		}
	}
	for todo := []int{root}; len(todo) > 0; todo = todo[1:] {
		n, _ := strconv.Atoi(strings.TrimSuffix(field(slurp(fmt.Sprintf("/proc/%d/status", todo[0])), "VmRSS:"), " kB"))
		kib += n
		todo = append(todo, parents[todo[0]]...)
	}
	return kib
}
