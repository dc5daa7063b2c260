package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/safetext"
)

// schema is the version of the file's form.
const schema = 1

// An entry is a token as the file has it.
type entry struct {
	Token
	Hash string `json:"sha256"` // of the secret, in hexadecimal
}

type document struct {
	Schema int     `json:"schema"`
	Tokens []entry `json:"tokens"`
}

var hashForm = safetext.NewForm(`^[0-9a-f]*$`, 64, 64)

func encode(list []entry) ([]byte, error) {
	if list == nil {
		list = []entry{}
	}
	text, err := json.MarshalIndent(document{schema, list}, "", "  ")
	return append(text, '\n'), err
}

// parse reads the file. It takes nothing on trust: a token of a role that none can have, two with one secret, or a field
// that we did not write is damage, and not the reader's to mend.
func parse(text []byte) ([]entry, error) {
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, errors.New("it is not the JSON that ferrus writes")
	}
	if doc.Schema != schema {
		return nil, fmt.Errorf("its schema is %d, and this ferrus understands %d", doc.Schema, schema)
	}
	seen := map[string]bool{}
	for i, e := range doc.Tokens {
		if err := e.sound(); err != nil {
			return nil, fmt.Errorf("token %d: %v", i+1, err)
		}
		for _, own := range []string{e.ID, e.Hash, string(e.Role) + " " + e.Name} {
			if seen[own] {
				return nil, fmt.Errorf("token %d: another one has its id, its name or its secret", i+1)
			}
			seen[own] = true
		}
	}
	// The decoder lets pass what a reader by eye would read otherwise: a key twice, in capitals, or unknown.
	again, err := encode(doc.Tokens)
	if err != nil || !bytes.Equal(compact(again), compact(text)) {
		return nil, errors.New("it holds what ferrus does not write")
	}
	return doc.Tokens, nil
}

// compact is JSON without its white space.
func compact(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, text) // both texts have been read, or written, as JSON
	return b.Bytes()
}

func (e entry) sound() error {
	switch {
	case !idForm.MatchString(e.ID):
		return fmt.Errorf("%q is no id", e.ID)
	case !validRole(e.Role):
		return fmt.Errorf("%q is no role of a token", e.Role)
	case !validName(e.Name):
		return fmt.Errorf("%q is no name of an agent", e.Name)
	case !hashForm.MatchString(e.Hash):
		return errors.New("its sha256 is none")
	}
	return nil
}
