package attack

import (
	"crypto/rand"
	"net"
)

// loopback is an address of this computer of our own: a port of 127.0.0.1 may be one that another program had, and that its clients still
// call.
func loopback() string {
	part := make([]byte, 2)
	_, _ = rand.Read(part) // it never fails
	return net.IPv4(127, part[0], part[1], 2).String()
}

// serve counts who connects.
func (v *victim) serve(network, address string) (string, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return "", err
	}
	v.close = append(v.close, func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			v.visitors.Add(1)
			c.Close()
		}
	}()
	v.services = append(v.services, [2]string{network, l.Addr().String()})
	return l.Addr().String(), nil
}

// datagrams counts those that arrive, and answers each.
func (v *victim) datagrams(network, address string) (string, error) {
	c, err := net.ListenPacket(network, address)
	if err != nil {
		return "", err
	}
	v.close = append(v.close, func() { c.Close() })
	go func() {
		for buf := make([]byte, 64); ; {
			_, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			v.visitors.Add(1)
			_, _ = c.WriteTo(buf[:1], from)
		}
	}()
	v.services = append(v.services, [2]string{network, c.LocalAddr().String()})
	return c.LocalAddr().String(), nil
}

// visits is how often a service was reached. It visits each itself, after all that came before.
func (v *victim) visits() (int32, error) {
	for _, s := range v.services {
		d := net.Dialer{}
		if s[0] == "unixgram" { // with an address, to be answered
			d.LocalAddr = &net.UnixAddr{Net: s[0], Name: "@" + rand.Text()}
		}
		c, err := d.Dial(s[0], s[1])
		if err != nil {
			return 0, err
		}
		_, _ = c.Write([]byte("ours")) // it may be closed already
		_, _ = c.Read(make([]byte, 1)) // it is answered, or closed
		c.Close()
		v.visitors.Add(-1)
	}
	return v.visitors.Load(), nil
}
