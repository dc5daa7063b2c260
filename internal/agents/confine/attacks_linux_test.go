package confine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox/attack"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestTheAttacksOfTheDocumentationFromAnExecutor: each is tried by a process in the very sandbox that an executor gets, and goes
// through where the documentation says so. Without -full each is tried in one of the settings.
func TestTheAttacksOfTheDocumentationFromAnExecutor(t *testing.T) {
	inEach(t, func(t *testing.T, in setting) { attackFrom(t, in) })
}

func attackFrom(t *testing.T, in setting) {
	s := newSite(t, in, "wait_for_task submit", nil, "")
	e := s.at.Human().Engine()
	now, err := e.View()
	must(t, err)
	gate, err := e.Gate(now)
	must(t, err)
	p, err := plan.Of(t.Context(), plan.Executor{Gate: gate, Place: e.Place(), Work: s.at.Dir, Ferrus: s.self, Environ: os.Environ()})
	must(t, err)
	inside, err := p.Order.Enter(t.Context())
	must(t, err)
	t.Cleanup(func() {
		if _, err := inside.Leave(); err != nil {
			t.Error(err)
		}
	})
	var prefix strings.Builder
	for _, arg := range append([]string{s.self}, inside.Prefix[1:]...) {
		fmt.Fprintf(&prefix, "'%s' ", arg)
	}
	// The victim, which is named by its secret, is outside.
	program := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(program, []byte(fmt.Sprintf("#!/bin/sh\nif [ \"$2\" = \"$ATTACK_SECRET\" ]; then exec '%s' \"$@\"; fi\nexec %s '%s' \"$@\"\n", s.self, prefix.String(), s.self)), 0o755))
	for i, a := range attack.All() {
		if !kit.Sampled(3, i, slices.Index(settings, in)) {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			got, err := attack.Try(t.Context(), a, attack.Way{Mechanism: sandbox.None}, program)
			must(t, err)
			if stopped := a.Stopped(attack.Way{Mechanism: in.mechanism}); got.Through && stopped {
				t.Error("it goes through")
			} else if !got.Through && !stopped {
				t.Errorf("it is stopped, and the documentation says that it is not: %s", got.Why)
			}
		})
	}
}
