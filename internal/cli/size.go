package cli

import "cmp"

// usualColumns and usualRows are how wide and high a terminal is taken to be that does not say it.
const (
	UsualColumns = 80
	usualRows    = 24
)

// Width is how wide the terminal is that stdout leads to, 0 when it leads to none.
func (a *App) Width() int {
	columns, _ := a.Size()
	return columns
}

// Size is how wide and high the terminal is that stdout leads to, 0 when it leads to none.
func (a *App) Size() (columns, rows int) {
	if !a.OutTTY {
		return 0, 0
	}
	if a.window != nil {
		columns, rows = windowSize(a.window)
	}
	return cmp.Or(columns, UsualColumns), cmp.Or(rows, usualRows)
}
