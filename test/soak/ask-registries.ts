import { expect } from "vitest";
import { closedGates } from "../../src/core/gates/content-gate.ts";
import { requireKind } from "../../src/core/kind.ts";
import { gateAskerOf } from "../../src/engine/gates/ask-gates.ts";
import { kindsByType } from "../../src/kinds/index.ts";
import { temporaryFolder } from "../support/folder.ts";
import { randomFrom } from "../support/random.ts";
import type { Server } from "../support/server.ts";
import {
  type Fault,
  FIRST,
  flavours,
  identityOf,
  manifest,
  nameOf,
  type Place,
  startEvidence,
} from "./gate-evidence.ts";
import { openTargets } from "./promotions.ts";

const readings: readonly Fault[] = ["none", "red", "timeout", "error", "reset", "nonsense", "missing", "not a number"];

/**
 * Asks gates over metrics and jobs again and again about contents, of a registry and jobs that answer at random, or do
 * something else. Only a content of which all that was read in that very round is green may be open. Returns how often each
 * happened, and how often what was asked was open.
 */
export async function askRegistries(seed: number, rounds: number): Promise<ReadonlyMap<string, number>> {
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const columns = flavours.map((flavour, column) => ({ ...flavour, column }));
  const tried = columns.map((one): Place => ({ ...one, gates: ["url"], stage: 0 }));
  const asked = columns.filter(({ gates }) => !gates.includes("url")).map((one): Place => ({ ...one, stage: 1 }));
  const evidence = await startEvidence([...tried, ...asked], random);
  const opened = await openTargets(await temporaryFolder(), [...tried, ...asked], evidence);
  const registered = [FIRST, "content-1", "content-2"];
  for (const place of tried) await register(place, registered, evidence.planes[0]);
  const seen = new Map<string, number>();
  for (let round = 0; round < rounds; round += 1) {
    const place = pick(asked);
    const [fault, text] = [random() < 0.5 ? "none" : pick(readings), pick([...registered, "content-3"])];
    const { gates } = opened.target(nameOf(place));
    if (gates === undefined) throw new TypeError("a target without gates");
    evidence.next(fault, place);
    const registryOf: typeof gates.registryOf = (name) => {
      evidence.beginQuestion();
      return gates.registryOf(name);
    };
    const asker = await gateAskerOf(
      { ...gates, registryOf },
      { session: { reader: {} as never, heads: async () => new Map() }, clock: opened.clock, keeps: false },
    );
    const subject = {
      kind: requireKind(kindsByType, place.type),
      identity: identityOf(place),
      manifest: manifest(place, text),
    };
    const [first] = (await asker?.([subject], { signal: new AbortController().signal })) ?? [];
    if (first === undefined) throw new TypeError("the gate was not asked");
    const isOpen = closedGates(first.gated, first.receipts).length === 0;
    const where = `round ${round} of seed ${seed}: ${place.gates} of ${text}, ${fault}`;
    expect(isOpen, where).toBe(evidence.isGreen(place, first.gated.content));
    if (fault !== "none" || text === "content-3") expect(isOpen, where).toBe(false);
    if (random() < 0.2) evidence.turn(place);
    const what = `${place.gates.join(" and ")}: ${isOpen ? "open" : fault}`;
    seen.set(what, (seen.get(what) ?? 0) + 1);
  }
  return seen;
}

async function register(place: Place, texts: readonly string[], plane: Server | undefined): Promise<void> {
  const repo = { type: "ml-repo", name: `registry-${place.column}` };
  await plane?.call("PUT", "/api/svc/v1/ml-repos", { manifest: repo });
  const path = place.type === "chat_prompt" ? "/api/ml/v1/prompt-versions" : "/api/ml/v1/model-versions";
  for (const text of texts) await plane?.call("PUT", path, { manifest: manifest(place, text) });
}
