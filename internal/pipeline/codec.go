package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// Encode returns the content of status.json.
func (s Status) Encode() ([]byte, error) { return indented(s) }

// A SchemaError says that another version of ferrus wrote a status.json.
type SchemaError struct{ Version int }

func (e *SchemaError) Error() string {
	return fmt.Sprintf("status.json has schema %d, and this ferrus understands %d: use the ferrus that started the run", e.Version, SchemaVersion)
}

// Decode reads a status.json. It returns a *SchemaError for another schema, and Faults for keys
// that are missing, duplicate or in another case, and for an invalid status.
func Decode(data []byte) (Status, error) {
	t, faults := jsonx.Parse(data)
	if faults != nil {
		return Status{}, faults
	}
	var head struct {
		SchemaVersion int `json:"schema_version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Status{}, err
	}
	if head.SchemaVersion != SchemaVersion {
		return Status{}, &SchemaError{head.SchemaVersion}
	}
	checkShape(&t, t.Root, "", reflect.TypeFor[Status]())
	if err := t.Faults.OrNil(); err != nil {
		return Status{}, err
	}
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		return Status{}, err
	}
	return s, checkStatus(&t, s)
}

// checkShape notes the keys of a status that are missing or misspelt.
func checkShape(t *jsonx.Text, n jsonx.Node, at string, of reflect.Type) {
	const remedy = "put it back as it was, from the journal"
	if !n.Is('{') {
		t.AddFault(at, "it is "+n.Kind()+", not an object", remedy)
		return
	}
	ours, need := fieldsOf(of)
	for i, k := range n.Keys {
		at := at + "/" + jsonx.Escape(k)
		if near := slices.IndexFunc(ours, func(o string) bool { return o != k && strings.EqualFold(o, k) }); near >= 0 {
			t.AddFault(at, fmt.Sprintf("%q is not %q", k, ours[near]), remedy)
		}
		switch inner := n.Items[i]; {
		case k == "phases" && inner.Is('['):
			for j, p := range inner.Items {
				checkShape(t, p, fmt.Sprintf("%s/%d", at, j), reflect.TypeFor[PhaseStatus]())
			}
		case k == "workers" && inner.Is('{'):
			for j, role := range inner.Keys {
				checkShape(t, inner.Items[j], at+"/"+jsonx.Escape(role), reflect.TypeFor[WorkerStatus]())
			}
		}
	}
	for _, k := range need {
		if !slices.Contains(n.Keys, k) {
			t.AddFault(at, "there is no "+k, remedy)
		}
	}
}

// checkStatus says what of a status cannot be.
func checkStatus(t *jsonx.Text, s Status) error {
	progress := []Progress{Pending, Running, Completed, Failed, Paused}
	bad := func(at string, p Progress, of []Progress) {
		if !slices.Contains(of, p) {
			t.AddFault(at, fmt.Sprintf("unknown status %q", p), fmt.Sprintf("known are %v", of))
		}
	}
	for i, p := range s.Phases {
		at := fmt.Sprintf("/phases/%d", i)
		bad(at+"/status", p.Status, progress)
		for _, k := range p.Workers {
			bad(at+"/workers/"+jsonx.Escape(k.Role)+"/status", k.Status, progress[:4])
		}
	}
	if s.CurrentPhase < 0 || s.CurrentPhase >= len(s.Phases) {
		t.AddFault("/current_phase", fmt.Sprintf("there is no phase %d", s.CurrentPhase), fmt.Sprintf("there are %d, counted from 0", len(s.Phases)))
	}
	if states := []State{IsRunning, IsPaused, IsFailed, IsDelivering, IsCompleted, IsCancelled}; !slices.Contains(states, s.State) {
		t.AddFault("/state", fmt.Sprintf("unknown state %q", s.State), fmt.Sprintf("known are %v", states))
	}
	return t.Faults.OrNil()
}

// fieldsOf returns the keys of a struct, and those that are always written.
func fieldsOf(of reflect.Type) (all, need []string) {
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		all = append(all, name)
		if !strings.HasPrefix(options, "omit") {
			need = append(need, name)
		}
	}
	return all, need
}

// The keys of others are read and written behind our own.

func (s Status) MarshalJSON() ([]byte, error) { type bare Status; return withExtra(bare(s), s.Extra) }
func (s *Status) UnmarshalJSON(data []byte) (err error) {
	type bare Status
	return readExtra(data, (*bare)(s), &s.Extra)
}

func (p PhaseStatus) MarshalJSON() ([]byte, error) {
	type bare PhaseStatus
	return withExtra(bare(p), p.Extra)
}
func (p *PhaseStatus) UnmarshalJSON(data []byte) error {
	type bare PhaseStatus
	return readExtra(data, (*bare)(p), &p.Extra)
}

func (k WorkerStatus) MarshalJSON() ([]byte, error) {
	type bare WorkerStatus
	return withExtra(bare(k), k.Extra)
}
func (k *WorkerStatus) UnmarshalJSON(data []byte) error {
	type bare WorkerStatus
	return readExtra(data, (*bare)(k), &k.Extra)
}

// MarshalJSON writes the workers by role, in their order.
func (r Roster) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range r {
		if i > 0 {
			b.WriteByte(',')
		}
		role, _ := plainly(k.Role)
		worker, err := plainly(k)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%s", role, worker)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON preserves the order of the file.
func (r *Roster) UnmarshalJSON(data []byte) error {
	t, faults := jsonx.Parse(data)
	if faults != nil || !t.Root.Is('{') {
		return errors.New("workers: not an object by role")
	}
	*r = nil
	for i, role := range t.Root.Keys {
		k := WorkerStatus{}
		if err := json.Unmarshal(t.Root.Items[i].Raw, &k); err != nil {
			return fmt.Errorf("worker %s: %w", role, err)
		}
		k.Role = role
		*r = append(*r, k)
	}
	return nil
}

func withExtra(v any, more extra) ([]byte, error) {
	out, err := plainly(v)
	if err != nil || len(more) == 0 {
		return out, err
	}
	b := bytes.NewBuffer(out[:len(out)-1])
	for _, k := range slices.Sorted(maps.Keys(more)) {
		name, _ := plainly(k)
		fmt.Fprintf(b, ",%s:%s", name, more[k])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func readExtra(data []byte, v any, more *extra) error {
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	all := extra{}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	ours, _ := fieldsOf(reflect.TypeOf(v).Elem())
	maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool { return slices.Contains(ours, k) })
	for k, v := range all { // as it will be read when it was written anew
		var b bytes.Buffer
		if err := json.Compact(&b, v); err != nil {
			return err
		}
		all[k] = b.Bytes()
	}
	if *more = nil; len(all) > 0 {
		*more = all
	}
	return nil
}

// plainly returns JSON that does not escape < and &.
func plainly(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return jsonx.Rewrite(bytes.TrimSuffix(b.Bytes(), []byte("\n")), v), err
}

func indented(v any) ([]byte, error) {
	out, err := plainly(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, append(out, '\n'), "", "  ")
	return b.Bytes(), err
}
