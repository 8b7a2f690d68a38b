import { load } from "../engine/load.ts";
import { printable } from "../render/escape.ts";
import { wrappedLines } from "../render/wrap.ts";
import { contentTop, findRoot } from "../source/source-root.ts";
import { type InvocationOf, missingFlags } from "./command.ts";
import type { snapshot } from "./declarations/snapshot.ts";
import { outputPath } from "./output/output-path.ts";
import { writeOutputFile } from "./output/write-outputs.ts";
import { loadSnapshot, snapshotText } from "./snapshots/load-snapshot.ts";
import { snapshotFile } from "./snapshots/snapshot-file.ts";
import { findTarget } from "./targets/find-targets.ts";
import { columnsOn, writeResult } from "./terminal.ts";

/** Writes a snapshot of a control plane to a file; nothing is written to the control plane. */
export async function run(invocation: InvocationOf<typeof snapshot>): Promise<number> {
  const { flags, terminal } = invocation;
  const { out, server } = flags;
  if (out === undefined || server === undefined) {
    throw missingFlags({ "--server URL": server, "--out FILE": out }, "name the control plane, and the file to write");
  }
  const content = contentTop(findRoot({ cwd: terminal.cwd, source: flags.source }));
  const file = outputPath(out, { cwd: terminal.cwd, content });
  const isShown = flags.public ? await declaredHere(invocation) : () => true;
  const read = await loadSnapshot({ ...invocation, flags: { ...flags, snapshot: server } });
  writeOutputFile({ format: "json", file }, snapshotFile(read, isShown));
  terminal.stderr.write(wrappedLines(snapshotText(read), columnsOn(terminal.stderr)));
  await writeResult(terminal, wrappedLines(`the snapshot is in ${printable(out)}\n`, columnsOn(terminal.stdout)));
  return 0;
}

// The names in a public repository are already public.
async function declaredHere(invocation: InvocationOf<typeof snapshot>): Promise<(identity: string) => boolean> {
  await using target = await findTarget(invocation, { reading: true, isCommitOptional: true });
  const { desired } = await load(target, invocation.terminal);
  const named = new Set(
    desired.manifests.flatMap(({ identity, references }) => [
      identity,
      ...references.map((reference) => reference.identity),
    ]),
  );
  return (identity) => named.has(identity);
}
