package cli

// Texts of a command that stand on a page of docs/cli and not in its help, as keys of cobra's annotations.
const (
	Details = "details" // what a person need not know to use the command
	JSON    = "json"    // what it prints with --json
)

// Reference are the annotations of a command that has such texts; an empty one is left out.
func Reference(details, json string) map[string]string {
	texts := map[string]string{}
	if details != "" {
		texts[Details] = details
	}
	if json != "" {
		texts[JSON] = json
	}
	return texts
}
