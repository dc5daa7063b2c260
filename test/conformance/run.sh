#!/bin/sh
# run.sh runs the conformance suite of MCP against the HTTP side of ferrusd.
#
#   test/conformance/run.sh [all | fixtures | ferrusd]
#
# fixtures: all that the revisions 2025-11-25 and 2026-07-28 require, against the real handlers of internal/server/web,
#           tokens included, with the fixtures of the SDK's own conformance server instead of our tools.
# ferrusd:  the shipping binary, against every scenario that needs no fixture. What is expected of each, and why some
#           fail, stands in scenarios.txt; a failure that is expected and does not come is a failure, too.
#
# It needs go, npm, git and the network the first time; the suite and the node that it needs are kept, pinned, in
# $FERRUS_CONFORMANCE_CACHE (default: ${XDG_CACHE_HOME:-$HOME/.cache}/ferrus-conformance). Results, one folder a scenario,
# are left in its results folder. Exit 0 when all is as expected.
set -eu

suite=@modelcontextprotocol/conformance@0.2.0-alpha.12
node=node@22.23.3
what=${1:-all}

here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../../.." && pwd)
cache=${FERRUS_CONFORMANCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrus-conformance}
mkdir -p "$cache"
cd "$cache"

if [ "$(cat installed 2>/dev/null)" != "$suite $node" ]; then
	rm -rf node_modules package.json package-lock.json
	npm install --no-audit --no-fund --silent "$suite" "$node"
	# The package of node brings its binary by a script, which npm may hold back.
	node_modules/.bin/node --version >/dev/null 2>&1 || npm rebuild --silent node
	echo "$suite $node" >installed
fi
conformance() { node_modules/.bin/node node_modules/@modelcontextprotocol/conformance/dist/index.js "$@"; }
conformance --version >/dev/null

# The fixtures are those of the SDK in go.mod, compiled into our command in place of a file of its own.
sdk=$(cd "$repo" && go list -m -f '{{.Dir}}' github.com/modelcontextprotocol/go-sdk)
sed -e 's/^func main() {$/func everything() {/' "$sdk/conformance/everything-server/main.go" >fixtures.go
printf '{"Replace":{"%s/fixtures.go":"%s/fixtures.go"}}\n' "$here" "$cache" >overlay.json
(cd "$repo" && go build -tags conformance -overlay "$cache/overlay.json" -o "$cache/conformance" ./test/conformance)
(cd "$repo" && go build -o "$cache/ferrusd" ./cmd/ferrusd && go build -o "$cache/ferrus" ./cmd/ferrus)

rm -rf results root url
mkdir results root
server=
stop() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$server" ] || wait "$server" 2>/dev/null || true
	server=
}
trap stop EXIT
# begin ARGS starts the server and sets url.
begin() {
	rm -f url
	./conformance --url-file "$cache/url" "$@" 2>results/server.log &
	server=$!
	tries=0
	while [ ! -s url ]; do
		tries=$((tries + 1))
		if [ $tries -gt 300 ] || ! kill -0 "$server" 2>/dev/null; then
			cat results/server.log >&2
			exit 1
		fi
		sleep 0.1
	done
	url=$(cat url)
}

bad=0
verdict() { # NAME WANTED GOT
	if [ "$2" = "$3" ]; then
		echo "ok    $1 ($2)"
	else
		echo "FAIL  $1: $3, expected $2"
		bad=1
	fi
}

if [ "$what" = all ] || [ "$what" = fixtures ]; then
	mkdir root/fixtures
	chmod 700 root/fixtures
	begin --root "$cache/root/fixtures"
	for revision in 2025-11-25 2026-07-28; do
		got=pass
		conformance server --url "$url" --requirements $revision -o "results/fixtures-$revision" >"results/fixtures-$revision.log" 2>&1 || got=fail
		verdict "fixtures, all that $revision requires" pass $got
	done
	stop
fi

if [ "$what" = all ] || [ "$what" = ferrusd ]; then
	mkdir root/project
	git -C root/project init -q
	printf '[checks]\ncommands = ["true"]\n' >root/project/ferrus.toml
	./ferrus -C root/project init >/dev/null
	begin --root "$cache/root/project" --ferrusd "$cache/ferrusd"
	# A scenario that fails is named by how many of its checks pass: more failing, or fewer, is a change.
	grep -v '^#' "$here/scenarios.txt" | while read -r revision scenario want; do
		log=results/ferrusd-$revision-$scenario.log
		got=pass
		conformance server --url "$url" --spec-version "$revision" --scenario "$scenario" -o "results/ferrusd-$revision" \
			>"$log" 2>&1 </dev/null || got=$(sed -n 's/^Passed: \([0-9/]*\),.*/\1/p' "$log")
		verdict "ferrusd, $revision $scenario" "$want" "${got:-failed}"
		[ "$bad" = 0 ] || : >results/bad
	done
	[ ! -e results/bad ] || bad=1
	stop
fi
exit $bad
