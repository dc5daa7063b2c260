// Package terminal is the screen in a terminal: all work at a glance on the left, one item of it on the right, the keys that work now below.
// It shows what a Source has read and sends acts back to it; it derives nothing about tasks and composes no command.
//
// A page, which is a review or a comparison of attempts, has the whole screen in place of the panes.
//
// Each pane and each page is a small model of its own. The Model routes messages to them. Nothing in Update reads or writes anything:
// the commands in load.go do.
//
// Folder ui has this screen and the page in a browser (internal/ui/web). Neither decides what is possible: internal/status does.
//
// Start reading at terminal/model.go.
package terminal
