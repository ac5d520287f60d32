"use strict"

const TIERS = ["nothing", "a count of skills", "a line for each relevant skill", "full instructions"]
const FIELDS = ["query", "paths", "max-skills", "budget", "format", "skill"]
const at = (id) => document.getElementById(id)

// The text of strangers is only ever set as text, never as HTML.
function element(name, props = {}, ...children) {
  const made = Object.assign(document.createElement(name), props)
  made.append(...children)
  return made
}

function question() {
  const value = (id) => at(id).value
  const asked = { query: value("query"), format: value("format"), budget: value("budget"), skill: value("skill").trim() }
  asked.paths = value("paths").split(",").map((path) => path.trim()).filter(Boolean)
  if (said.length) asked.said = said
  if (value("max-skills") !== "") asked.max_skills = Number(value("max-skills"))
  return asked
}

// The address keeps what was typed, so that it survives a reload and can be kept as a bookmark.
function remember() {
  const fields = FIELDS.filter((id) => at(id).value && at(id).value !== "markdown")
  const hash = new URLSearchParams(fields.map((id) => [id, at(id).value])).toString()
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname)
}

function restore() {
  for (const [id, value] of new URLSearchParams(location.hash.slice(1))) {
    if (FIELDS.includes(id)) at(id).value = value
  }
  at("options").open ||= ["paths", "max-skills", "budget"].some((id) => at(id).value)
}

// The messages of the conversation so far; null where the context was made shorter. They survive a reload.
let said = JSON.parse(sessionStorage.getItem("said") ?? "[]")

function talk(messages) {
  said = messages
  sessionStorage.setItem("said", JSON.stringify(said))
  ask()
}

let asking = null
async function ask() {
  remember()
  asking?.abort()
  const mine = (asking = new AbortController())
  try {
    const response = await fetch("ask", { method: "POST", body: JSON.stringify(question()), signal: mine.signal })
    const text = await response.text()
    if (!response.ok) throw new Error(text.trim())
    show(JSON.parse(text))
    fail("")
  } catch (error) {
    if (error.name !== "AbortError") fail(error.message)
  }
}

function fail(message) {
  at("error").textContent = message
  at("error").hidden = !message
}

function show(answer) {
  const { matches, disclosure, findings } = answer
  document.body.dataset.asked = at("query").value
  at("state").textContent = `${answer.skills.length} skills, decided in ${answer.micros} µs`
  at("skills").replaceChildren(...answer.skills.map((value) => element("option", { value })))
  at("talk").hidden = answer.heard.length === 0
  at("said").replaceChildren(...answer.heard.map(heardItem))
  at("marked").replaceChildren(...marked(answer))
  at("n-matches").textContent = matches.length + answer.n_more || (answer.relevant.some(({ tier }) => tier > 1) ? "no trigger; by relevance, see below" : "none")
  at("matches").replaceChildren(...matches.map((found, place) => matchItem(found, place, disclosure)))
  if (answer.n_more) at("matches").append(element("li", { className: "dim" }, `and ${answer.n_more} more`))
  const left = new Map([...answer.rejected, ...disclosure.omitted].map(({ id, reason }) => [`${id} ${reason}`, { id, reason }]))
  at("rejected-box").hidden = left.size === 0
  at("rejected").replaceChildren(...[...left.values()].map(({ id, reason }) => element("li", {}, skillButton(id), ` ${reason}`)))
  const asks = { registry: "; the message asks which skills there are", show_all: "; the message asks to see all skills" }
  at("tier").textContent = `Shown: ${TIERS[disclosure.tier]}, about ${answer.tokens} tokens ` +
    `(${answer.characters} characters), ${disclosure.hidden} skills only counted${asks[answer.meta] ?? ""}`
  at("text").textContent = disclosure.text || "(nothing)"
  const none = element("li", { className: "dim plain" }, answer.parts.length ? "no skill shares a word with the message" : "nothing yet")
  at("relevant").replaceChildren(...(answer.relevant.length ? answer.relevant.map(relevantItem) : [none]))
  at("verdict").replaceChildren(...verdict(answer.verdict))
  at("findings-box").hidden = findings.length === 0
  at("n-findings").textContent = findings.length
  at("findings").replaceChildren(...findings.map((line) => element("li", {}, line)))
}

function heardItem({ message, full, lines }) {
  if (message === null) return element("li", { className: "dim" }, "the context was made shorter")
  const added = [...full.map((id) => [id, "full"]), ...lines.map((id) => [id, "a line"])]
  const chips = added.map(([id, how]) => element("span", { className: "badge" }, `${id}: ${how}`))
  return element("li", {}, element("span", { className: "message" }, message),
    ...(chips.length ? chips : [element("span", { className: "dim" }, "no skill by name")]))
}

function marked({ parts, matches, relevant }) {
  const has = { hit: parts.some(({ hits }) => hits.length), word: parts.some(({ words_of }) => words_of.length), attached: parts.some(({ is_attached }) => is_attached) }
  for (const [key, is] of Object.entries(has)) at(`key-${key}`).hidden = !is
  at("legend").hidden = !Object.values(has).some(Boolean)
  if (parts.length === 0) return [element("span", { className: "dim" }, "nothing yet")]
  return parts.map(({ text, hits, words_of, is_attached }) => {
    if (hits.length === 0) {
      if (!is_attached && words_of.length === 0) return document.createTextNode(text)
      const span = element("span", {}, text)
      span.classList.toggle("attached", is_attached)
      span.classList.toggle("word", words_of.length > 0)
      span.title = words_of.length ? `a word of ${words_of.map((skill) => relevant[skill].id).join(", ")}` : "attached, not the request"
      return span
    }
    const all = hits.map(({ match, hit }) => ({ id: matches[match].id, ...matches[match].hits[hit] }))
    const title = all.map(({ id, kind, trigger }) => `${id}: ${kind} ${trigger}`).join("\n")
    const mark = element("mark", { className: all[0].kind, title }, text)
    mark.classList.toggle("many", all.length > 1)
    mark.dataset.matches = [...new Set(hits.map(({ match }) => match))].join(" ")
    return mark
  })
}

