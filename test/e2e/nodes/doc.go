// Package nodes has tests of several computers that work on one project: folders with clones and configurations of their own, each with a
// node that runs in a network of its own, on a real PostgreSQL and a real git remote.
package nodes
