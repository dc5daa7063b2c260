package handover

import "sync"

// A memo remembers answers about objects of git, which never change: a page asks for the same ones with each request, and one answer of
// a command may ask for them twice. The zero value is empty; it may be used by several goroutines. What it returns is not to be changed.
type memo[K comparable, V any] struct {
	mu  sync.Mutex
	all map[K]V
}

// maxRemembered bounds the answers of a memo.
const maxRemembered = 256

func (m *memo[K, V]) get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.all[key]
	return v, ok
}

// put adds an answer. A memo that is full forgets the others first.
func (m *memo[K, V]) put(key K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= maxRemembered {
		m.all = map[K]V{}
	}
	m.all[key] = v
}
