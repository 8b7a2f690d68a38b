import type { Clock } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type Hold, isCommitPrefix } from "../../core/holds.ts";
import type { Identity } from "../../core/manifest.ts";
import { heldContents } from "../../engine/desired/held-contents.ts";
import { type DesiredRead, readDesired } from "../../engine/desired/read-desired.ts";
import { closestName } from "../../schema/closest-name.ts";
import { SourceError } from "../../source/source-error.ts";
import { recordedIdentities } from "../../state/open-state.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

/** The hold on a resource with its content; refuses one on a resource that is neither declared nor recorded. */
export async function checkHold(
  hold: Hold,
  target: CommandTarget,
  { clock, stopping: signal }: Terminal,
): Promise<Hold> {
  if (isCommitPrefix(hold.what)) return hold;
  const { folder, readKey, open } = target.state;
  const { key } = await open({ keyText: readKey() });
  const read = await readDeclared(target, { clock, stopping: signal });
  requireKnown(hold.what, read, await recordedIdentities(folder));
  const content = read && (await heldContents(read, [hold.what], { key, signal })).contents.get(hold.what);
  return read === null || content === undefined ? hold : { ...hold, content };
}

// A hold must be possible while the source cannot be read, for example during an incident.
async function readDeclared(
  target: CommandTarget,
  context: { readonly clock: Clock; readonly stopping: AbortSignal },
): Promise<DesiredRead | null> {
  try {
    return await readDesired(target, context);
  } catch (error) {
    if (error instanceof SourceError) return null;
    throw error;
  }
}

function requireKnown(what: Identity, read: DesiredRead | null, recorded: readonly Identity[]): void {
  if (read === null || recorded.includes(what)) return;
  const { declared, invalid } = read.desired;
  if (declared.has(what) || invalid.has(what)) return;
  const near = closestName(what, [...declared, ...invalid, ...recorded]);
  throw new HoldfastError("invalid", `${what} is neither declared nor recorded, so there is nothing to hold`, {
    hint: near === undefined ? "holdfast plan --show unchanged lists the resources" : `did you mean ${near}?`,
  });
}
