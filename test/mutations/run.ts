// Takes one safeguard after the other out of a copy of the checkout, and fails unless a test notices each: the exit code
// of the runner is 0 with the safeguard and another one without it. Arguments name the mutations; without any, all run.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { copyCheckout } from "../support/copy-checkout.ts";
import { applyMutation } from "./apply-mutation.ts";
import type { Mutation } from "./mutations.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "string", default: resolve(import.meta.dirname, "mutations.ts") } },
});
const { mutations }: { readonly mutations: readonly Mutation[] } = await import(resolve(values.list));
const chosen = mutations.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const survivors = chosen.filter((mutation) => !isNoticed(mutation));
process.exitCode = chosen.length > 0 && survivors.length === 0 ? 0 : 1;
process.stdout.write(`${chosen.length - survivors.length} of ${chosen.length} mutations were noticed\n`);

function isNoticed(mutation: Mutation): boolean {
  const folder = copyCheckout();
  try {
    const asIs = runTest(mutation, folder);
    applyMutation(mutation, folder);
    const without = runTest(mutation, folder);
    const noticed = asIs === 0 && without !== 0;
    const said = noticed ? "noticed" : "NOT NOTICED";
    process.stdout.write(
      `without ${mutation.name}: ${said} by ${mutation.killedBy.file} (exit codes ${asIs}, then ${without})\n`,
    );
    return noticed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runTest({ killedBy: { project, file, title } }: Mutation, cwd: string): number | null {
  const pattern = title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", project, "--testNamePattern", pattern, file];
  return spawnSync(process.execPath, args, { cwd, stdio: "ignore" }).status;
}
