package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// server describes ferrus to the registry of MCP; in what is released it has the version.
const server = "packaging/made/server.json"

// A described is what an image needs of the server's description.
type described struct {
	Name, Title, Description string
	Repository               struct{ URL string }
}

// A descriptor is the reference to a blob of an OCI layout.
type descriptor struct {
	Type        string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// A layout is the files of an OCI layout, in the order of the archive.
type layout []struct {
	name    string
	content []byte
}

func (l *layout) file(name string, content []byte) {
	*l = append(*l, struct {
		name    string
		content []byte
	}{name, content})
}

// blob adds a blob under its digest.
func (l *layout) blob(kind string, content []byte) descriptor {
	sum := sum(content)
	l.file("blobs/sha256/"+sum, content)
	return descriptor{Type: "application/vnd.oci.image." + kind, Digest: "sha256:" + sum, Size: len(content)}
}

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// image writes an archive of an OCI layout with one image of one layer, which is the archive of a root.
func image(args []string) error {
	root, file, processor, version, commit, date := args[0], args[1], args[2], args[3], args[4], args[5]
	made, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(server)
	if err != nil {
		return err
	}
	var about described
	if err := json.Unmarshal(text, &about); err != nil {
		return err
	}
	content, err := os.ReadFile(root)
	if err != nil {
		return err
	}
	archive, err := about.layout(content, processor, version, commit, made.UTC()).archive(made)
	if err != nil {
		return err
	}
	return write(file, archive, 0o644)
}

// layout returns the files of the image: the root as its one layer, what runs in it, and the index that names it by its version.
func (about described) layout(root []byte, processor, version, commit string, made time.Time) (l layout) {
	created := made.Format(time.RFC3339)
	labels := map[string]string{
		"io.modelcontextprotocol.server.name":  about.Name,
		"org.opencontainers.image.created":     created,
		"org.opencontainers.image.description": about.Description,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.revision":    commit,
		"org.opencontainers.image.source":      about.Repository.URL,
		"org.opencontainers.image.title":       about.Title,
		"org.opencontainers.image.version":     version,
	}
	platform := map[string]string{"os": "linux", "architecture": processor}
	config := l.blob("config.v1+json", object(map[string]any{
		"created": created, "os": platform["os"], "architecture": processor,
		"config": map[string]any{
			"User": "1000:1000", "WorkingDir": "/work", "Labels": labels,
			"Env":        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home/ferrus", "LANG=C.UTF-8"},
			"Entrypoint": []string{"tini", "--"}, "Cmd": []string{"ferrus", "serve"},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + sum(root)}},
		"history": []any{map[string]string{"created": created, "created_by": "packaging/image"}},
	}))
	manifest := l.blob("manifest.v1+json", object(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "annotations": labels,
		"config": config, "layers": []descriptor{l.blob("layer.v1.tar+gzip", packed(root))},
	}))
	manifest.Platform, manifest.Annotations = platform, map[string]string{"org.opencontainers.image.ref.name": version}
	l.file("index.json", object(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []descriptor{manifest},
	}))
	l.file("oci-layout", object(map[string]string{"imageLayoutVersion": "1.0.0"}))
	return l
}

// object is a value as JSON; those of a layout always have one.
func object(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// packed is content in the form of gzip, without a time.
func packed(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.Write(content) // a buffer takes all
	w.Close()
	return b.Bytes()
}

// archive returns the layout as a tar, in which each file has the same time.
func (l layout) archive(made time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range l {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o644, Size: int64(len(f.content)), ModTime: made}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
