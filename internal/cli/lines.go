package cli

import "bytes"

// LineWriter is a writer that shows what is written to it, line by line.
type LineWriter struct {
	Show func(line string)
	rest bytes.Buffer // of a line that has not ended
}

// Write shows each line that is complete. It never fails.
func (p *LineWriter) Write(data []byte) (int, error) {
	p.rest.Write(data)
	for {
		i := bytes.IndexByte(p.rest.Bytes(), '\n')
		if i < 0 {
			if p.rest.Len() > maxPiece {
				p.Flush()
			}
			return len(data), nil
		}
		p.Show(string(p.rest.Next(i + 1)[:i]))
	}
}

// Flush shows what has not ended yet.
func (p *LineWriter) Flush() {
	if p.rest.Len() > 0 {
		p.Show(p.rest.String())
		p.rest.Reset()
	}
}

// maxPiece is how much of a line that does not end is shown at once.
const maxPiece = 1 << 20
