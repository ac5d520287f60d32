#!/usr/bin/env bash
# Counts the instructions of the matcher's main cases with callgrind. Unlike times, the counts are
# repeatable, even on a busy machine. Prints them next to the committed counts in instructions.txt, and
# fails if a case has grown by more than 10 %.
#
# usage: benches/instructions.sh [--update]     --update rewrites instructions.txt
set -euo pipefail
cd "$(dirname "$0")/.."
baseline=benches/instructions.txt
limit=10 # per cent; another version of rustc is within a few

if ! command -v valgrind >/dev/null; then
    if [ -z "${CI:-}" ]; then
        echo "benches/instructions.sh needs valgrind: install it, for example with apt-get install valgrind" >&2
        exit 1
    fi
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq && $sudo apt-get install -qq -y valgrind >/dev/null
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
binary=$(cargo build --release --locked --package instructions --message-format=json |
    sed -n 's/.*"name":"instructions".*"executable":"\([^"]*\)".*/\1/p')

count() { # CASE
    local n_runs total
    n_runs=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*::measured' \
        "$binary" "$1" 2>"$scratch/$1.log") || { cat "$scratch/$1.log" >&2; return 1; }
    total=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$scratch/$1.log")
    echo "$1 $((total / n_runs))" >"$scratch/$1.count"
}
export -f count
export binary scratch
# Other processes do not change the counts, so the cases run in parallel.
"$binary" cases | xargs -I{} -P "$(nproc)" bash -euo pipefail -c 'count {}'

counts=$scratch/counts
for case in $("$binary" cases); do cat "$scratch/$case.count"; done >"$counts"

if [ "${1:-}" = --update ]; then
    { echo "# Instructions a run of each case, written by instructions.sh --update."; cat "$counts"; } >$baseline
fi
awk -v limit=$limit '
    FNR == NR { if ($1 != "#") known[$1] = $2; next }
    FNR == 1 { printf "| %-16s | %12s | %12s | %8s |\n|---|---|---|---|\n", "case", "instructions", "committed", "change" }
    {
        change = known[$1] ? ($2 / known[$1] - 1) * 100 : 0
        printf "| %-16s | %12d | %12d | %+6.1f %% |\n", $1, $2, known[$1], change
        if (!known[$1] || change > limit) { failed = failed " " $1 }
    }
    END { if (failed) { printf "grown by more than %d %%, or new:%s (--update takes the counts over)\n", limit, failed; exit 1 } }
' $baseline "$counts"
