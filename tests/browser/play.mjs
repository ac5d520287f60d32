// What an author does on the page of `repertoire play`, by keyboard.
// usage: play.mjs URL SKILLS_DIRECTORY [PICTURE_DIRECTORY]
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { open } from "./chromium.mjs"

const [url, skills, pictures] = process.argv.slice(2)
const text = (id) => `document.getElementById("${id}").innerText`

const page = await open(url)
await page.until(`${text("state")}.includes("skills")`)
assert.equal(await page.evaluate("document.activeElement.id"), "query", "the message has the focus")

// Typing is enough: hits, ranking, tier, text and cost are there at once.
await page.type("please open a pull request <b>now</b>")
await page.until(`${text("marked")}.includes("now")`)
const marks = await page.evaluate(`[...document.querySelectorAll("#marked mark")].map((mark) => [mark.textContent, mark.className])`)
assert.deepEqual(marks, [["pull request", "keyword"]])
assert.match(await page.evaluate(text("matches")), /review\s+full\s+phrase of 2 words/)
assert.match(await page.evaluate(text("tier")), /Tier 3: full instructions, about \d+ tokens/)
assert.match(await page.evaluate(text("text")), /## Skill: review[^]*Look <b>twice<\/b>\./)
assert.equal(await page.evaluate(`document.querySelectorAll("#marked b, #text b").length`), 0, "text is never HTML")

// By relevance, and why a skill does not fire.
assert.match(await page.evaluate(text("relevant")), /review/)
await page.evaluate(`[...document.querySelectorAll("#matches button")][0].focus()`)
await page.press("Enter")
await page.until(`${text("verdict")}.includes("review fires")`)

// An edit of a file shows without a reload; a new skill, too.
const write = (id, body) => {
  mkdirSync(join(skills, id), { recursive: true })
  writeFileSync(join(skills, id, "SKILL.md"), body)
}
write("review", "---\nname: review\ndescription: Reviews.\ntriggers: [pull request]\n---\nLook thrice.\n")
await page.until(`${text("text")}.includes("Look thrice.")`)
write("merge", "---\nname: merge\ndescription: Merges.\ntriggers: [open a pull request]\n---\nMerge it.\n")
await page.until(`${text("matches")}.includes("merge")`)
assert.equal(await page.evaluate(`document.querySelector("#matches button").innerText`), "merge", "more words come first")
assert.equal(await page.evaluate(`document.querySelectorAll("#marked mark.many").length`), 1)

// Keys: `/` goes to the message, Escape selects it.
await page.evaluate(`document.getElementById("text").focus()`)
await page.press("/")
assert.equal(await page.evaluate("document.activeElement.id"), "query")
await page.press("Escape")
await page.type("nothing of the kind")
await page.until(`${text("n-matches")} === "none"`)
assert.equal(await page.evaluate(`document.querySelectorAll("#marked mark").length`), 0)

// A budget that is none is told, and the page goes on.
await page.evaluate(`{ const at = document.getElementById("budget"); at.value = "much"; at.dispatchEvent(new Event("input")) }`)
await page.until(`${text("error")}.includes("much")`)
await page.evaluate(`{ const at = document.getElementById("budget"); at.value = ""; at.dispatchEvent(new Event("input")) }`)
await page.until(`document.getElementById("error").hidden`)
const unexpected = page.errors.filter((error) => !error.includes("400"))
assert.deepEqual(unexpected, [], "no error in the console")
await page.close()

// The address keeps the message. On a phone nothing is wider than the screen.
for (const [name, size] of Object.entries({ wide: {}, dark: { dark: true }, phone: { width: 390, height: 844 } })) {
  const kept = await open(`${url}#query=${encodeURIComponent("open a pull request")}`, size)
  await kept.until(`${text("matches")}.includes("merge")`)
  assert.ok(await kept.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name}: no sideways scrolling`)
  if (pictures) await kept.screenshot(join(pictures, `${name}.png`))
  assert.deepEqual(kept.errors, [])
  await kept.close()
}
