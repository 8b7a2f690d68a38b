// src/core/gates: what must be shown of a prompt or a model before it is written. See docs/environments.md#gates.

import type { GatePlace } from "../../contract/generated/output.ts";
import { canonical } from "../../contract/json.ts";
import { type Glob, globMatcher } from "../../model/glob.ts";
import type { Kind } from "../kind.ts";
import { type Identity, splitIdentity, splitVersion } from "../manifest.ts";

/** What a gate asks, and whom. */
type GateQuestion =
  /** A metric of the registered version with this content; `from`: the target in whose registry it is, null for the own one. */
  | {
      readonly is: "metric";
      readonly metric: string;
      readonly atLeast: number | null;
      readonly atMost: number | null;
      readonly from: string | null;
    }
  /** A service that judges; the file holds the key that signs the requests. */
  | { readonly is: "url"; readonly url: string; readonly secretFile: string }
  /** The newest finished run of a job that began after the version was registered. */
  | { readonly is: "run"; readonly job: Identity; readonly from: string | null };

/** A condition on versions of prompts and models, which holds before their content is written to a target. */
export type ContentGate = GateQuestion & {
  /** The identities that it is for; null for everything that it can judge. */
  readonly match: Glob | null;
  /** Where the operator's configuration has it, which is no part of its definition. */
  readonly place: GatePlace;
};

/** What a gate said of a content: it passes, it does not, or no answer was had. Only `pass` is green. */
export type GateVerdict = "pass" | "fail" | "unanswered";

/** The answer of a gate. */
export type GateAnswer = {
  readonly verdict: GateVerdict;
  readonly score: number | null;
  /** One line for people. */
  readonly summary: string;
};

/** The answer of a gate to exactly one content: it says nothing of any other content, nor of a gate that is defined otherwise. */
export type GateReceipt = GateAnswer & {
  readonly identity: Identity;
  /** The digest of the manifest that would be written. */
  readonly content: string;
  /** The digest of the definition of the gate. */
  readonly gate: string;
  /** What the gate is called in reports. */
  readonly name: string;
  /** When it was asked, as an ISO time. */
  readonly at: string;
};

/** Whether a gate can judge a kind: only what has numbered versions (prompts, models), and of a metric only what has metrics. */
function canJudge({ is }: Pick<ContentGate, "is">, { hasVersions, hasMetrics }: Kind): boolean {
  return hasVersions === true && (is !== "metric" || hasMetrics === true);
}

/** The gates that a resource must pass. */
export function gatesOf(gates: readonly ContentGate[], identity: Identity, ofKind: Kind): readonly ContentGate[] {
  const names = namesOf(identity);
  return gates.filter((gate) => canJudge(gate, ofKind) && (gate.match === null || names.some(globMatcher(gate.match))));
}

// A pattern without a version is for every version of the name.
function namesOf(identity: Identity): readonly Identity[] {
  const { kind, key } = splitIdentity(identity);
  return [identity, `${kind}/${splitVersion(key).name}`];
}

/** The kinds that a gate can judge, and whether its pattern may match one of them. */
export function judgedBy(
  gate: Pick<ContentGate, "is" | "match">,
  kinds: readonly Kind[],
): { readonly types: readonly string[]; readonly isAnyMatched: boolean } {
  const types = kinds.filter((kind) => canJudge(gate, kind)).map(({ type }) => type);
  return { types, isAnyMatched: gate.match === null || types.some(mayMatchKind(gate.match)) };
}

// Without `**` a pattern must have a segment for the kind, and one behind it.
function mayMatchKind(match: Glob): (type: string) => boolean {
  const [first = "", ...others] = match.split("/");
  const at = first.indexOf("**");
  if (at === -1 && others.length === 0) return () => false;
  return globMatcher(at === -1 ? first : first.slice(0, at + 2));
}

/** What is declared of the kinds that a gate's pattern names, under the names that the pattern is compared with. */
export function namedByGate(
  gate: ContentGate & { readonly match: Glob },
  declared: Iterable<Identity>,
  kindOf: (type: string) => Kind | undefined,
): readonly Identity[] {
  const mayMatch = mayMatchKind(gate.match);
  return [...declared].flatMap((identity) => {
    const { kind } = splitIdentity(identity);
    const ofKind = kindOf(kind);
    return ofKind !== undefined && canJudge(gate, ofKind) && mayMatch(kind) ? namesOf(identity) : [];
  });
}

/** What identifies the definition of a gate: a receipt of another definition is not current. */
export function gateText({ place: _, ...definition }: ContentGate): string {
  return canonical({ ...definition });
}

/** What a gate is called in reports: what it asks; of an address without what may be secret in it. */
export function gateName(gate: ContentGate): string {
  switch (gate.is) {
    case "metric": {
      const least = gate.atLeast === null ? "" : ` at least ${gate.atLeast}`;
      const most = gate.atMost === null ? "" : ` at most ${gate.atMost}`;
      return `metric ${gate.metric}${least}${least !== "" && most !== "" ? " and" : ""}${most}`;
    }
    case "url": {
      const { origin = "", pathname = "" } = URL.parse(gate.url) ?? {};
      return `url ${origin}${pathname}`;
    }
    case "run":
      return `job ${gate.job}`;
  }
}

/** What must be green of a resource: the digest of its content, and its gates by the digests of their definitions. */
export type GatedContent = {
  readonly identity: Identity;
  readonly content: string;
  readonly gates: ReadonlyMap<string, ContentGate>;
};

/** The gates without a receipt that is green, and current for exactly this content and this definition. */
export function closedGates(
  { identity, content, gates }: GatedContent,
  receipts: readonly GateReceipt[],
): readonly { readonly gate: ContentGate; readonly receipt: GateReceipt | null }[] {
  return [...gates].flatMap(([digest, gate]) => {
    const receipt = receipts.findLast(
      (one) => one.identity === identity && one.content === content && one.gate === digest,
    );
    return receipt?.verdict === "pass" ? [] : [{ gate, receipt: receipt ?? null }];
  });
}

/** What a gate is called in reports, and where the configuration has it. */
export function placedGateName({ name, place }: { readonly name: string; readonly place: GatePlace }): string {
  return place === null ? name : `${name} (${place.file}:${place.line})`;
}

/** The answer of a gate as one text. */
export function gateAnswerText({
  summary,
  ...gate
}: Parameters<typeof placedGateName>[0] & Pick<GateReceipt, "summary">): string {
  return `${placedGateName(gate)}: ${summary}`;
}

/** Why closed gates block a step. */
export function closedGatesText(closed: ReturnType<typeof closedGates>): string {
  return closed
    .map(({ gate, receipt }) =>
      gateAnswerText({ name: gateName(gate), place: gate.place, summary: receipt?.summary ?? "not asked" }),
    )
    .join("; ");
}
