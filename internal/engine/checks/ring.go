package checks

// A ring stores the last size bytes written to it; a zero ring stores none.
type ring struct {
	size  int
	buf   []byte // grows up to size: most output is short
	next  int    // index of the oldest byte once buf is full
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

// Bytes returns the stored bytes, oldest first.
func (r *ring) Bytes() []byte {
	return append(append(make([]byte, 0, len(r.buf)), r.buf[r.next:]...), r.buf[:r.next]...)
}

// lost returns the number of bytes that were written and are no longer stored.
func (r *ring) lost() int64 { return r.total - int64(len(r.buf)) }
