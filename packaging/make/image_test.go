package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// made returns an image of a root, whose bytes are given, by the mode image.
func made(t *testing.T, root string) []byte {
	t.Helper()
	about, err := os.ReadFile("../server.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{server: string(about), "root.tar": root} {
		if err := write(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := image([]string{"root.tar", "image.tar", "arm64", "1.2.3", "c0ffee", "2026-11-01T13:00:00+01:00"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("image.tar")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// blobs returns the files of an archive.
func blobs(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnImageIsWhatItSays: every reference of the layout leads to a blob with that digest and size, down to the root.
func TestAnImageIsWhatItSays(t *testing.T) {
	here, _ := os.Getwd()
	const root = "the archive of a root"
	archive := made(t, root)
	files := blobs(t, archive)
	decode := func(text []byte, into any) {
		t.Helper()
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	follow := func(d descriptor, kind string) []byte {
		t.Helper()
		content := files[filepath.Join("blobs", strings.Replace(d.Digest, ":", "/", 1))]
		if d.Type != "application/vnd.oci.image."+kind || d.Size != len(content) || d.Digest != "sha256:"+sum(content) {
			t.Fatalf("%+v leads to %d bytes with the sum %s", d, len(content), sum(content))
		}
		return content
	}
	var index struct{ Manifests []descriptor }
	decode(files["index.json"], &index)
	if len(index.Manifests) != 1 || index.Manifests[0].Platform["architecture"] != "arm64" ||
		index.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3" {
		t.Fatalf("%+v", index)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(follow(index.Manifests[0], "manifest.v1+json"), &manifest)
	var config struct {
		Architecture, Created string
		Config                struct {
			User   string
			Labels map[string]string
		}
		Rootfs struct {
			Diffs []string `json:"diff_ids"`
		}
	}
	decode(follow(manifest.Config, "config.v1+json"), &config)
	if len(manifest.Layers) != 1 || len(config.Rootfs.Diffs) != 1 || config.Rootfs.Diffs[0] != "sha256:"+sum([]byte(root)) {
		t.Fatalf("%+v, %+v", manifest, config)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(follow(manifest.Layers[0], "layer.v1.tar+gzip")))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(unpacked); err != nil || string(text) != root {
		t.Errorf("%v: %q", err, text)
	}
	if config.Architecture != "arm64" || config.Created != "2026-11-01T12:00:00Z" || config.Config.User != "1000:1000" {
		t.Errorf("%+v", config)
	}
	for label, want := range map[string]string{"version": "1.2.3", "revision": "c0ffee", "licenses": "Apache-2.0", "created": config.Created,
		"title": "ferrus", "description": "Run coding agents unattended, with checks and reviews", "source": "https://github.com/ferrus-go/ferrus"} {
		if got := config.Config.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("the label %s is %q", label, got)
		}
	}
	if got := config.Config.Labels["io.modelcontextprotocol.server.name"]; got != "io.github.ferrus-go/ferrus" {
		t.Errorf("the registry of MCP looks for its name, and finds %q", got)
	}
	t.Chdir(here)
	if !bytes.Equal(archive, made(t, root)) {
		t.Error("the same arguments make other bytes")
	}
}
