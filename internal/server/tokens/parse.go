package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// schema is the version of the file format.
const schema = 1

// An entry is a token as stored in the file.
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

// parse reads the file and trusts nothing in it. A role that no token can have, two tokens with one
// secret, or an unknown field is damage, which the reader must not repair.
func parse(text []byte) ([]entry, error) {
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, errors.New("it is not JSON as ferrus writes it")
	}
	if doc.Schema != schema {
		return nil, fmt.Errorf("its schema is %d, and this ferrus understands %d", doc.Schema, schema)
	}
	seen := map[string]bool{}
	for i, e := range doc.Tokens {
		if err := e.validate(); err != nil {
			return nil, fmt.Errorf("token %d: %v", i+1, err)
		}
		for _, own := range []string{e.ID, e.Hash, string(e.Role) + " " + e.Name} {
			if seen[own] {
				return nil, fmt.Errorf("token %d: another one has its id, its name or its secret", i+1)
			}
			seen[own] = true
		}
	}
	// The decoder accepts what a human reader would read differently: a duplicate key, one in
	// capitals, or an unknown one.
	again, err := encode(doc.Tokens)
	if err != nil || !bytes.Equal(compact(again), compact(text)) {
		return nil, errors.New("it contains something that ferrus does not write")
	}
	return doc.Tokens, nil
}

// compact returns JSON without white space.
func compact(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, text) // both texts are valid JSON
	return b.Bytes()
}

func (e entry) validate() error {
	switch {
	case !idForm().MatchString(e.ID):
		return fmt.Errorf("%q is not an id", e.ID)
	case !validRole(e.Role):
		return fmt.Errorf("%q is not the role of a token", e.Role)
	case !validName(e.Name):
		return fmt.Errorf("%q is not the name of an agent", e.Name)
	case !hashForm.MatchString(e.Hash):
		return errors.New("its sha256 is not a hash")
	}
	return nil
}
