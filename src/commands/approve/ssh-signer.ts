// src/commands/approve: signing with the programs of OpenSSH. See docs/approvals.md.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApprovalRule } from "../../core/approvals/approval-rule.ts";
import { APPROVAL_NAMESPACE } from "../../core/approvals/approval-rule.ts";
import { HoldfastError } from "../../core/errors.ts";
import { envOfProgram } from "../../engine/run-program.ts";
import { readGivenText, UnreadableFileError } from "../../files/read-given-file.ts";
import { say, type Terminal } from "../terminal.ts";

/** A key that signs: a private key file, or a public key file of which the agent or a file beside it has the private key. */
export type SshSigningKey = Disposable & { readonly path: string };

const MAX_BYTES = 64 * 1024;

/** Makes a signature of a text with `ssh-keygen -Y sign`, which asks for the passphrase by itself. */
export async function signWithSsh(text: string, { path }: SshSigningKey, terminal: Terminal): Promise<string> {
  if (isOfDevice(path)) say(terminal, "touch the security key when it asks for it");
  const signed = await runSsh("ssh-keygen", ["-Y", "sign", "-q", "-f", path, "-n", APPROVAL_NAMESPACE], text, terminal);
  if (signed.code === 0) return signed.stdout;
  throw new HoldfastError("error", `ssh-keygen could not sign with ${path}${whyIn(signed.stderr)}`, {
    hint: "name a private key, or the public key of one that ssh-agent has, with --key FILE",
  });
}

// What ssh-keygen itself says of it is not shown.
function isOfDevice(path: string): boolean {
  return [path, `${path}.pub`].some((file) => /^sk-/.test(textOf(file)));
}

/** The key of this person that may approve a plan: one of `~/.ssh`, else one of the agent. */
export async function findSigningKey({ keys }: ApprovalRule, terminal: Terminal): Promise<SshSigningKey> {
  const isAllowed = (line: string): boolean => keys.some(({ blob }) => line.split(/\s+/).includes(blob));
  const file = publicKeyFiles(terminal.env.HOME).find((path) => isAllowed(textOf(path)));
  if (file !== undefined) return { path: file, [Symbol.dispose]: () => undefined };
  const offered = terminal.env.SSH_AUTH_SOCK ? (await runSsh("ssh-add", ["-L"], "", terminal)).stdout : "";
  const line = offered.split("\n").find(isAllowed);
  if (line !== undefined) return temporaryKey(line);
  const names = keys.slice(0, MAX_NAMES).map(({ name }) => name);
  throw new HoldfastError("invalid", "neither ~/.ssh nor ssh-agent has a key that may approve this plan", {
    hint: `name one with --key FILE; these may: ${names.join(", ")}${keys.length > MAX_NAMES ? " …" : ""}`,
  });
}

const MAX_NAMES = 5;

function publicKeyFiles(home: string | undefined): readonly string[] {
  if (home === undefined) return [];
  const folder = join(home, ".ssh");
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".pub"))
      .toSorted()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readGivenText(path);
  } catch (error) {
    if (error instanceof UnreadableFileError) return "";
    throw error;
  }
}

// ssh-keygen takes the name of a file, and asks the agent for its private key.
function temporaryKey(line: string): SshSigningKey {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-key-"));
  const path = join(folder, "key.pub");
  writeFileSync(path, `${line}\n`);
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

// Not in a session of its own, so that it can ask for a passphrase on the terminal; without a shell.
async function runSsh(
  program: string,
  args: readonly string[],
  input: string,
  { env, cwd, stopping }: Terminal,
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env: { ...envOfProgram(env) }, stdio: "pipe", signal: stopping });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (piece: string) => {
      texts[name] = (texts[name] + piece).slice(0, MAX_BYTES);
    });
  }
  // A program that reads no input closes it.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", (cause: NodeJS.ErrnoException) => {
      reject(cause.code === "ENOENT" ? notInstalled(program, cause) : cause);
    });
  });
  return { code, ...texts };
}

function notInstalled(program: string, cause: unknown): HoldfastError {
  return new HoldfastError("error", `${program} is not installed`, {
    hint: "install the client of OpenSSH (8.2 or newer); docs/approvals.md shows how to sign elsewhere",
    cause,
  });
}

function whyIn(stderr: string): string {
  const last = stderr.trim().split("\n").at(-1)?.trim() ?? "";
  return last === "" ? "" : `: ${last}`;
}
