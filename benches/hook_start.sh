#!/usr/bin/env bash
# Measures the whole-process time of `repertoire hook claude-code`, compared with a Node script that
# does the job in the usual way, and with the hook without its snapshot. Prints a table in ms: the
# shortest and the median of RUNS (default 21) runs each, which take turns. On a busy machine the
# shortest is the more reliable figure.
#
# The last column is the overhead of measuring: a process that does nothing, started in the same way.
#
# usage: benches/hook_start.sh [SKILLS…]     default 10 100 1000 10000
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:-21}
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(10 100 1000 10000)
binary=${REPERTOIRE:-${CARGO_TARGET_DIR:-target}/release/repertoire}
[ -x "$binary" ] || cargo build --release --bin repertoire
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# As it is installed. In the page cache, a file from the linker lies in smaller pieces, which cost a millisecond to map.
cp "$binary" "$scratch/repertoire"
binary=$scratch/repertoire

# Writes a skill of typical size: 12 keywords, two patterns, 3 KB of instructions. The Node script
# gets the same words as its rules.
cat >"$scratch/make.mjs" <<'JS'
import { mkdirSync, writeFileSync } from "node:fs"
const [dir, n] = [process.argv[2], Number(process.argv[3])]
const rules = {}
for (let i = 0; i < n; i++) {
  const keywords = Array.from({ length: 12 }, (_, k) => `topic${i} word${k}`)
  const patterns = [`make (a|the) thing${i}`, `how .{0,20} thing${i}`]
  rules[`skill-${i}`] = { keywords, intentPatterns: patterns }
  mkdirSync(`${dir}/skills/skill-${i}`, { recursive: true })
  writeFileSync(`${dir}/skills/skill-${i}/SKILL.md`,
    `---\nname: skill-${i}\ndescription: Does the things of topic ${i}.\ntriggers:\n  keywords: ` +
    `${JSON.stringify(keywords)}\n  patterns: ${JSON.stringify(patterns)}\n---\n` +
    "One line of instructions.\n".repeat(120))
}
writeFileSync(`${dir}/rules.json`, JSON.stringify({ skills: rules }))
JS
cat >"$scratch/usual.mjs" <<'JS'
import { readFileSync } from "node:fs"
const { prompt } = JSON.parse(readFileSync(0, "utf8"))
const { skills } = JSON.parse(readFileSync(process.argv[2], "utf8"))
const text = prompt.toLowerCase()
const found = Object.entries(skills).filter(([, rule]) =>
  rule.keywords.some((keyword) => text.includes(keyword.toLowerCase())) ||
  rule.intentPatterns.some((pattern) => new RegExp(pattern, "i").test(prompt)))
console.log(found.map(([name]) => name).join("\n"))
JS
cat >"$scratch/time.mjs" <<'JS'
import { spawnSync } from "node:child_process"
const [runs, dir, binary, usual] = process.argv.slice(2)
const env = { ...process.env, HOME: dir, XDG_STATE_HOME: `${dir}/state`, XDG_CACHE_HOME: `${dir}/cache` }
const hook = ["hook", "claude-code", "--deadline", "60", "--source", `${dir}/skills`]
const sides = {
  repertoire: [binary, hook],
  uncached: [binary, [...hook, "--no-cache"]],
  node: [process.execPath, [usual, `${dir}/rules.json`]],
  nothing: ["true", []],
}
const times = Object.fromEntries(Object.keys(sides).map((side) => [side, []]))
for (let run = -2; run < Number(runs); run++) {
  for (const [side, [program, args]] of Object.entries(sides)) {
    const input = JSON.stringify({ hook_event_name: "UserPromptSubmit", session_id: `${side}${run}`,
      cwd: dir, prompt: "please use topic3 word7 for this, and say how it went" })
    const start = process.hrtime.bigint()
    const { stdout, stderr } = spawnSync(program, args, { input, env })
    const ms = Number(process.hrtime.bigint() - start) / 1e6
    if (side !== "nothing" && !String(stdout).includes("skill-3")) throw new Error(`${side}: ${stdout}${stderr}`)
    if (run >= 0) times[side].push(ms)
  }
}
const sorted = (side) => times[side].sort((a, b) => a - b)
const median = (side) => sorted(side)[Math.floor(times[side].length / 2)]
const both = (side) => `${sorted(side)[0].toFixed(1)}, ${median(side).toFixed(1)}`
const ratio = sorted("repertoire")[0] / sorted("node")[0]
console.log(`${both("repertoire")} | ${both("uncached")} | ${both("node")} | ${ratio.toFixed(2)} | ${both("nothing")}`)
JS

echo "Load average: $(uptime | sed 's/.*average: //')"
echo
echo "| skills | hook claude-code | without its snapshot | Node | ratio of the shortest to Node's | nothing |"
echo "|---|---|---|---|---|---|"
for n in "${sizes[@]}"; do
    mkdir -p "$scratch/$n"
    node "$scratch/make.mjs" "$scratch/$n" "$n"
    # No snapshot is kept while a file has changed within the last two seconds.
    sleep 3
    row=$(node "$scratch/time.mjs" "$runs" "$scratch/$n" "$binary" "$scratch/usual.mjs")
    echo "| $n | $row |"
done
