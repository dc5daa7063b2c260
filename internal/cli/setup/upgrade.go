package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/server"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// newestRelease is the address that knows the newest release.
const newestRelease = "https://api.github.com/repos/ferrus-go/ferrus/releases/latest"

const (
	releaseLimit = 30 * time.Second // that the answer may take
	releaseBytes = 1 << 20          // that it may have
)

// A versionCheck is what ferrus upgrade-check prints with --json.
type versionCheck struct {
	Version string `json:"version"`
	Newest  string `json:"newest"`  // "" where nothing is released
	Upgrade bool   `json:"upgrade"` // the newest is newer than this one
}

// UpgradeCheckCommand is ferrus upgrade-check.
func UpgradeCheckCommand(a *cli.App) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "upgrade-check [--from URL]",
		Short: "Ask for the newest version",
		Long: `Asks which version of ferrus is the newest, and compares it with this one. It
says first which address it asks. It changes nothing, and ferrus never asks by
itself.`,
		Example: `  ferrus upgrade-check
  ferrus upgrade-check --json`,
		Annotations: cli.Reference(`The request contains nothing of this computer or its projects. URL is an address
that answers as GitHub does: {"tag_name": "v1.2.3"}. HTTPS_PROXY is used.
Redirects are not followed. Only a person may use it.`, "version newest upgrade."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("from") {
				from = newestRelease
			}
			if _, err := cli.Address(from); err != nil {
				return cli.UsageError("ferrus upgrade-check", "--from: %v", err)
			}
			if err := a.RefuseAgent("upgrade-check"); err != nil {
				return err
			}
			cli.Fprintf(a.Err, "asking %s\n", from)
			newest, err := askNewest(cmd.Context(), from)
			if err != nil {
				return err
			}
			return showUpgrade(a, server.Version(), newest)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "ask at `URL`, such as that of a mirror, instead of GitHub")
	return cmd
}

// askNewest asks an address for the newest release, as v1.2.3. It is "" where nothing is released.
func askNewest(ctx context.Context, address string) (string, error) {
	const remedy = "try it later, or see https://github.com/ferrus-go/ferrus/releases"
	ctx, cancel := context.WithTimeout(ctx, releaseLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", "ferrus")
	resp, err := cli.HTTPClient().Do(req)
	if err != nil {
		return "", refusal.Because(refusal.StoreError, "ask for the newest version", err, remedy)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return "", nil
	default:
		return "", cli.Refuse(refusal.StoreError, "the address answers "+format.Line(resp.Status), remedy)
	}
	var release struct {
		Tag string `json:"tag_name"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, releaseBytes)).Decode(&release); err != nil || !semver.IsValid(release.Tag) {
		return "", cli.Refuse(refusal.StoreError, fmt.Sprintf("the address names no version: %q", format.Clip(release.Tag, 40)), remedy)
	}
	return release.Tag, nil
}

// showUpgrade says how the newest version compares with this one.
func showUpgrade(a *cli.App, version, newest string) error {
	check := versionCheck{version, newest, newest != "" && semver.Compare(newest, version) > 0}
	switch {
	case a.JSON:
		return a.PrintJSON(check)
	case newest == "":
		a.Say("No version is released there.\n")
	case !semver.IsValid(version):
		a.Say("The newest version is %s. This one was built without a version.\n", newest)
	case check.Upgrade:
		a.Say("%s is newer than this one, %s. To get it: ferrus docs install\n", newest, version)
	default:
		a.Say("This one, %s, is the newest: %s is released.\n", version, newest)
	}
	return nil
}
