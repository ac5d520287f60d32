// Starts `repertoire lsp` for the skill files of a window.
const { workspace } = require("vscode")
const { LanguageClient } = require("vscode-languageclient/node")

let client

exports.activate = () => {
  const command = workspace.getConfiguration("repertoire").get("program")
  const documentSelector = [{ scheme: "file", pattern: "**/SKILL.md" }]
  client = new LanguageClient("repertoire", "Repertoire", { command, args: ["lsp"] }, { documentSelector })
  return client.start()
}

exports.deactivate = () => client?.stop()
