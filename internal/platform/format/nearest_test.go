package format

import "testing"

func TestWordFindsWhatWasMeantAndNothingElse(t *testing.T) {
	of := []string{"description", "title", "claim", "note", "notes", "max_check_retries", "ttl_secs"}
	for word, want := range map[string]string{
		"descripton":       "description",
		"Description":      "description",
		"titel":            "title", // neighbours swapped
		"clame":            "claim",
		"note":             "note",
		"notez":            "note", // the first of equals
		"max_chek_retrys":  "max_check_retries",
		"ttl":              "ttl_secs",
		"descr":            "description",
		"title_of_task":    "title",
		"tt":               "",
		"":                 "",
		"zebra":            "",
		"retries":          "",
		"beschreibung":     "",
		"\xff\xfe\xfd\xfc": "",
	} {
		if got := Word(word, of); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Word("title", nil); got != "" {
		t.Errorf("nothing to choose from, yet %q", got)
	}
}
