// Written by `repertoire hook install opencode`, which also changes it: edits are lost.
//
// Works as a plugin of OpenCode 1 (`server`) and of OpenCode 2 (`setup`). Whatever goes wrong in
// the hook, the agent goes on; `repertoire doctor` says what it was.
import { spawn } from "node:child_process"

const words = "COMMAND"

/** The milliseconds that the hook may take. */
const patience = "TIMEOUT_MS"

/** What marks the parts of messages that are ours. */
const metadata = { repertoire: true }

/** What the request for the title of a conversation begins with: it needs no skills. */
const titles = "You are a title generator"

/** Runs the hook with `call`; the context it gives, if any. */
function run(call) {
  return new Promise((resolve) => {
    const [program, ...args] = words
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], timeout: patience })
    let text = ""
    child.stdout.on("data", (data) => (text += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(undefined))
    child.on("close", () => {
      try {
        resolve(text ? JSON.parse(text).context : undefined)
      } catch {
        resolve(undefined)
      }
    })
    child.stdin.end(JSON.stringify(call))
  })
}

async function server({ directory }) {
  const hook = (name, session, fields = {}) =>
    run({ hook_event_name: name, session_id: session, cwd: directory, ...fields })
  // The list of skills of each session, for its system prompt.
  const catalogs = new Map()
  return {
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      const context = await hook("UserPromptSubmit", input.sessionID, { prompt })
      if (!context) return
      output.parts.push({
        id: `prt_${Date.now().toString(16)}repertoire`,
        sessionID: input.sessionID,
        messageID: output.message.id,
        type: "text",
        text: context,
        synthetic: true,
        // Not for the request that makes a title; the model's own is shown it below.
        ignored: true,
        metadata,
      })
    },
    "experimental.chat.messages.transform": async (_, output) => {
      for (const { parts } of output.messages) {
        for (const part of parts) {
          if (part.metadata?.repertoire) part.ignored = false
        }
      }
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session || output.system.some((text) => text.startsWith(titles))) return
      // Not as a start: a session that goes on keeps what it was shown.
      if (!catalogs.has(session)) catalogs.set(session, hook("Catalog", session))
      const catalog = await catalogs.get(session)
      if (catalog) output.system.push(catalog)
    },
    "tool.execute.after": async (input, output) => {
      const fields = { tool_name: input.tool, tool_input: input.args ?? output.metadata ?? {} }
      const context = await hook("PostToolUse", input.sessionID, fields)
      if (context) output.output += `\n\n${context}`
    },
    event: async ({ event }) => {
      const properties = event.properties ?? {}
      if (event.type === "session.compacted") await hook("PostCompact", properties.sessionID)
      if (event.type === "session.deleted") await hook("SessionEnd", properties.info?.id)
    },
  }
}

async function setup(context) {
  const directory = context.location?.directory
  await context.session.hook("prompt", async (event) => {
    const prompt = event.prompt.text
    const session = event.sessionID
    const text = await run({
      hook_event_name: "UserPromptSubmit", session_id: session, cwd: directory, prompt,
    })
    if (text) event.prompt.text = `${prompt}\n\n${text}`
  })
}

export default { id: "repertoire", server, setup }
