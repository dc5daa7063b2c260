// Starts the program of the platform's own package, which npm has installed as an optional dependency. It passes on
// arguments, streams, signals and the exit code.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const owner = `@ferrus-go/${platform}`;

function program() {
  try {
    return require.resolve(`${owner}/bin/ferrus${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    console.error(
      `ferrus: the package ${owner} is not installed\n` +
        "  install again without --omit=optional and on this platform, or: go install github.com/ferrus-go/ferrus/cmd/ferrus@latest",
    );
    process.exit(1);
  }
}

module.exports = function launch(before) {
  // A terminal sends ctrl-C to the child too, which counts a second signal as none. It is listened for before there is a child: what the child
  // has said may be answered with a signal at once.
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  const child = spawn(program(), [...before, ...process.argv.slice(2)], { stdio: "inherit" });
  child.on("error", (err) => {
    console.error(`ferrus: ${err.message}\n  install the package again: npm install ferrus`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    for (const s of signals) process.removeAllListeners(s);
    process.kill(process.pid, signal);
  });
};
