package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// launcher is the folder of the package that people install; notice is what every package has of the others' licences.
const (
	launcher = "packaging/npm"
	notice   = "packaging/made/THIRD-PARTY-NOTICES.txt"
)

// nodes are the names that Node has for systems and processors, by Go's.
var nodes = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32", "amd64": "x64", "arm64": "arm64"}

// A manifest is what the packages of the platforms need of the launcher's package.json.
type manifest struct {
	Optional   map[string]string `json:"optionalDependencies"`
	Repository json.RawMessage   `json:"repository"`
}

// npm writes a folder for each package: ferrus, and one for each platform with the program that goreleaser has built.
func npm(args []string) error {
	dist, dir, version := args[0], args[1], args[2]
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(launcher, "package.json"))
	if err != nil {
		return err
	}
	var main manifest
	if err := json.Unmarshal(text, &main); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "ferrus"), os.DirFS(launcher)); err != nil {
		return err
	}
	text = []byte(strings.ReplaceAll(string(text), `"0.0.0"`, fmt.Sprintf("%q", version)))
	if err := write(filepath.Join(dir, "ferrus", "package.json"), text, 0o644); err != nil {
		return err
	}
	var built []struct{ Path, Goos, Goarch, Type string }
	if text, err = os.ReadFile(filepath.Join(dist, "artifacts.json")); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &built); err != nil {
		return err
	}
	for _, b := range built {
		if b.Type != "Binary" {
			continue
		}
		platform := nodes[b.Goos] + "-" + nodes[b.Goarch]
		if _, ok := main.Optional["@ferrus-go/"+platform]; !ok {
			return fmt.Errorf("%s is none of the optionalDependencies of %s/package.json: add it there", platform, launcher)
		}
		delete(main.Optional, "@ferrus-go/"+platform)
		if err := main.platform(filepath.Join(dir, platform), b.Path, nodes[b.Goos], nodes[b.Goarch], version); err != nil {
			return err
		}
	}
	if len(main.Optional) > 0 {
		return fmt.Errorf("no program was built for %v: see goos and goarch in .goreleaser.yaml", main.Optional)
	}
	return common(filepath.Join(dir, "ferrus"))
}

// platform writes the package of a platform.
func (main manifest) platform(dir, program, system, processor, version string) error {
	text, err := json.MarshalIndent(map[string]any{
		"name": "@ferrus-go/" + system + "-" + processor, "version": version, "description": "The program of the package ferrus for " + system + " on " + processor,
		"license": "Apache-2.0", "repository": main.Repository, "os": []string{system}, "cpu": []string{processor}, "preferUnplugged": true,
	}, "", "  ")
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	name := "ferrus"
	if system == "win32" {
		name += ".exe"
	}
	if err := write(filepath.Join(dir, "bin", name), binary, 0o755); err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "package.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	return common(dir)
}

// common copies the licences into a package.
func common(dir string) error {
	for _, name := range []string{"LICENSE", notice} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, filepath.Base(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
