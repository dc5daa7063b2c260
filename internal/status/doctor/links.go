package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// checkLinks looks for symbolic links in place of ferrus's own folders.
func checkLinks(p *Context) Finding {
	links, err := p.Place.Links()
	switch {
	case err != nil:
		return Bad(err.Error(), "check that the folder can be read")
	case len(links) == 0:
		return Fine("no folder of ferrus is a link")
	case links[0] == filepath.Join(p.Place.Root, ".ferrus"):
		return Bad(links[0]+" is a symbolic link to "+target(links[0])+", which ferrus does not follow",
			"remove the link, then run ferrus init")
	}
	var text []string
	for _, link := range links {
		text = append(text, fmt.Sprintf("%s is a symbolic link to %s", link, target(link)))
	}
	return Bad(strings.Join(text, "; ")+"; ferrus does not follow it", "ferrus doctor{branch} --fix removes the link and not its target")
}

// target is where a link leads, as it says.
func target(link string) string {
	to, err := os.Readlink(link)
	if err != nil {
		return "an unknown target"
	}
	return to
}

// fixLinks removes the links. What they lead to stays.
func fixLinks(p *Context) (string, error) {
	links, err := p.Place.Links()
	if err != nil || len(links) == 0 || links[0] == filepath.Join(p.Place.Root, ".ferrus") {
		return "", err
	}
	home, err := rootfs.Open(filepath.Join(p.Place.Root, ".ferrus"))
	if err != nil {
		return "", err
	}
	defer home.Close()
	var did []string
	for _, link := range links {
		name, err := filepath.Rel(home.Dir(), link)
		if err != nil {
			return "", err
		}
		to := target(link)
		if err := home.Remove(filepath.ToSlash(name)); err != nil {
			return "", err
		}
		did = append(did, fmt.Sprintf("removed the link %s, which pointed to %s", link, to))
	}
	return strings.Join(did, "; "), nil
}
