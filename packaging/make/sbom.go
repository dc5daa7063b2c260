package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// A part is a package of an SPDX document.
type part struct {
	ID       string   `json:"SPDXID"`
	Name     string   `json:"name"`
	Version  string   `json:"versionInfo"`
	Download string   `json:"downloadLocation"`
	Analysed bool     `json:"filesAnalyzed"`
	Licence  string   `json:"licenseConcluded"`
	Declared string   `json:"licenseDeclared"`
	Copy     string   `json:"copyrightText"`
	Sums     []digest `json:"checksums,omitempty"`
	Comment  string   `json:"comment,omitempty"`
	Refs     []ref    `json:"externalRefs"`
}

type digest struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relation struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// sbom writes what a program is made of, which is what Go has recorded in it: its modules, those that they replace, and Go.
func sbom(args []string) error {
	program, name, date := args[0], args[1], args[2]
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(binary)
	hash := hex.EncodeToString(sum[:])
	main := module(&info.Main)
	main.Licence, main.Declared = "Apache-2.0", "Apache-2.0"
	main.Sums = []digest{{"SHA256", hash}}
	parts := []part{main}
	links := []relation{{"SPDXRef-DOCUMENT", "DESCRIBES", main.ID}}
	standard := debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range append(info.Deps, &standard) {
		p := module(m)
		parts = append(parts, p)
		links = append(links, relation{main.ID, "DEPENDS_ON", p.ID})
	}
	text, err := json.MarshalIndent(map[string]any{
		"spdxVersion":       "SPDX-2.3",
		"dataLicense":       "CC0-1.0",
		"SPDXID":            "SPDXRef-DOCUMENT",
		"name":              strings.TrimSuffix(filepath.Base(name), ".spdx.json"),
		"documentNamespace": "https://" + info.Main.Path + "/spdx/" + hash,
		"creationInfo":      map[string]any{"created": date, "creators": []string{"Tool: ferrus-packaging"}},
		"packages":          parts,
		"relationships":     links,
	}, "", "  ")
	if err != nil {
		return err
	}
	return write(name, append(text, '\n'), 0o644)
}

// module is the package of a module, or of the one by which it is replaced.
func module(m *debug.Module) part {
	if m.Replace != nil {
		m = m.Replace
	}
	safe := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' {
			return r
		}
		return '-'
	}, m.Path+"-"+m.Version)
	p := part{ID: "SPDXRef-" + safe, Name: m.Path, Version: m.Version, Download: "NOASSERTION", Licence: "NOASSERTION", Declared: "NOASSERTION", Copy: "NOASSERTION",
		Refs: []ref{{"PACKAGE-MANAGER", "purl", fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)}}}
	if m.Sum != "" {
		p.Comment = "go.sum " + m.Sum
	}
	return p
}
