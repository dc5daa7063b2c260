// Command ferrus is the command line of ferrus. `ferrus serve` is the MCP server that agents talk to.
package main

import "github.com/ferrus-go/ferrus/internal/cli/root"

func main() { root.Main() }
