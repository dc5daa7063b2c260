package register

import (
	"maps"
	"slices"
	"strings"
)

// without is the file as it would be without us, and whether it would be there at all. If our bits are to come back, what
// stands there as we would write it, and is not known to be ours, is taken for theirs: but for the server, which is ours
// by what it runs.
func (r reading) without(bits []bit, mem *memory, back bool) (text []byte, there bool, err error) {
	if !r.there {
		return nil, false, nil
	}
	if old, ok := mem.undone(r.text); ok {
		return old, old != nil, nil
	}
	text = r.text
	expected := clone(r.tree)
	for _, b := range bits {
		taken, equal := b.in(expected)
		if back && mem == nil && equal && !b.serves() && !b.off {
			continue
		}
		if !taken || mem.kept(strings.Split(b.id(), "\x00")) || b.shy && !mem.wrote(b, r.tree) {
			continue
		}
		var item func(any) bool
		if b.item {
			item = b.is
		}
		for ; taken; taken, _ = b.in(expected) {
			if text, err = r.format.remove(text, b.path, item, mem.kept); err != nil {
				return nil, false, r.blame(err)
			}
			take(expected, b)
		}
	}
	if err := r.expect(text, expected, bits); err != nil {
		return nil, false, err
	}
	if mem != nil && mem.Made && r.empty(text) {
		return nil, false, nil
	}
	return text, true, nil
}

// empty reports whether a person would miss nothing of a text.
func (r reading) empty(text []byte) bool {
	if r.own != "" {
		if tree, err := r.parsed(text); err == nil && len(tree) == 1 && tree[r.own] != nil {
			text, _ = r.format.remove(text, []string{r.own}, nil, func([]string) bool { return true })
		}
	}
	return strings.TrimSpace(string(text[offsetJSON(text):])) == r.format.empty
}

// with is an old text with our bits in it, and what is to be remembered of that.
func (r reading) with(bits []bit, old []byte, there bool) ([]byte, *memory, error) {
	expected, err := r.parsed(old)
	if err != nil {
		return nil, nil, err
	}
	text, mem := old, &memory{Made: !there, Shy: map[string]string{}}
	if blank(old) {
		text = nil
		if r.format.empty != "" {
			text = []byte(r.format.empty + "\n")
		}
	}
	for _, b := range bits {
		for n := range b.path {
			if _, ok := at(expected, b.path[:n+1]); ok && (n < len(b.path)-1 || b.item) {
				mem.keep(joined(b.path[:n+1]))
			}
		}
	}
	for _, b := range bits {
		if taken, _ := b.in(expected); taken {
			mem.keep(b.id())
			continue
		}
		if b.off || b.shy && b.value == "" || b.fresh && there {
			continue
		}
		if text, err = r.format.insert(text, b.path, b.value, b.item); err != nil {
			return nil, nil, r.blame(err)
		}
		put(expected, b)
		if b.shy {
			mem.Shy[b.id()] = b.value.(string)
		}
	}
	if err := r.expect(text, expected, nil); err != nil {
		return nil, nil, err
	}
	mem.Sum = sum(text)
	if there {
		mem.Undo = hunks(string(text), string(old))
	}
	return text, mem, nil
}

func (m *memory) keep(id string) {
	if !slices.Contains(m.Kept, id) {
		m.Kept = append(m.Kept, id)
	}
}

// expect is the proof of an edit: the text means what it should, no more and no less, but for what is empty on the way
// to the bits.
func (r reading) expect(text []byte, tree map[string]any, bits []bit) error {
	got, err := r.parsed(text)
	if err != nil || !same(pruned(got, bits), pruned(tree, bits)) {
		return refuse(r.name, 1, "it is laid out in a way that ferrus cannot edit safely",
			"write the tables that ferrus shares with others in the usual form, each with a header of its own; nothing was written")
	}
	return nil
}

func clone(tree map[string]any) map[string]any {
	out := maps.Clone(tree)
	for k, v := range out {
		if m, ok := v.(map[string]any); ok {
			out[k] = clone(m)
		}
	}
	return out
}

// put does to a tree what insert does to a text.
func put(tree map[string]any, b bit) {
	for _, key := range b.path[:len(b.path)-1] {
		next, ok := tree[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			tree[key] = next
		}
		tree = next
	}
	last := b.path[len(b.path)-1]
	if !b.item {
		tree[last] = plain(b.value)
		return
	}
	list, _ := tree[last].([]any)
	tree[last] = append(slices.Clone(list), plain(b.value))
}

// take does to a tree what remove does to a text, but for the containers.
func take(tree map[string]any, b bit) {
	in, last := tree, b.path[len(b.path)-1]
	for _, key := range b.path[:len(b.path)-1] {
		in = in[key].(map[string]any)
	}
	if !b.item {
		delete(in, last)
		return
	}
	list := slices.Clone(in[last].([]any))
	i := slices.IndexFunc(list, b.is)
	in[last] = slices.Delete(list, i, i+1)
}

// pruned is a tree without the containers of our bits in which there is nothing: whether one stays that is empty is a
// matter of taste.
func pruned(tree map[string]any, bits []bit) map[string]any {
	tree = clone(tree)
	for _, b := range bits {
		for n := len(b.path); n > 0; n-- {
			in, ok := at(tree, b.path[:n-1])
			m, isTable := in.(map[string]any)
			if !ok || !isTable {
				continue
			}
			switch v := m[b.path[n-1]].(type) {
			case map[string]any:
				if len(v) == 0 {
					delete(m, b.path[n-1])
				}
			case []any:
				if len(v) == 0 {
					delete(m, b.path[n-1])
				}
			}
		}
	}
	return tree
}
