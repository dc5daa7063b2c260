package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// addAgents adds the agents that are installed now to a ferrus.toml that names none, at its end: what is there stays as it is. On a
// terminal it shows the lines and asks. Who has agreed to the file has agreed to it with them. A file that cannot be read is left to
// ferrus config check.
func addAgents(a *cli.App, ctx context.Context, did *Setup) error {
	path := filepath.Join(did.Root, config.FileName)
	conf, err := config.Load(path)
	if err != nil || cli.NamesAgents(conf) {
		return nil
	}
	found := findAgents(a, ctx, did.Root)
	hq := cli.ChooseAgents(found)
	added := config.RenderAgents(hq)
	if len(added) == 0 {
		return nil
	}
	was, err := os.ReadFile(path)
	if err != nil {
		return refusal.Folder(err)
	}
	if len(was) > 0 && was[len(was)-1] != '\n' {
		added = append([]byte("\n"), added...)
	}
	// What would not be read back, whatever the file is, is not written.
	if now, err := config.Parse(path, append(was, added...)); err != nil || !cli.NamesAgents(now) {
		return nil
	}
	if a.InTTY && a.OutTTY && !a.JSON {
		a.Say("ferrus.toml names no agents. These lines would be added at its end:\n%s\n", format.Indent(strings.TrimSpace(string(added)), "  "))
		if answer, err := askLine(a, "Add them? [Y/n] ", "y"); err != nil || answer != "y" {
			return err
		}
	}
	agreed, err := hasAgreed(did.Root, path, was)
	if err != nil {
		return cli.TrustError(err)
	}
	root, err := rootfs.Open(did.Root)
	if err != nil {
		return refusal.Folder(err)
	}
	defer root.Close()
	if err := atomicfile.Append(root, config.FileName, added, 0o644); err != nil {
		return refusal.Folder(err)
	}
	if did.agreed = agreed; agreed {
		did.warning = cli.TrustOwnFile(did.Root, append(was, added...))
	}
	did.Wrote, did.Added = append(did.Wrote, config.FileName), strings.TrimSpace(string(added))
	did.Found, did.Supervisor, did.Executor = found, hq.Supervisor.Agent, hq.Executor.Agent
	return nil
}

// hasAgreed reports whether a person has agreed to what a ferrus.toml of this text makes run.
func hasAgreed(root, path string, text []byte) (bool, error) {
	conf, err := config.Parse(path, text)
	if err != nil {
		return false, nil
	}
	record, err := trust.Open(root)
	if err != nil {
		return false, err
	}
	return record.Agreed(conf.Executable())
}

// findAgents looks for installed agents, and shows that it is at work.
func findAgents(a *cli.App, ctx context.Context, root string) []cli.FoundAgent {
	asking, end := a.Working(ctx, "looking for agents")
	defer end()
	return cli.FindAgents(asking, root)
}
