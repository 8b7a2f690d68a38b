import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

// `npm start`: the embedded control plane with its data under .holdfast, the secret group that the examples refer to,
// and then the daemon on the examples.
const data = ".holdfast/control-plane";
// Run by its name, so that Node gets the flags of its first line.
const PROGRAM = join(import.meta.dirname, "../bin/holdfast.js");

const server = spawn(PROGRAM, ["serve", "--port", "0", "--data", data], {
  stdio: ["ignore", "pipe", "inherit"],
  // Ctrl-C ends the daemon first; the control plane is ended when that is done.
  detached: true,
});
process.on("exit", () => server.kill("SIGTERM"));
const url = await listening();
console.log(`control plane at ${url}, data in ${data}`);
await makeSecretGroup(url);

const watch = spawn(PROGRAM, ["watch", "--embedded", "--yes", "--allow-privilege", "-o", "text"], {
  stdio: "inherit",
  // A Ctrl-C that came from the terminal and from here would be two, and the second does not wait for anything.
  detached: true,
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => watch.kill(signal));
process.on("SIGHUP", () => watch.kill("SIGTERM"));
server.once("exit", () => watch.kill("SIGTERM"));
const [code, signal] = await once(watch, "exit");
if (server.exitCode === null) {
  server.kill("SIGTERM");
  await once(server, "exit");
}
process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143);

async function listening(): Promise<string> {
  for await (const line of createInterface({ input: server.stdout })) {
    const [, address] = /^listening on (\S+)$/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  console.error("the control plane did not start");
  process.exit(1);
}

// Operation 4 makes a group once; from then on it answers 409, which is just as well.
async function makeSecretGroup(address: string): Promise<void> {
  const { type: _, ...group } = JSON.parse(readFileSync("examples/secret-group.json", "utf8"));
  const answer = await fetch(`${address}/api/svc/v1/secret-groups`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${readFileSync(`${data}/admin-token`, "utf8").trim()}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(group),
  });
  if (answer.ok) console.log("secret group of the examples: created");
  else if (answer.status !== 409)
    throw new Error(`the secret group of the examples was refused: ${await answer.text()}`);
}
