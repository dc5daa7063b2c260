// Command ferrusd is the MCP server: ferrus serve under its own name.
package main

import (
	"os"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/server"
)

func main() { os.Exit(server.Main("ferrusd", os.Args[1:], cli.Metrics)) }
