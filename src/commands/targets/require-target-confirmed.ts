import { createInterface } from "node:readline/promises";
import { HoldfastError } from "../../core/errors.ts";
import type { Flags } from "../flags/flags.ts";
import { isInteractive, type Terminal } from "../terminal.ts";
import type { CommandTarget } from "./create-target.ts";

/** Refuses to write to a target with `confirm: true`, unless a person types its name or `--confirm` gives it. */
export async function requireTargetConfirmed(
  { choice }: CommandTarget,
  { confirm }: Flags,
  terminal: Terminal,
): Promise<void> {
  if (choice === null || !choice.confirm) return;
  const given = confirm ?? (isInteractive(terminal) ? await ask(choice.name, terminal) : null);
  if (given === choice.name) return;
  const why = given === null ? "and there is no terminal to type it in" : `and ${JSON.stringify(given)} differs`;
  throw new HoldfastError("invalid", `target ${choice.name} requires its name as confirmation, ${why}`, {
    hint: `nothing was written; run it with --confirm ${choice.name}`,
  });
}

async function ask(name: string, { stdin, stderr, stopping }: Terminal): Promise<string> {
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    const ended = new Promise<string>((done) => prompt.once("close", () => done("")));
    const question = prompt.question(`Type the target's name (${name}) to write to it: `, { signal: stopping });
    return (await Promise.race([question, ended])).trim();
  } finally {
    prompt.close();
  }
}
