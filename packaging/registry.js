// A registry of npm for packages in a folder of tarballs: node packaging/registry.js DIR. It prints its address, and serves until
// its standard input ends.
"use strict";

const { execFileSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const { readFileSync, readdirSync } = require("node:fs");
const { createServer } = require("node:http");
const { join } = require("node:path");

const dir = process.argv[2];
const packages = {};
for (const file of readdirSync(dir).filter((name) => name.endsWith(".tgz"))) {
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", join(dir, file), "package/package.json"]));
  const integrity = "sha512-" + createHash("sha512").update(readFileSync(join(dir, file))).digest("base64");
  packages[manifest.name] = { manifest, file, integrity };
}

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url.slice(1));
  const found = packages[path];
  if (found) {
    const { manifest, file, integrity } = found;
    const dist = { tarball: `http://${request.headers.host}/${file}`, integrity };
    const versions = { [manifest.version]: { ...manifest, dist } };
    response.end(JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions }));
  } else if (Object.values(packages).some(({ file }) => file === path)) {
    response.end(readFileSync(join(dir, path)));
  } else {
    response.writeHead(404).end("{}");
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
process.stdin.on("end", () => process.exit()).resume();
