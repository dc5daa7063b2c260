// Package machines has the test of docs/machines.md: it does what the page says, as it is written, with several computers.
package machines
