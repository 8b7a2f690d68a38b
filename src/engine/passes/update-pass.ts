import type { ImportedResource } from "../../contract/generated/output.ts";
import type { ManifestUpdate, UpdatesEvent } from "../../core/report/events.ts";
import { takenOver } from "../import/taken-over.ts";
import { EVERYTHING, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { planAgainstLive } from "../plan.ts";
import type { PromotedSource } from "../promotion/edit-manifests.ts";
import { type LocatedUpdate, updatePatched } from "../promotion/update-patched.ts";
import { readAccessOf } from "../session.ts";

/** A pass that says how the selected manifests have to change to say what is live, and writes nothing. */
export type UpdateMode = { readonly is: "update"; readonly readerOf: PromotedSource["readerOf"] };

/** Up to so many resources are read one by one. */
const FEW = 32;

/** Finds the fields in which the selected manifests differ from live, and takes them over. */
export async function updatePass({ connection, read, run }: Pass, { readerOf }: UpdateMode): Promise<UpdatesEvent> {
  const { session } = connection;
  const { desired } = read;
  const named = desired.manifests.filter(({ identity }) => desired.onlyReferredTo?.has(identity) !== true);
  const given = {
    server: readAccessOf(session),
    records: { heads: await session.heads(), ledger: session.ledger },
    rules: read.rules,
    run,
  };
  const scope = { ...EVERYTHING, seeksOrphans: false, readsEach: named.length <= FEW };
  const observed = await observe({ ...desired, isWhole: false }, { ...given, scope });
  const checks = { creates: "not-needed", guards: null, hasSink: session.sink !== null } as const;
  const livePlan = await planAgainstLive(observed, { ...given, checks });
  const values = new Map(livePlan.waved.map(({ manifest }) => [manifest.identity, manifest]));
  const { uncommitted } = desired;
  const found = named.flatMap((one) => takenOver(values.get(one.identity) ?? one, livePlan, { uncommitted }));
  const { from: indexed } = read;
  if (indexed === null) throw new TypeError("an update needs the files of its source");
  const updates = found.filter((one): one is LocatedUpdate => "fields" in one);
  const patched = updates.filter(({ manifest }) => manifest.patched !== undefined);
  const inPatches = await updatePatched(patched, { indexed, readerOf, uncommitted }, run);
  const plain = updates.filter(({ manifest }) => manifest.patched === undefined).map(asUpdate);
  return {
    what: "updates",
    server: session.server,
    updates: [...plain, ...inPatches.manifests],
    patches: { files: inPatches.files, updates: inPatches.updates },
    kept: [...found.filter((one): one is ImportedResource => "result" in one), ...inPatches.kept],
  };
}

function asUpdate({ manifest: _, live: __, fields: ___, ...update }: LocatedUpdate): ManifestUpdate {
  return update;
}
