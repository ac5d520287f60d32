// Drives a headless Chromium by its own protocol over a pipe: no package is needed.
// https://chromedevtools.github.io/devtools-protocol/
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe"]

/** Opens `url` in a browser of its own. */
export async function open(url, { width = 1280, height = 900, dark = false } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "repertoire-browser-"))
  const program = process.env.CHROMIUM ?? "chromium"
  const browser = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  })
  const gone = new Promise((done) => browser.once("exit", done))
  const waiting = new Map()
  const errors = []
  let lastId = 0
  let loaded = () => {}
  let buffer = ""
  browser.stdio[4].setEncoding("utf8").on("data", (chunk) => {
    const messages = (buffer + chunk).split("\0")
    buffer = messages.pop()
    for (const message of messages.map((text) => JSON.parse(text))) receive(message)
  })
  function receive({ id, result, error, method, params }) {
    if (id !== undefined) {
      const { resolve, reject } = waiting.get(id)
      error ? reject(new Error(error.message)) : resolve(result)
    } else if (method === "Page.loadEventFired") loaded()
    else if (method === "Runtime.exceptionThrown") errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text)
    else if (method === "Log.entryAdded" && params.entry.level === "error") errors.push(params.entry.text)
  }
  let session
  function send(method, params = {}) {
    const id = ++lastId
    browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId: session }) + "\0")
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }

  const { targetId } = await send("Target.createTarget", { url: "about:blank" })
  session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId
  for (const domain of ["Page", "Runtime", "Log"]) await send(`${domain}.enable`)
  const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]
  await send("Emulation.setEmulatedMedia", { features })
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 })
  const done = new Promise((resolve) => (loaded = resolve))
  await send("Page.navigate", { url })
  await done

  const page = {
    /** What went wrong on the page so far. */
    errors,
    /** The value of an expression. */
    async evaluate(expression) {
      const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true })
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value
    },
    /** Waits until an expression is true. */
    async until(expression) {
      for (let tries = 0; tries < 600; tries++, await sleep(50)) {
        if (await page.evaluate(expression)) return
      }
      throw new Error(`never true: ${expression}\n${await page.evaluate("document.body.innerText")}`)
    },
    type: (text) => send("Input.insertText", { text }),
    /** Presses a key such as `Tab`, `Escape` or `/`. */
    async press(key) {
      const code = { Tab: 9, Escape: 27, Enter: 13 }[key]
      const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined
      await send("Input.dispatchKeyEvent", { type: "keyDown", key, text, windowsVirtualKeyCode: code })
      await send("Input.dispatchKeyEvent", { type: "keyUp", key, windowsVirtualKeyCode: code })
    },
    /** A picture of the page: the whole of it, or what the window shows. */
    async screenshot(file, whole = true) {
      const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: whole })
      writeFileSync(file, Buffer.from(data, "base64"))
    },
    async close() {
      await Promise.race([send("Browser.close"), gone])
      await gone
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return page
}
