import { makeDrift } from "../core/drift.ts";
import { exitCodes } from "../core/errors.ts";
import { driftInput, look } from "../engine/look.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { driftText } from "../render/drift.ts";
import { jsonText } from "../render/json.ts";
import type { Invocation } from "./command.ts";
import { openConnection } from "./connection.ts";
import { startLean } from "./lean-heap.ts";
import { desiredOf, lookingAt, whatIsNotUsed } from "./looking.ts";
import { prepare, refuseInvalid } from "./prepare.ts";
import { writeResult } from "./terminal.ts";

/** Shows what moved in live; never writes to live. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, terminal } = invocation;
  const prepared = await prepare(invocation, { base: "instead" });
  if (refuseInvalid(prepared, invocation)) return exitCodes.invalid;
  startLean();
  await using connected = await openConnection(invocation, prepared, { reading: true });
  const recorded = await connected.session.recorded();
  const looking = lookingAt(connected.session, recorded, prepared, invocation, { records: false });
  const looked = await look(desiredOf(prepared), looking);
  const report = makeDrift(driftInput(looked, looking, { standsIn: recorded.size === 0 || flags.base !== undefined }));
  const { settings } = prepared;
  if (settings.output === "text") {
    terminal.stderr.write(
      diagnosticsText(
        report.diagnostics.filter(({ severity }) => severity === "error"),
        settings.diagnosticView,
      ),
    );
  }
  await writeResult(
    terminal,
    settings.output === "json"
      ? jsonText({ ...report, ...whatIsNotUsed(looked) })
      : driftText(report, settings.paint, stand(), looked.notUsed),
  );
  if (!report.complete) return exitCodes.error;
  const { drifted, absent } = report.summary;
  return drifted + absent > 0 && flags.detailedExitcode !== false ? 2 : 0;

  function stand(): string | null {
    const missing = prepared.selected.filter(({ identity }) => !recorded.has(identity)).length;
    if (missing === 0) return null;
    const what = flags.base === undefined ? "the manifests here" : `the manifests at ${flags.base}`;
    return `${missing} of ${prepared.selected.length} have no record in this state folder: ${what} stand in for it`;
  }
}
