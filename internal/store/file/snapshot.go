package file

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// volatile has the fields of STATE.json that are not part of the task. Its keys are
// state.VolatileKeys.
type volatile struct {
	LeaseUntil    time.Time      `json:"lease_until,omitzero"`
	LastHeartbeat time.Time      `json:"last_heartbeat,omitzero"`
	Lease         lease.Term     `json:"lease,omitzero"`
	Journal       store.Position `json:"journal"`
}

// An index is STATE.json as read. It proves nothing; it only says where the newest line may be.
type index struct {
	raw     []byte // nil when there is no such file
	whole   bool   // it is JSON of our schema with a journal position
	genuine bool   // its task is the same as in the line that it names
	version int    // 0 when it is unknown
	volatile
}

// indexOf returns the STATE.json that shows s.
func indexOf(s store.Snapshot) (index, error) {
	idx := index{whole: true, genuine: true, version: state.SchemaVersion,
		volatile: volatile{s.Lease.Until, s.Lease.Heartbeat, s.Lease.Term, s.Journal}}
	var task json.RawMessage
	var err error
	if s.Top != nil {
		task = s.Top.StateText()
	}
	if task == nil {
		if task, err = s.Task.MarshalJSON(); err != nil {
			return index{}, err
		}
	}
	rest, err := jsonx.Marshal(idx.volatile)
	if err != nil {
		return index{}, err
	}
	var joined, buf bytes.Buffer
	joined.Write(task[:len(task)-1])
	joined.WriteByte(',')
	joined.Write(rest[1:])
	if err := json.Indent(&buf, joined.Bytes(), "", "  "); err != nil {
		return index{}, err
	}
	buf.WriteByte('\n')
	idx.raw = buf.Bytes()
	return idx, nil
}

func parseIndex(raw []byte) index {
	var read struct {
		Version int `json:"schema_version"`
		volatile
	}
	err := json.Unmarshal(raw, &read)
	p := read.Journal
	return index{raw: raw, version: read.Version, volatile: read.volatile,
		whole: err == nil && read.Version == state.SchemaVersion && 0 <= p.Last && p.Last <= p.Bytes}
}

// of reports whether STATE.json shows the line: exactly as ferrus writes it, or at least with the
// same position and task.
func (i index) of(line store.Snapshot) bool {
	if i.Journal != line.Journal {
		return false
	}
	line.Lease = i.lease()
	ours, err := indexOf(line)
	return err == nil && bytes.Equal(ours.raw, i.raw) || i.shows(line.Task)
}

// shows reports whether STATE.json has the same task as the journal.
func (i index) shows(t state.Task) bool {
	var shown state.Task
	if json.Unmarshal(i.raw, &shown) != nil {
		return false
	}
	a, errA := json.Marshal(shown)
	b, errB := json.Marshal(t)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func (i index) lease() store.Lease {
	return store.Lease{Term: i.volatile.Lease, Until: i.LeaseUntil, Heartbeat: i.LastHeartbeat}
}

// sameHolder reports whether the same session and epoch have the claim.
func sameHolder(a, b state.Task) bool {
	return a.Epoch == b.Epoch && a.ClaimedBy == b.ClaimedBy && a.Session == b.Session
}
