import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exitCodes } from "../core/errors.ts";
import type { Plan } from "../core/plan.ts";
import { type Look, look, unmanaged } from "../engine/look.ts";
import { kindOf } from "../kinds/index.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { jsonText } from "../render/json.ts";
import { planText, unmanagedText } from "../render/plan.ts";
import type { Invocation } from "./command.ts";
import { openConnection } from "./connection.ts";
import { desiredOf, groupOf, lookingAt } from "./looking.ts";
import { type Prepared, prepare, refuseInvalid } from "./prepare.ts";
import { writeResult } from "./terminal.ts";

/** Shows what apply would do; changes nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const prepared = await prepare(invocation);
  if (refuseInvalid(prepared, invocation)) return exitCodes.invalid;
  await using connected = await openConnection(invocation, prepared, { reading: true });
  const recorded = await connected.session.recorded();
  const looking = lookingAt(connected.session, recorded, prepared, invocation.terminal.stopping);
  const looked = await look(desiredOf(prepared), looking);
  const { out } = invocation.flags;
  if (out !== undefined) {
    await writeFile(resolve(invocation.terminal.cwd, out), jsonText(looked.plan), { mode: 0o600 });
  }
  await writeResult(invocation.terminal, show(looked, prepared, invocation, recorded));
  return exitCodeOf(looked.plan, invocation);
}

function show(
  looked: Look,
  { settings }: Prepared,
  { flags, terminal }: Invocation,
  recorded: Parameters<typeof unmanaged>[1]["recorded"],
): string {
  const showing = new Set(flags.show);
  const { plan } = looked;
  const shown = showing.has("unchanged")
    ? plan
    : { ...plan, steps: plan.steps.filter(({ action }) => action !== "keep") };
  if (settings.output === "json") return jsonText(shown);
  const refusals = plan.diagnostics.filter(({ detail, severity }) => severity === "error" || detail !== null);
  terminal.stderr.write(diagnosticsText(refusals, settings.paint));
  const text = planText(shown, { paint: settings.paint, groupOf, showUnchanged: showing.has("unchanged") });
  return showing.has("unmanaged")
    ? text + unmanagedText(unmanaged(looked, { kindOf, recorded }), settings.paint)
    : text;
}

// An incomplete plan is no answer to the question whether there are changes.
function exitCodeOf({ complete, summary }: Plan, { flags }: Invocation): number {
  if (!complete) return exitCodes.error;
  const changes = summary.create + summary.update + summary.block;
  return flags.detailedExitcode && changes > 0 ? 2 : 0;
}
