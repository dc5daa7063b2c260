package main

import "slices"

// rigs are all there are, in the order of their promises. Each part stands in a file of its own.
var rigs = slices.Concat(disks, parsers, soaks, gates, models, kills, clocks, pipelines, runs, history, branches, delegates, foreign, limits, edits, clean, rootfiles, content, roots, agreements, people, firstruns, durable, stacks, scores, steps, ruled, notices, page, screen, sandboxed, exchanges, publications, nodes, servers)
