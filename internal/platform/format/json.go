package format

import (
	"bytes"
	"encoding/json"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// JSON is v as JSON with a newline; indent "" puts it on one line.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return safetext.EscapeJSON(jsonx.Rewrite(b.Bytes(), v)), nil
}
