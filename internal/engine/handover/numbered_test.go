package handover

import "testing"

// TestAnOptionHasItsNumberOnce, also where its author has numbered the options.
func TestAnOptionHasItsNumberOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options []string
		want    string
	}{
		{nil, ""},
		{[]string{"1.234,50 EUR", "2 EUR"}, "1. 1.234,50 EUR\n2. 2 EUR\n"},
		{[]string{"1. 1.234,50 EUR", "2. 2 EUR"}, "1. 1.234,50 EUR\n2. 2 EUR\n"},
		{[]string{"1. FC", "FC"}, "1. 1. FC\n2. FC\n"},
	} {
		if got, err := NumberOptions(c.options); err != nil || got != c.want {
			t.Errorf("%q are %q, not %q: %v", c.options, got, c.want, err)
		}
	}
}
