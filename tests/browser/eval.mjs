// What a reader sees on the page of `repertoire eval --html`.
// usage: eval.mjs PAGE [PICTURE_DIRECTORY]
import assert from "node:assert/strict"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { open } from "./chromium.mjs"

const [file, pictures] = process.argv.slice(2)
const texts = (selector) => `[...document.querySelectorAll(${JSON.stringify(selector)})].map((at) => at.innerText)`

for (const [name, size] of Object.entries({ wide: {}, dark: { dark: true }, phone: { width: 390, height: 844 } })) {
  const page = await open(pathToFileURL(file).href, size)
  assert.deepEqual(await page.evaluate(texts("h2")), ["Confusions", "Precision against margin", "Skills", "2 wrong prompts"])

  // Rows are what was expected, columns what fired.
  const heads = await page.evaluate(texts(".matrix thead th"))
  const rows = await page.evaluate(`[...document.querySelectorAll(".matrix tr")].slice(1).map((row) => [...row.cells].map((cell) => cell.innerText))`)
  const row = rows.find(([expected]) => expected === "deploy")
  assert.equal(row[heads.indexOf("review")], "1", `deploy was taken for review once: ${heads} ${rows}`)
  assert.equal(row[heads.indexOf("deploy")], "1", "and was right once")

  // Each wrong prompt has its spans marked where they stand, and who fired.
  assert.deepEqual(await page.evaluate(`[...document.querySelectorAll(".case mark")].map((mark) => [mark.textContent, mark.title])`), [["review", "name `review`"]])
  const cases = await page.evaluate(texts(".case"))
  assert.match(cases[0], /<b>review<\/b> the rollout[^]*expected deploy[^]*fired review wrong/)
  assert.match(cases[1], /put it online[^]*expected deploy[^]*fired nothing/)

  // The diagram and the bars have a size, and their ends are in view.
  const { curve, bars } = await page.evaluate(`({
    curve: [...document.querySelectorAll("svg polyline")].map((line) => line.getBoundingClientRect()).map(({ width, right }) => width > 0 && right <= innerWidth),
    bars: [...document.querySelectorAll(".bar i")].map((bar) => bar.getBoundingClientRect().width > 0),
  })`)
  assert.deepEqual(curve, [true, true])
  assert.ok(bars.includes(true), `${bars}`)

  // One file: nothing is loaded, nothing runs, nothing is wider than the screen.
  assert.equal(await page.evaluate(`performance.getEntriesByType("resource").length + document.scripts.length`), 0)
  assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name}: no sideways scrolling`)
  const contrast = await page.evaluate(`getComputedStyle(document.body).color !== getComputedStyle(document.body).backgroundColor`)
  assert.ok(contrast, `${name}: text can be told from its ground`)
  if (pictures) await page.screenshot(join(pictures, `eval-${name}.png`))
  assert.deepEqual(page.errors, [])
  await page.close()
}
