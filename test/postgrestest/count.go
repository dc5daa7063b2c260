package postgrestest

import "encoding/binary"

// Passed returns how many bytes have come in a direction, on all connections.
func (p *Proxy) Passed(d Direction) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed[d]
}

// Requests returns how often a client has asked something and waited for the answer, on all connections: several statements in one batch are one.
func (p *Proxy) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// count counts what has come on a link.
func (p *Proxy) count(d Direction, data []byte, r *requests) {
	asked := 0
	if d == ToServer {
		asked = r.in(data)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed[d] += len(data)
	p.asked += asked
}

// requests finds the messages of a client after which the server answers: Query and Sync. The first message of a connection has no type.
type requests struct {
	begun bool
	head  []byte // of a message, as far as it has come
	skip  int    // bytes of the message that are still to come
}

// in returns how many there are in the next data of a connection.
func (r *requests) in(data []byte) (n int) {
	for len(data) > 0 {
		if r.skip > 0 {
			step := min(r.skip, len(data))
			r.skip -= step
			data = data[step:]
			continue
		}
		r.head = append(r.head, data[0])
		data = data[1:]
		kind := 1
		if !r.begun {
			kind = 0
		}
		if len(r.head) < kind+4 {
			continue
		}
		if r.begun && (r.head[0] == 'Q' || r.head[0] == 'S') {
			n++
		}
		r.skip = int(binary.BigEndian.Uint32(r.head[kind:])) - 4
		r.begun, r.head = true, r.head[:0]
	}
	return n
}
