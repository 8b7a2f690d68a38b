import type { HardwareChange, HardwareDifference } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import { type Hardware, hardwareGrowth, hardwareSum, NO_HARDWARE } from "../hardware.ts";
import { groupOf, type Kinds, kindIn } from "../kind.ts";
import type { Live } from "../live.ts";
import { type Identity, type ManifestHead, requireRead } from "../manifest.ts";
import { type Plan, writes } from "./plan.ts";

/** What is declared and what is live. */
type Compared = {
  readonly manifests: readonly ManifestHead[];
  readonly live: ReadonlyMap<Identity, Live>;
  readonly kinds: Kinds;
};

/**
 * How the writes of a plan change what is reserved, in each workspace and in sum, by the manifests alone; null where they
 * change nothing of it. Resources whose live manifest is not known are not counted.
 */
export function hardwareChange({ steps }: Pick<Plan, "steps">, compared: Compared): HardwareChange | null {
  const writing = new Map(steps.filter(writes).map(({ identity, action }) => [identity, action]));
  const grown = new Map<string, Hardware>();
  for (const manifest of compared.manifests) {
    const action = writing.get(manifest.identity);
    const growth = action === undefined ? null : growthOf(manifest, action === "create", compared);
    if (growth === null) continue;
    const workspace = groupOf(manifest, compared.kinds) ?? "";
    grown.set(workspace, hardwareSum([grown.get(workspace) ?? NO_HARDWARE, growth]));
  }
  const workspaces = [...grown]
    .map(([workspace, growth]) => ({ workspace, difference: differenceOf(growth) }))
    .filter(({ difference }) => isChange(difference))
    .toSorted((one, other) => compareText(one.workspace, other.workspace));
  if (workspaces.length === 0) return null;
  return { total: differenceOf(hardwareSum([...grown.values()])), workspaces };
}

function growthOf(manifest: ManifestHead, isNew: boolean, { live, kinds }: Compared): Hardware | null {
  const hardware = kindIn(kinds, manifest.identity)?.hardware;
  if (hardware === undefined) return null;
  const found = live.get(manifest.identity);
  const before = isNew ? NO_HARDWARE : found?.state === "present" ? hardware(found.row.manifest) : null;
  return before === null ? null : hardwareGrowth(before, hardware(requireRead(manifest).value));
}

function differenceOf({ replicas, cpu, memory, storage, devices }: Hardware): HardwareDifference {
  const counted = [...devices].map(([name, count]) => ({ name, count: rounded(count) }));
  return {
    ...{ replicas, cpu: rounded(cpu), memory: rounded(memory), storage: rounded(storage) },
    devices: counted.filter(({ count }) => count !== 0).toSorted((one, other) => compareText(one.name, other.name)),
  };
}

// Sums of fractions of cores differ in their last digits; of a negative rest nothing is left, not even its sign.
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000 + 0;
}

function isChange({ replicas, cpu, memory, storage, devices }: HardwareDifference): boolean {
  return devices.length > 0 || [replicas, cpu, memory, storage].some((value) => value !== 0);
}
