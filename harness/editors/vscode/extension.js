// Starts the language server for LSS files.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async function () {
  const settings = vscode.workspace.getConfiguration("lss");
  const server = { command: settings.get("command"), args: ["server", ...settings.get("arguments")] };
  const options = {
    documentSelector: [{ scheme: "file", language: "lss" }],
    // The C of modules is checked as it is saved.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{lss,c,h,csv}") },
  };
  client = new LanguageClient("lss", "Spinach LSS", server, options);
  await client.start();
};

exports.deactivate = () => client && client.stop();
