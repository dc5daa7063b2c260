package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/golden"
)

// ordered is a JSON object with its keys in order.
type ordered []member

type member struct {
	key   string
	value any
}

func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, m := range o {
		value, err := encoded(m.value, "")
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: ",", false: "{"}[i > 0], m.key, value)
	}
	return []byte(b.String() + "}"), nil
}

// encoded is JSON that does not escape < and &.
func encoded(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// schemaOf is the JSON schema of an object with these keys.
func schemaOf(keys []key) ordered {
	var props ordered
	var need []string
	var more ordered
	for _, k := range keys {
		o := ordered{{"description", strings.ReplaceAll(k.means, "`", "")}}
		switch k.kind {
		case textual:
			o = append(o, member{"type", "string"})
			if k.words != nil {
				o = append(o, member{"enum", k.words})
			} else if k.need || k.filled {
				o = append(o, member{"pattern", `\S`})
			}
		case yesno:
			o = append(o, member{"type", "boolean"})
		case number:
			o = append(o, member{"type", "integer"}, member{"minimum", k.least}, member{"maximum", k.most})
			if k.nonzero {
				o = append(o, member{"not", ordered{{"const", 0}}})
			}
		case names:
			o = append(o, member{"type", "array"}, member{"uniqueItems", true}, member{"items", ordered{{"type", "string"}}})
		case codes:
			o = append(o, member{"type", "array"}, member{"uniqueItems", true},
				member{"items", ordered{{"type", "integer"}, {"minimum", k.least}, {"maximum", k.most}}})
		case objects:
			o = append(o, member{"type", "array"}, member{"minItems", 1}, member{"items", schemaOf(k.of)})
		}
		props = append(props, member{k.name, o})
		switch {
		case k.unless != "":
			more = append(more, member{"anyOf", []ordered{{{"required", []string{k.name}}}, {{"required", []string{k.unless}}}}})
		case k.need:
			need = append(need, k.name)
		}
	}
	return append(ordered{{"type", "object"}, {"additionalProperties", false}, {"required", need}, {"properties", props}}, more...)
}

// TestTheSchemaIsTheTable: schema.json is made from the table of keys.
func TestTheSchemaIsTheTable(t *testing.T) {
	t.Parallel()
	text, err := encoded(ordered{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "workflows.json of ferrus"}, {"type", "object"},
		{"minProperties", 1}, {"additionalProperties", schemaOf(pipelineKeys)}}, "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "schema.json", string(text))
	if !golden.Updating() && (string(Schema) != string(text) || !json.Valid(Schema)) {
		t.Error("the schema that is built in is another")
	}
}

// TestTheKeysAreTheFields: what the table of keys has, the types have, and of that kind.
func TestTheKeysAreTheFields(t *testing.T) {
	t.Parallel()
	kinds := map[reflect.Kind]kind{reflect.String: textual, reflect.Bool: yesno, reflect.Pointer: yesno, reflect.Int: number, reflect.Int64: number}
	for _, o := range []struct {
		of   reflect.Type
		keys []key
	}{{reflect.TypeFor[Workflow](), pipelineKeys}, {reflect.TypeFor[Phase](), phaseKeys}, {reflect.TypeFor[Worker](), workerKeys}} {
		var fields []string
		for f := range o.of.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			fields = append(fields, name)
			i := slices.IndexFunc(o.keys, func(k key) bool { return k.name == name })
			if i < 0 {
				t.Errorf("%s has %s, which is no key", o.of, name)
				continue
			}
			want := kinds[f.Type.Kind()]
			if f.Type.Kind() == reflect.Slice {
				want = map[reflect.Kind]kind{reflect.String: names, reflect.Int: codes, reflect.Struct: objects}[f.Type.Elem().Kind()]
			}
			if k := o.keys[i]; k.kind != want || (k.need && k.unless == "") == strings.HasPrefix(options, "omit") {
				t.Errorf("%s: a %s in the table, a %s in the type; or only one of them can be left out", name, k.kind, want)
			}
		}
		for _, k := range o.keys {
			if !slices.Contains(fields, k.name) {
				t.Errorf("the key %s is no field of %s", k.name, o.of)
			}
		}
	}
}
