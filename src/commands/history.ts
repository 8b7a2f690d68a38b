import { FORMAT_VERSION } from "../core/format-version.ts";
import { jsonText } from "../render/escape.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { historyText } from "../render/status.ts";
import { wrappedLines } from "../render/wrap.ts";
import { KEPT_PASSES } from "../state/target-store.ts";
import type { InvocationOf } from "./command.ts";
import type { history } from "./declarations/history.ts";
import { findTargets } from "./targets/find-targets.ts";
import { columnsOn, writeResult } from "./terminal.ts";

/** Shows the outcome of each commit. */
export async function run(invocation: InvocationOf<typeof history>): Promise<number> {
  const { flags, terminal } = invocation;
  await using opened = await findTargets(invocation, { reading: true, unattended: true });
  const targets = await Promise.all(
    opened.targets.map(async ({ choice, state }) => {
      const { entries } = await (await state.target()).passes({ limit: KEPT_PASSES.count });
      return { target: choice?.name ?? "default", passes: entries.toReversed() };
    }),
  );
  const isJson = stdoutFormat(flags.output) === "json";
  await writeResult(
    terminal,
    isJson
      ? jsonText({ format_version: FORMAT_VERSION, targets, diagnostics: terminal.warnings.all() })
      : wrappedLines(historyText(targets), columnsOn(terminal.stdout)),
  );
  return 0;
}
