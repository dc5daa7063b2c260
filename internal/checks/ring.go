package checks

// ring keeps the last size bytes written to it; a zero ring keeps none.
type ring struct {
	size  int
	buf   []byte // grows up to size: most output is short
	next  int    // once buf is full, where the oldest byte is
	total int64  // bytes written so far
}

// Write never fails.
func (r *ring) Write(p []byte) (int, error) {
	n := len(p)
	r.total += int64(n)
	p = p[max(0, n-r.size):]
	if fits := min(len(p), r.size-len(r.buf)); fits > 0 {
		r.buf = append(r.buf, p[:fits]...)
		p = p[fits:]
	}
	for len(p) > 0 {
		k := copy(r.buf[r.next:], p)
		r.next = (r.next + k) % r.size
		p = p[k:]
	}
	return n, nil
}

// Bytes returns what is kept, oldest first.
func (r *ring) Bytes() []byte {
	return append(append(make([]byte, 0, len(r.buf)), r.buf[r.next:]...), r.buf[:r.next]...)
}

// lost is the number of bytes written and not kept.
func (r *ring) lost() int64 { return r.total - int64(len(r.buf)) }