function matchItem({ id, why, hits }, place, disclosure) {
  const shown = disclosure.full.includes(id) ? "full" : disclosure.registry.includes(id) ? "a line" : "counted"
  const chips = hits.map(({ kind, trigger, path }) =>
    element("span", { className: `chip ${kind}` }, `${kind}: ${trigger}${path ? ` in ${path}` : ""}`))
  const item = element("li", {}, skillButton(id), " ", element("span", { className: "badge" }, shown),
    element("span", { className: "dim" }, ` ${why}`), element("br"), ...chips)
  const light = (on) => document.querySelectorAll("#marked mark").forEach((mark) =>
    mark.classList.toggle("lit", on && mark.dataset.matches.split(" ").includes(String(place))))
  for (const event of ["mouseenter", "focusin"]) item.addEventListener(event, () => light(true))
  for (const event of ["mouseleave", "focusout"]) item.addEventListener(event, () => light(false))
  return item
}

const SHOWN = ["nothing", "counted", "a line", "full"]

// A bar from zero to twice the figure that is needed, with a mark at that figure.
function bar(name, value, needed, digits) {
  const told = `${name} ${value.toFixed(digits)} of ${needed.toFixed(digits)}`
  const fill = element("span", { className: value >= needed ? "fill" : "fill short" })
  fill.style.width = `${Math.min(100, 50 * (needed > 0 ? value / needed : 2))}%`
  const made = element("span", { className: "bar", role: "meter", ariaLabel: told }, fill, element("span", { className: "needed" }))
  made.setAttribute("aria-valuenow", value)
  made.setAttribute("aria-valuemax", 2 * needed)
  return element("span", { className: "gauge" }, made, told)
}

function relevantItem({ id, brief, worth, lead, head_words, tier, terms, lacking, needed, is_decisive }, place) {
  // The lead and the words in the front matter are those of the first skill only.
  const first = place === 0 && needed ? [bar("ahead of the next", lead, needed.lead, 2), bar("words of its name and description", head_words, needed.words, 0)] : []
  const bars = needed ? [bar("score", worth, needed.worth, 2), ...first] : []
  const decided = tier === 3 && !is_decisive ? "in full for its triggers or its name, or because the context lost it" : ""
  const why = lacking.length ? `lacks: ${lacking.map(({ text }) => text).join(", ")}` : decided
  const words = terms.flatMap(({ term, fields, worth }) => [" ",
    element("span", { className: "chip word", title: `${fields.join(", ")}; adds about ${worth.toFixed(2)}` }, term)])
  return element("li", {}, skillButton(id), " ", element("span", { className: "badge" }, SHOWN[tier]),
    ...(words.length ? words : [element("span", { className: "dim" }, " by common words only")]),
    element("div", { className: "gauges" }, ...bars), element("p", { className: "dim" }, why), element("p", {}, brief))
}

// Its name asks why that skill fires, or does not.
function skillButton(id) {
  const button = element("button", { type: "button", className: "id", title: "Why?" }, id)
  button.addEventListener("click", () => {
    at("skill").value = id
    ask()
  })
  return button
}

function verdict(told) {
  if (!told) return []
  if (told.Err !== undefined) return [element("p", { className: "bad" }, told.Err)]
  const { id, fires, reason, help, near, path } = told.Ok
  const lines = [element("p", {}, element("span", { className: "id" }, id), " ",
    element("strong", { className: fires ? "good" : "bad" }, fires ? "fires" : "does not fire"), `: ${reason}`)]
  for (const { kind, trigger, missing, similar } of near) {
    const lacks = missing.length ? `“${missing.join("”, “")}” is missing` : "all its words are there, not as this phrase"
    lines.push(element("p", { className: "dim" }, `Close: ${kind} “${trigger}”: ${lacks}${similar ? `; the message has “${similar}”` : ""}`))
  }
  if (help) lines.push(element("p", {}, `Help: ${help}`))
  if (path) lines.push(element("p", { className: "dim" }, path))
  return lines
}

// Asks again whenever a skill changed, and says so if the program is gone.
async function follow() {
  for (let known = null; ; ) {
    try {
      const response = await fetch(`changes${known === null ? "" : `?after=${known}`}`)
      const { change } = await response.json()
      if (known !== null && change !== known) ask()
      known = change
    } catch {
      at("state").textContent = "repertoire play has ended; start it again"
      await new Promise((done) => setTimeout(done, 2000))
    }
  }
}

let typed
for (const id of FIELDS) {
  at(id).addEventListener("input", () => {
    clearTimeout(typed)
    typed = setTimeout(ask, 60)
  })
}
document.addEventListener("keydown", (event) => {
  const typing = ["TEXTAREA", "INPUT", "SELECT"].includes(event.target.tagName)
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault()
    at("query").focus()
  } else if (event.key === "Escape") {
    at("query").focus()
    at("query").select()
  }
})
at("send").addEventListener("click", () => {
  if (!at("query").value.trim()) return
  const message = at("query").value
  at("query").value = ""
  at("query").focus()
  talk([...said, message])
})
at("shorten").addEventListener("click", () => talk([...said, null]))
at("fresh").addEventListener("click", () => talk([]))
at("query").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("send").click()
})
restore()
ask()
follow()
