//go:build unix

package tools

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/state"
)

// TestAResourceIsReadByTheRolesThatHaveTheTools tries every resource as every role.
func TestAResourceIsReadByTheRolesThatHaveTheTools(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	tried, through := 0, 0
	for role, a := range map[state.Role]*agent{None: c.none, state.Executor: c.holder, state.Supervisor: c.supervisor} {
		for name := range strings.FieldsSeq(readable[state.Supervisor]) {
			tried++
			_, err := a.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ferrus://" + name})
			if may := slices.Contains(strings.Fields(readable[role]), name); may != (err == nil) {
				through++
				t.Errorf("%s reads %s: %v", cmp.Or(string(role), "no role"), name, err)
			}
		}
	}
	t.Logf("%d of %d", through, tried)
}
