// Package clock reads the clock that all processes of a machine share and that no user can set. It
// starts at zero when the machine starts, and stops while the machine sleeps. Leases are measured
// by it; for dates use package time.
package clock
