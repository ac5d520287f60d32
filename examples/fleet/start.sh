#!/bin/sh
# Fetches the catalog from the object store, then serves it. The server asks for a newer one each minute,
# and keeps the last good one while the store is away.
set -eu

mkdir -p "$HOME/.repertoire"
cat >"$HOME/.repertoire/config.toml" <<'END'
[fetch.catalog]
source = "s3://catalog/skills.tar.gz"
refresh = "1m"
END
until repertoire update catalog || repertoire update --frozen catalog; do sleep 2; done
exec repertoire mcp "$@"
