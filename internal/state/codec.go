package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// plain is Task without its methods, with the fields that are derived for readers of the original
// format.
type plain struct {
	*bare
	PausedState State `json:"paused_state,omitempty"`
}

type bare Task

// known are the keys of a task. VolatileKeys belong to STATE.json and never to a journal line.
var known = keysOf(reflect.TypeFor[bare]())

// VolatileKeys returns the keys of STATE.json that are not part of a task: the term of the lease,
// and the position in the journal.
func VolatileKeys() []string { return []string{"lease_until", "last_heartbeat", "lease", "journal"} }

func keysOf(t reflect.Type) map[string]bool {
	keys := map[string]bool{"paused_state": true}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			keys[name] = true
		}
	}
	for _, k := range VolatileKeys() {
		keys[k] = true
	}
	return keys
}

// ours reports whether encoding/json would read key as one of the known keys: it ignores case. Such
// a key, stored beside the known one, would win the next reading.
func ours(key string) bool {
	if known[key] {
		return true
	}
	for name := range known {
		if strings.EqualFold(name, key) {
			return true
		}
	}
	return false
}

// MarshalJSON writes the known keys in a fixed order, then the unknown ones sorted.
func (t Task) MarshalJSON() ([]byte, error) {
	out, err := jsonx.Marshal(plain{(*bare)(&t), t.PausedFrom()})
	if err != nil || len(t.Extra) == 0 {
		return out, err
	}
	buf := bytes.NewBuffer(out[:len(out)-1])
	for _, k := range slices.Sorted(maps.Keys(t.Extra)) {
		name, _ := json.Marshal(k)
		fmt.Fprintf(buf, ",%s:%s", name, t.Extra[k])
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// UnmarshalJSON reads a task and ignores the volatile keys. It returns a *SchemaError for another
// schema version, and a *FieldError for a value that is not [Task.Valid].
func (t *Task) UnmarshalJSON(data []byte) error {
	read, err := decode(data)
	if err != nil {
		return err
	}
	if err := read.Valid(); err != nil {
		return err
	}
	*t = read
	return nil
}

// decode reads the keys of a task. Unknown keys are rare in journal lines, so the usual line is
// decoded only once.
func decode(data []byte) (Task, error) {
	var t Task
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if strict.Decode(&plain{bare: (*bare)(&t)}) == nil && t.SchemaVersion == SchemaVersion {
		return t, nil
	}
	// The version comes first: another version may spell every other key differently.
	var head struct {
		SchemaVersion int `json:"schema_version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Task{}, err
	}
	if head.SchemaVersion != SchemaVersion {
		return Task{}, &SchemaError{Version: head.SchemaVersion}
	}
	t = Task{}
	if err := json.Unmarshal(data, (*bare)(&t)); err != nil {
		return Task{}, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return Task{}, err
	}
	maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool { return ours(k) })
	if len(all) > 0 {
		t.Extra = all
	}
	return t, nil
}

// A SchemaError says that another version of ferrus wrote the task.
type SchemaError struct{ Version int }

func (e *SchemaError) Error() string {
	if e.Version > SchemaVersion {
		return fmt.Sprintf("schema %d is newer than this ferrus understands (%d): use the newer ferrus", e.Version, SchemaVersion)
	}
	return fmt.Sprintf("schema %d is older than this ferrus writes (%d): run ferrus doctor --fix to archive it", e.Version, SchemaVersion)
}
