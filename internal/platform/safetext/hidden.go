package safetext

import "unicode"

// ignorable are the characters that Unicode has software show as nothing (Default_Ignorable_Code_Point) and others that a
// reader does not see or cannot tell apart: format characters (Cf: bidi controls, zero width characters, tags, interlinear
// annotation, soft hyphen), variation selectors, fillers, line and paragraph separators, private use, surrogates and
// noncharacters. Those that Unicode has only reserved for this purpose are in Other_Default_Ignorable_Code_Point.
var ignorable = []*unicode.RangeTable{unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
	unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point}

// Hidden reports whether a reader cannot see a character, or a terminal obeys it. Newline and tab are not hidden, nor is
// any other character that is shown as a blank.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r >= ' ' && r <= '~':
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, ignorable...)
}
