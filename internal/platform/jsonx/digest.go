package jsonx

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// digits is the length of a digest: enough to tell the calls of an agent apart.
const digits = 16

// Digest returns the beginning of the SHA-256 of the arguments of a call, or another JSON text. It depends neither on the
// order of the members nor on white space; no arguments are an empty object. The log has no
// arguments themselves, which may contain secrets.
func Digest(args json.RawMessage) string {
	text := bytes.TrimSpace(args)
	if len(text) == 0 || string(text) == "null" {
		text = []byte("{}")
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var v any
	if in.Decode(&v) == nil {
		if sorted, err := json.Marshal(v); err == nil {
			text = sorted
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:digits]
}
