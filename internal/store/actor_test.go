package store

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
)

func TestHowAPersonActedIsSaid(t *testing.T) {
	for _, c := range []struct {
		actor      Actor
		how        string
		unattended bool
	}{
		{Actor{Role: state.Human, TTY: true}, "", false},
		{Actor{Role: state.Human}, "without a terminal", true},
		{Actor{Role: state.Human, TTY: true, Via: "ui"}, "via ui", false},
		{Actor{Role: state.Human, Via: "web\x1b[2J\nx"}, "via web<U+001B>[2J x", false},
		{Actor{Role: state.Executor}, "", false},
		{Actor{Role: state.Engine}, "", false},
	} {
		if how := c.actor.How(); how != c.how || c.actor.Unattended() != c.unattended {
			t.Errorf("%+v: %q, %v", c.actor, how, c.actor.Unattended())
		}
	}
}
