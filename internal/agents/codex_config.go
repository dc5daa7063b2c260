package agents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// codexServers returns the table mcp_servers of the launch: the ferrus server, and every other
// server of Codex's files, disabled. Codex merges it with its files key by key, so a disabled
// server still needs an address.
func codexServers(a Adapter, s LaunchSpec) (map[string]any, error) {
	servers := map[string]any{}
	for _, file := range codexFiles(s) {
		var conf struct {
			Servers map[string]map[string]any `toml:"mcp_servers"`
		}
		switch _, err := toml.DecodeFile(file, &conf); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("read %s, to switch off the other MCP servers: %v", file, strings.TrimPrefix(rootfs.Cause(err).Error(), "toml: "))
		}
		for name, server := range conf.Servers {
			if name == ServerName {
				for _, key := range []string{"url", "enabled_tools", "disabled_tools"} {
					if server[key] != nil {
						return nil, fmt.Errorf("%s: mcp_servers.%s has %s, which a launch cannot undo: remove it", file, name, key)
					}
				}
				continue
			}
			off := map[string]any{"enabled": false, "required": false}
			if server["url"] != nil {
				off["url"] = "http://127.0.0.1/"
			} else {
				off["command"] = "false"
			}
			servers[name] = off
		}
	}
	argv := a.server(s)
	servers[ServerName] = map[string]any{
		"command": argv[0], "args": argv[1:], "enabled": true, "required": true, "startup_timeout_sec": 60,
		"tool_timeout_sec": a.limit(), "default_tools_approval_mode": "approve", "env_vars": passed(s.Environ),
	}
	return servers, nil
}

// codexFiles returns the files in which Codex looks for MCP servers: the person's, the profiles
// beside it, the machine's, and those of the project and its parent folders.
func codexFiles(s LaunchSpec) []string {
	home := codexHome(s.Environ)
	files := []string{filepath.Join(string(filepath.Separator), "etc", "codex", "config.toml"), filepath.Join(home, "config.toml")}
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".config.toml") {
			files = append(files, filepath.Join(home, e.Name()))
		}
	}
	for dir := s.Work; ; dir = filepath.Dir(dir) {
		files = append(files, filepath.Join(dir, ".codex", "config.toml"))
		if dir == filepath.Dir(dir) {
			return files
		}
	}
}

// codexHome returns the person's folder of Codex.
func codexHome(env []string) string {
	return cmp.Or(proc.Lookup(env, "CODEX_HOME"), filepath.Join(homeOf(env), ".codex"))
}

// tomlValue returns a value as the option -c reads it.
func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return tomlString(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = tomlString(item)
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		var items []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			items = append(items, tomlString(key)+"="+tomlValue(v[key]))
		}
		return "{" + strings.Join(items, ",") + "}"
	default:
		panic(fmt.Sprintf("no TOML for %T", v))
	}
}

// tomlString returns a basic string. TOML has fewer escapes than Go.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
