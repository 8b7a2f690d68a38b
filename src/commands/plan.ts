import { compareText } from "../core/diagnostic.ts";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { type Identity, splitIdentity } from "../core/manifest.ts";
import type { Plan, Step } from "../core/plan.ts";
import { withServerSide } from "../core/server-side.ts";
import { type Look, type Looking, look, unmanaged } from "../engine/look.ts";
import { UnsafePathError } from "../files/unsafe-path.ts";
import { replaceFile } from "../files/write.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { jsonText } from "../render/json.ts";
import { planText, unmanagedText } from "../render/plan.ts";
import { contentTop } from "../source/root.ts";
import type { Flags, Invocation } from "./command.ts";
import { openConnection } from "./connection.ts";
import { startLean } from "./lean-heap.ts";
import { desiredOf, detailIn, groupOf, ignoredIn, lookingAt, whatIsNotUsed } from "./looking.ts";
import { outputFile } from "./output-file.ts";
import { type Prepared, prepare, refuseInvalid } from "./prepare.ts";
import { writeResult } from "./terminal.ts";

/** Shows what apply would do; changes nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const prepared = await prepare(invocation);
  if (refuseInvalid(prepared, invocation)) return exitCodes.invalid;
  const { flags, terminal } = invocation;
  const place = { cwd: terminal.cwd, content: contentTop(prepared.root) };
  const out = flags.out === undefined ? null : outputFile(flags.out, place);
  startLean();
  await using connected = await openConnection(invocation, prepared, { reading: true });
  const recorded = await connected.session.recorded();
  const looking = lookingAt(connected.session, recorded, prepared, invocation, { records: false });
  const looked = await look(desiredOf(prepared), showsLive(flags) ? { ...looking, remembrance: null } : looking);
  if (out !== null) writePlan(looked.plan, out);
  await writeResult(terminal, show(looked, looking, prepared, invocation));
  return exitCodeOf(looked.plan, invocation);
}

// What the plan leaves out is shown of every row, so every row has to be read.
function showsLive({ show = [] }: Flags): boolean {
  return show.some((what) => what === "server" || what === "unmanaged");
}

function writePlan(plan: Plan, path: string): void {
  try {
    replaceFile(path, jsonText(withoutKept(plan, false)));
  } catch (cause) {
    if (cause instanceof UnsafePathError) throw cause;
    const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw new HoldfastError("invalid", `the plan cannot be written to ${path}${why}`, {
      hint: "name a file in a folder that exists with --out",
      cause,
    });
  }
}

function show(looked: Look, looking: Looking, { settings }: Prepared, { flags, terminal }: Invocation): string {
  const showing = new Set(flags.show);
  const { observation, placed, notUsed } = looked;
  const plan = showing.has("server")
    ? withServerSide(looked, { ...looking, desired: placed, live: observation.live })
    : looked.plan;
  const showUnchanged = showing.has("unchanged");
  const ignored = ignoredIn(looked);
  const strangers = showing.has("unmanaged") ? unmanaged(looked, looking) : null;
  if (settings.output === "json") {
    return jsonText({ ...withoutKept(plan, showUnchanged), ...beside(ignored, strangers), ...whatIsNotUsed(looked) });
  }
  terminal.stderr.write(
    diagnosticsText(
      plan.diagnostics.filter(({ severity }) => severity === "error"),
      settings.diagnosticView,
    ),
  );
  const { paint } = settings;
  const text = planText(plan, { paint, groupOf, detailOf: detailIn(looked), showUnchanged, ignored, notUsed });
  return strangers === null ? text : text + unmanagedText(strangers, settings.paint);
}

type Stranger = { readonly identity: Identity };

// A plan's own file has none of it: it says nothing of what would be done.
function beside(ignored: number, strangers: readonly Stranger[] | null): object {
  const identities = strangers?.map(({ identity }) => identity).toSorted(compareText);
  return {
    ...(ignored === 0 ? {} : { ignored }),
    ...(identities === undefined
      ? {}
      : { unmanaged: identities.map((identity) => ({ identity, kind: splitIdentity(identity).kind })) }),
  };
}

// What is kept is counted; it is listed on request, or where there is something to say of it.
function withoutKept(plan: Plan, showUnchanged: boolean): Plan {
  const isShown = ({ action, changes }: Step): boolean => action !== "keep" || showUnchanged || changes.length > 0;
  return { ...plan, steps: plan.steps.filter(isShown) };
}

// An incomplete plan is no answer to the question whether there are changes.
function exitCodeOf({ complete, summary }: Plan, { flags }: Invocation): number {
  if (!complete) return exitCodes.error;
  const changes = summary.create + summary.update + summary.block;
  return flags.detailedExitcode && changes > 0 ? 2 : 0;
}
