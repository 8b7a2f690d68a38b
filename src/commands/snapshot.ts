import { HoldfastError } from "../core/errors.ts";
import { readDesired } from "../engine/read-desired.ts";
import { printable } from "../render/escape.ts";
import { contentTop, findRoot } from "../source/root.ts";
import type { InvocationOf } from "./command.ts";
import type { snapshot } from "./declarations/snapshot.ts";
import { snapshotText, takeSnapshot } from "./live-snapshot.ts";
import { outputFile } from "./output-file.ts";
import { snapshotFile } from "./snapshot-file.ts";
import { openTarget } from "./target.ts";
import { writeResult } from "./terminal.ts";
import { writeOutputFile } from "./write-outputs.ts";

/** Writes what a control plane has to a file; nothing is written to the control plane. */
export async function run(invocation: InvocationOf<typeof snapshot>): Promise<number> {
  const { flags, terminal } = invocation;
  const { out, server } = flags;
  if (out === undefined || server === undefined) {
    const missing = out === undefined ? "--out FILE" : "--server URL";
    throw new HoldfastError("invalid", `${missing} is missing`, {
      hint: "name the control plane, and the file to write",
    });
  }
  const content = contentTop(findRoot({ cwd: terminal.cwd, source: flags.source }));
  const file = outputFile(out, { cwd: terminal.cwd, content });
  const isShown = flags.public ? await declaredHere(invocation) : () => true;
  const read = await takeSnapshot({ ...invocation, flags: { ...flags, snapshot: server } });
  writeOutputFile({ format: "json", file }, snapshotFile(read, isShown));
  terminal.stderr.write(snapshotText(read));
  await writeResult(terminal, `the snapshot is in ${printable(out)}\n`);
  return 0;
}

// What the repository names is public with it already.
async function declaredHere(invocation: InvocationOf<typeof snapshot>): Promise<(identity: string) => boolean> {
  await using target = await openTarget(invocation, { reading: true, doesWithoutGit: true });
  const { desired } = await readDesired(target, invocation.terminal);
  const named = new Set(
    desired.manifests.flatMap(({ identity, references }) => [
      identity,
      ...references.map((reference) => reference.identity),
    ]),
  );
  return (identity) => named.has(identity);
}
