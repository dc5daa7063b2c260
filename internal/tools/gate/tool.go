package gate

import "github.com/modelcontextprotocol/go-sdk/mcp"

// A Tool is a tool as clients see it.
type Tool struct {
	Name     string
	Title    string
	Doc      string // what it does, when to call it, what comes next
	ReadOnly bool
	Args     []Arg
}

// An Arg is one argument of a tool. It is a document if it is not of another kind.
type Arg struct {
	Name     string
	Doc      string
	List     bool // of strings, each one line
	Flag     bool // true or false
	Number   int  // greatest value of a whole number, which is at least 1
	Line     int  // greatest length of one line, in characters
	Optional bool
	Exact    bool // the content of a file: hidden characters stay
}

// Definition returns the tool as clients see it.
func (t Tool) Definition() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Doc, InputSchema: t.schema(),
		// Clients load it at once: a model does not find a tool that it must first search for.
		Meta:        mcp.Meta{"anthropic/alwaysLoad": true},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// An object is a JSON schema with its keys in a fixed order.
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
