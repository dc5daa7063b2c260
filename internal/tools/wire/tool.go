package wire

import "github.com/modelcontextprotocol/go-sdk/mcp"

// A Tool is a tool as its callers know it.
type Tool struct {
	Name     string
	Title    string
	Doc      string // what it does, when to call it, what comes next
	ReadOnly bool
	Args     []Arg
}

// An Arg is one argument of a tool: a document if it is neither of the others.
type Arg struct {
	Name     string
	Doc      string
	List     bool // of strings, each one line
	Flag     bool // true or false
	Number   int  // a whole number, from 1 to so many
	Line     int  // one line, of at most so many characters
	Optional bool
	Exact    bool // the content of a file: hidden characters stay
}

// Definition is the tool as clients see it.
func (t Tool) Definition() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Doc, InputSchema: t.schema(),
		// Loaded at once: a model that must first search for the tool that it is to call first does not find it.
		Meta:        mcp.Meta{"anthropic/alwaysLoad": true},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// object is a JSON schema with its keys in a fixed order.
type object struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties,omitempty"`
	Required   []string            `json:"required,omitempty"`
	Additional bool                `json:"additionalProperties"`
}

type property struct {
	Type  string    `json:"type"`
	Doc   string    `json:"description,omitempty"`
	Items *property `json:"items,omitempty"`
}

func (t Tool) schema() object {
	o := object{Type: "object"}
	for _, a := range t.Args {
		if o.Properties == nil {
			o.Properties = map[string]property{}
		}
		o.Properties[a.Name] = a.property()
		if !a.Optional {
			o.Required = append(o.Required, a.Name)
		}
	}
	return o
}

func (a Arg) property() property {
	switch {
	case a.List:
		return property{Type: "array", Doc: a.Doc, Items: &property{Type: "string"}}
	case a.Flag:
		return property{Type: "boolean", Doc: a.Doc}
	case a.Number > 0:
		return property{Type: "integer", Doc: a.Doc}
	}
	return property{Type: "string", Doc: a.Doc}
}
