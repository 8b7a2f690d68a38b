import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import type { HoldfastError } from "../../core/errors.ts";
import { type ContentGate, judgedBy } from "../../core/gates/content-gate.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import { isSentInClear } from "../../http/loopback.ts";
import { kindOf, kinds } from "../../kinds/index.ts";
import type { KeyPlace, OperatorConfig } from "../../source/read-config.ts";
import type { PlaceOf } from "./configured-places.ts";
import { refusedConfig } from "./refused-config.ts";

/** The target that has a gate, and where its configuration has it. */
type Owner = { readonly name: string; readonly place: KeyPlace | null };

type Entry = Pick<NonNullable<OperatorConfig["targets"]>[number], "name" | "gate">;

/** The gates of a target in the operator's configuration; refuses one that could not be asked. */
export function gatesIn(
  { name, gate }: Entry,
  fileIn: (file: string | undefined) => string | null,
  placeOf: (item: number) => KeyPlace | null,
): readonly ContentGate[] {
  const entries = (Array.isArray(gate) ? gate : [gate]).filter(isObject);
  return entries.map((entry, item) => {
    const owner = { name, place: placeOf(item) };
    const given = { ...withoutNulls(entry) };
    const asks = ASKS.filter((key) => given[key] !== undefined);
    const [is, other] = asks;
    if (is === undefined || other !== undefined) {
      const has = other === undefined ? "none of them" : asks.join(" and ");
      throw refused(owner, `has ${has}`, "give each gate exactly one of metric, url and job");
    }
    const beside: readonly string[] = asking[is];
    const stray = Object.keys(given).find((key) => key !== is && !beside.includes(key));
    if (stray !== undefined) throw refused(owner, `has ${is} and ${stray}`, `${stray} does not belong to ${is}`);
    const place = owner.place && { file: owner.place.file, line: owner.place.line };
    const gate = { ...questionOf(owner, is, given, fileIn), match: text(given.match) ?? null, place };
    const { types, isAnyMatched } = judgedBy(gate, kinds);
    if (!isAnyMatched)
      throw refused(
        owner,
        `has the match ${JSON.stringify(gate.match)}, which is for nothing that it can judge`,
        `a gate with ${is} judges ${types.join(" and ")}: begin its match with the kind, such as ${types[0]}/**`,
      );
    return gate;
  });
}

/** The keys that say what a gate asks, each with the keys beside it. */
const asking = {
  metric: ["match", "atLeast", "atMost", "from"],
  url: ["match", "secretFile"],
  job: ["match", "from"],
} as const;

type Asks = keyof typeof asking;
const ASKS = Object.keys(asking) as readonly Asks[];

function questionOf(
  target: Owner,
  is: Asks,
  given: { readonly [name: string]: Json | undefined },
  fileIn: (file: string | undefined) => string | null,
) {
  const from = text(given.from) ?? null;
  switch (is) {
    case "metric": {
      const [atLeast, atMost] = [numberOrNull(given.atLeast), numberOrNull(given.atMost)];
      if (atLeast === null && atMost === null)
        throw refused(target, "has metric without a bound", "give it atLeast, atMost or both");
      if (atLeast !== null && atMost !== null && atLeast > atMost)
        throw refused(
          target,
          `lets no value pass: atLeast ${atLeast} is above atMost ${atMost}`,
          "correct one of them",
        );
      return { is, metric: text(given.metric) ?? "", atLeast, atMost, from } as const;
    }
    case "url": {
      const [url, secretFile] = [text(given.url) ?? "", fileIn(text(given.secretFile))];
      if (secretFile === null)
        throw refused(target, "has url without secretFile", "name the file with the key that signs its requests");
      const parsed = URL.parse(url);
      if (parsed?.username || parsed?.password)
        throw refused(target, "has a url with credentials", "requests are signed with the key in secretFile instead");
      if (parsed === null || isSentInClear(url))
        throw refused(
          target,
          "has a url that is not https",
          "an answer over plain http is trusted from this machine alone",
        );
      return { is, url, secretFile } as const;
    }
    default:
      return { is: "run", job: jobIn(target, text(given.job) ?? ""), from } as const;
  }
}

function jobIn(target: Owner, job: Identity): Identity {
  const { kind, key } = splitIdentity(job);
  if (kindOf(kind)?.startsRun !== undefined && /^[^/]+\/[^/]+$/.test(key)) return job;
  throw refused(target, `has the job ${JSON.stringify(job)}`, "name a job as job/CLUSTER:WORKSPACE/NAME");
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === "number" ? value : null;
}

function withoutNulls(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
}

/** Refuses a gate that reads from a target that does not exist. */
export function requireKnownOrigins(
  targets: readonly { readonly name: string; readonly gates: readonly ContentGate[] }[],
  placeOf: PlaceOf,
): void {
  const names = new Set(targets.map(({ name }) => name));
  for (const { name, gates } of targets)
    for (const gate of gates)
      if (gate.is !== "url" && gate.from !== null && !names.has(gate.from))
        throw refused(
          { name, place: placeOf(name, "gate") },
          `reads from target ${gate.from}, which does not exist`,
          "correct it, or add that target",
        );
}

function refused({ name, place }: Owner, why: string, hint: string): HoldfastError {
  return refusedConfig(`a gate of target ${name} ${why}`, hint, place);
}
