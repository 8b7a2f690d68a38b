import { posix } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { canonical, compareText, equal, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import type { Secret } from "../../contract/secret.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Kind } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Identity, Manifest } from "../../core/manifest.ts";
import { isOpened } from "../../core/recorded.ts";
import {
  type NamedValue,
  NOT_COMPARED,
  replaceValues,
  UNDECLARED,
  UNRESOLVED,
  valuesIn,
} from "../../core/referenced-values.ts";
import { kindOf } from "../../kinds/index.ts";
import { isParsed, type SourceManifest } from "../../manifests/source-manifest.ts";
import type { ReceiptContents, ReceiptHead } from "../../state/ledger.ts";
import type { Desired } from "../load/desired.ts";
import { type ReferencedSecret, type SecretReader, UNREAD_REFERENCE, VALUE_DIGEST } from "../secrets/secret-values.ts";
import type { ReadAccess } from "../session.ts";
import type { Observation } from "./read-live.ts";
import { type Undecided, withWaves } from "./read-undecided.ts";

/** What was observed, as far as values that are named by reference matter. */
type Observing = Pick<Undecided, "desired" | "recorded"> & { readonly observation: Observation };

/** How values are resolved. */
type Resolving = Stop & {
  readonly server: ReadAccess;
  readonly ledger: Pick<ReceiptContents, "digest">;
  /** Whether references are resolved; otherwise a value counts as changed where its reference has. */
  readonly isReading: boolean;
};

/** Stand-ins for the values of a plan: what is compared of a value that no output shows, and that live never shows. */
export type ResolvedValues = {
  /** The same with stand-ins, and with nothing of live that is not declared. */
  readonly apply: <Some extends Undecided>(undecided: Some) => Some;
  readonly observation: Observation;
};

/** Replaces every value that a manifest names by reference by what stands for it, and says why one cannot be read. */
export async function resolveValues(
  { desired, recorded, observation }: Observing,
  resolving: Resolving,
): Promise<ResolvedValues> {
  const groups = desired.manifests.flatMap((manifest): readonly Group[] => {
    const kind = kindOf(manifest.kind);
    if (kind?.values === undefined || !isParsed(manifest)) return [];
    const { identity } = manifest;
    return [
      {
        kind,
        manifest,
        live: observation.live.get(identity),
        receipt: recorded.get(identity),
        base: desired.base?.get(identity),
        fileAt: desired.fileAt,
      },
    ];
  });
  if (groups.length === 0) return { apply: (undecided) => undecided, observation };
  const reader = resolving.server.values.reader();
  const resolved = new Map<Identity, ResolvedGroup>();
  for (const group of groups) resolved.set(group.manifest.identity, await resolveGroup(group, reader, resolving));
  const of = <Part>(part: (group: ResolvedGroup) => Part | null): ReadonlyMap<Identity, Part> =>
    new Map(
      [...resolved].flatMap(([identity, group]) => {
        const found = part(group);
        return found === null ? [] : [[identity, found] as const];
      }),
    );
  return {
    apply: (undecided) => withStandIns(undecided, resolved),
    observation: {
      ...observation,
      live: new Map([...observation.live, ...of(({ live }) => live)]),
      dryRuns: new Map([...observation.dryRuns, ...of(({ refusal }) => refusal)]),
      diagnostics: [...observation.diagnostics, ...resolved.values().flatMap(({ undeclared }) => undeclared)],
    },
  };
}

/** One manifest with such values, and what is known of its resource. */
type Group = {
  readonly kind: Kind;
  readonly manifest: SourceManifest & Manifest;
  readonly live: Live | undefined;
  readonly receipt: ReceiptHead | undefined;
  readonly base: JsonObject | undefined;
  readonly fileAt: Desired["fileAt"];
};

type ResolvedGroup = {
  readonly manifest: SourceManifest;
  readonly base: JsonObject | null;
  /** Live with the declared values alone; null where it is not present. */
  readonly live: Live | null;
  readonly refusal: DryRunReply | null;
  /** What live has that is not declared, in words. */
  readonly undeclared: readonly Diagnostic[];
  /** The fields of a receipt with the declared values alone. */
  readonly ofReceipt: (content: JsonObject) => JsonObject;
};

async function resolveGroup(group: Group, reader: SecretReader, resolving: Resolving): Promise<ResolvedGroup> {
  const { kind, manifest, live, receipt, base } = group;
  const { identity } = manifest;
  const row = live?.state === "present" ? live.row : null;
  const named = valuesIn(kind, manifest.value);
  const declared = new Set(named.map(({ name }) => name));
  const inLive = standInsOf(kind, row?.manifest);
  const written = standInsOf(kind, receipt !== undefined && isOpened(receipt) ? receipt.written : undefined);
  const atBase = new Map(
    base === undefined ? [] : valuesIn(kind, base).map(({ name, reference }) => [name, reference]),
  );
  const standIns = new Map<string, string>();
  const values = new Map<string, Secret>();
  const refers = ({ reference }: NamedValue): ReferencedSecret => referenceOf(objectOf(reference), group);
  const refused = resolving.isReading ? named.flatMap((one) => refusedBy(reader, refers(one), one)) : [];
  const faults: Fault[] = [];
  const mayUpdate = await canUpdate(
    group,
    [...inLive.keys(), ...written.keys()].some((name) => declared.has(name)),
    resolving,
  );
  for (const { name, reference, pointer } of named) {
    const known = written.get(name) ?? inLive.get(name);
    if (!resolving.isReading) {
      // A copy of a control plane was sent the reference itself.
      const isValue = known !== undefined && !known.startsWith(UNREAD_REFERENCE);
      const isSame = isValue && (base === undefined || equal(atBase.get(name), reference));
      standIns.set(name, isSame ? known : unreadReference(reference));
      continue;
    }
    // Without a way to write it, a value whose last write is not known cannot be compared, and stays.
    const isUnknown = known !== undefined && !(written.get(name)?.startsWith(VALUE_DIGEST) ?? false);
    // While one reference is refused, nothing is read or run for the others.
    if (refused.length > 0) {
      standIns.set(name, UNRESOLVED);
      continue;
    }
    const found = await reader.read(referenceOf(objectOf(reference), group), resolving);
    if ("why" in found) {
      faults.push({ why: found.why, pointer });
      standIns.set(name, UNRESOLVED);
    } else if (isUnknown && !mayUpdate) standIns.set(name, NOT_COMPARED);
    else {
      const standIn = `${VALUE_DIGEST}${resolving.ledger.digest(JSON.stringify(["secret", identity, name, found.value.open()]))}`;
      standIns.set(name, standIn);
      values.set(standIn, found.value);
    }
  }
  if (resolving.isReading) resolving.server.values.keep(identity, values);
  const ofDeclared = (content: JsonObject): JsonObject =>
    replaceValues(kind, content, (name, value) => (declared.has(name) ? value : undefined));
  const ofLive = (name: string, value: Json): Json => (standIns.get(name) === NOT_COMPARED ? NOT_COMPARED : value);
  return {
    manifest: { ...manifest, value: replaceValues(kind, manifest.value, (name) => standIns.get(name)) },
    base:
      base === undefined
        ? null
        : replaceValues(
            kind,
            base,
            (name, reference) => written.get(name) ?? inLive.get(name) ?? unreadReference(reference),
          ),
    live:
      row === null
        ? null
        : { state: "present", row: { ...row, manifest: replaceValues(kind, ofDeclared(row.manifest), ofLive) } },
    refusal: refusalOf([...refused, ...faults]),
    undeclared: undeclaredIn(
      group,
      [...inLive.keys()].filter((name) => !declared.has(name)),
    ),
    ofReceipt: ofDeclared,
  };
}

// Relative to the manifest, and never outside of the source.
function referenceOf(named: JsonObject, { manifest, fileAt }: Group): ReferencedSecret {
  const beside = typeof named.file === "string" ? fileAt?.({ display: manifest.file }) : undefined;
  const path = beside === undefined ? null : posix.join(posix.dirname(beside.path), String(named.file));
  return { named, file: path === null ? undefined : fileAt?.({ path }) };
}

function refusedBy(reader: SecretReader, reference: ReferencedSecret, { pointer }: NamedValue): readonly Fault[] {
  const why = reader.refusal(reference);
  return why === null ? [] : [{ why, pointer }];
}

function objectOf(reference: Json): JsonObject {
  return isObject(reference) ? reference : {};
}

/** Why a value cannot be read, and where it is named. */
type Fault = { readonly why: string; readonly pointer: string };

function standInsOf(kind: Kind, content: JsonObject | undefined): ReadonlyMap<string, string> {
  const found = content === undefined ? [] : valuesIn(kind, content);
  return new Map(found.flatMap(({ name, reference }) => (typeof reference === "string" ? [[name, reference]] : [])));
}

function unreadReference(reference: Json): string {
  return `${UNREAD_REFERENCE}${canonical(reference)}`;
}

// Whether values that exist can be written: the plan depends on it, so a route that is not known yet is asked for.
async function canUpdate(
  { kind: { writeRoutes } }: Group,
  isNeeded: boolean,
  { server: { capabilities, probeRoute }, isReading, signal }: Resolving,
): Promise<boolean> {
  const updates = writeRoutes.filter(({ createsOnly }) => createsOnly !== true);
  if (isNeeded && isReading) {
    for (const { operation } of updates) if (!capabilities.knows(operation)) await probeRoute(operation, { signal });
  }
  return updates.some(({ operation }) => capabilities.has(operation));
}

function refusalOf(faults: readonly Fault[]): DryRunReply | null {
  const [first] = faults;
  if (first === undefined) return null;
  const message = faults.map(({ why }) => why).join("; ");
  return { state: "refused", code: UNRESOLVED, message, pointer: first.pointer };
}

const LISTED = 10;

function undeclaredIn({ manifest: { identity, file, line } }: Group, names: readonly string[]): readonly Diagnostic[] {
  if (names.length === 0) return [];
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : "";
  return [
    {
      severity: "warning",
      code: UNDECLARED,
      summary: `${identity} keeps ${names.toSorted(compareText).slice(0, LISTED).join(", ")}${more}, which it does not declare`,
      detail: "Nothing is deleted. Declare what is used; what is not can be removed by hand.",
      file,
      line,
      column: 1,
    },
  ];
}

function withStandIns<Some extends Undecided>(undecided: Some, groups: ReadonlyMap<Identity, ResolvedGroup>): Some {
  const { desired, recorded } = undecided;
  const manifests = desired.manifests.map((manifest) => groups.get(manifest.identity)?.manifest ?? manifest);
  const base =
    desired.base && new Map([...desired.base].map(([identity, one]) => [identity, groups.get(identity)?.base ?? one]));
  const receipts = new Map(
    [...recorded].map(([identity, head]) => {
      const group = groups.get(identity);
      return [
        identity,
        group === undefined || !isOpened(head)
          ? head
          : {
              ...head,
              written: group.ofReceipt(head.written),
              returned: head.returned && group.ofReceipt(head.returned),
            },
      ];
    }),
  );
  const now = { ...desired, manifests, base };
  return { ...undecided, desired: now, waved: withWaves(now), recorded: receipts };
}
