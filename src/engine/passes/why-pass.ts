import type { ResourceVersion } from "../../contract/generated/output.ts";
import type { Json } from "../../contract/json.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import type { Decision } from "../../core/decide/decision.ts";
import { pointerIn, pointerOf, writtenValueAt } from "../../core/diff/pointer.ts";
import { HoldfastError } from "../../core/errors.ts";
import { manifestToSend } from "../../core/ignore/keep-ignored.ts";
import { parentOf, requireKind, writerIn } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, requireRead } from "../../core/manifest.ts";
import { declarersOf } from "../../core/plan/orphans.ts";
import { jsonDigest } from "../../core/plan/sign-plan.ts";
import { redactManifest } from "../../core/redact/redact-manifest.ts";
import type { WhyEvent } from "../../core/report/events.ts";
import { lastAppliedText, placeText } from "../../core/report/invalid-text.ts";
import { select } from "../../core/selection/select.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { kindsByType } from "../../kinds/index.ts";
import { locateField } from "../../manifests/read-manifests.ts";
import type { SourceHead } from "../../manifests/source-manifest.ts";
import { closestName } from "../../schema/closest-name.ts";
import { ExactProcess } from "../../yaml/read-yaml.ts";
import { invalidOutcomes } from "../invalid-outcomes.ts";
import type { Desired } from "../load/desired.ts";
import { versionsSince } from "../observe/versions-since.ts";
import { EVERYTHING, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { planAgainstLive } from "../plan.ts";
import type { Stoppable } from "../run.ts";
import { readAccessOf } from "../session.ts";
import { whyFields } from "./why-fields.ts";

/** A pass that explains where one value comes from, and writes nothing. */
export type WhyMode = {
  readonly is: "why";
  /** An identity, or an identity followed by the JSON Pointer of a field. */
  readonly asked: string;
  /** How many of the newest versions are listed too. @default 0 */
  readonly versions?: number;
};

/** Compares one value as declared, recorded and live. */
export async function whyPass(pass: Pass, { asked, versions = 0 }: WhyMode): Promise<WhyEvent> {
  const { connection, read, run } = pass;
  const { session } = connection;
  const { identity, pointer } = splitField(asked, read.desired);
  const manifests = select(read.desired.manifests, { paths: [], only: [identity], kinds: [], exclude: [] });
  const manifest = manifests.find((one) => one.identity === identity);
  if (manifest === undefined) throw await invalidError(identity, pass);
  const named = manifests.flatMap((one) => [one.identity, parentOf(one.identity, kindsByType) ?? one.identity]);
  const recorded = await session.ledger.recorded(new Set(named));
  const given = {
    server: readAccessOf(session),
    records: { heads: recorded, ledger: session.ledger },
    rules: read.rules,
    run,
  };
  const scope = { ...EVERYTHING, seeksOrphans: false, readsEach: true };
  const observed = await observe({ ...read.desired, manifests, isWhole: false }, { ...given, scope });
  const checks = { creates: "not-needed", guards: null, hasSink: session.sink !== null } as const;
  const livePlan = await planAgainstLive(observed, { ...given, checks });
  const { shape } = requireKind(kindsByType, manifest.kind);
  const valueIn = (value: Json | null | undefined): Json =>
    writtenValueAt(redactManifest(shape, value ?? null), pathIn(shape, value ?? null, pointer)) ?? null;
  const [found, receipt] = [livePlan.observation.live.get(identity), recorded.get(identity)];
  const opened = requireRead(livePlan.waved.find((one) => one.manifest.identity === identity)?.manifest ?? manifest);
  const { value } = opened;
  const ignored = livePlan.decisions.get(identity)?.ignored ?? [];
  const sent = manifestToSend(requireKind(kindsByType, manifest.kind), opened, found, { ignored });
  const { file, line } = await locateField({ manifest, pointer: pointerOf(pathIn(shape, value, pointer)) }, run);
  const answer = {
    identity,
    pointer,
    wanted: { value: valueIn(value), file, line },
    written:
      receipt === undefined
        ? null
        : { value: valueIn(receipt.written), at: timestampText(receipt.at), version: receipt.version },
    live: liveOf(found, valueIn, causeAt(livePlan.decisions.get(identity), pointer)),
  };
  const isNowhere = [answer.wanted, answer.written, answer.live].every((one) => one === null || one.value === null);
  if (pointer !== "" && isNowhere && !(await isRemovedByPatch({ manifest, pointer }, run)))
    throw new HoldfastError("invalid", `${identity} has no field ${pointer}`, {
      hint: "a field is named by its JSON Pointer, such as /replicas, /ports/0/port or /ports/8080:TCP",
    });
  return {
    what: "explained",
    server: session.server,
    revision: commitOf(file, read.desired),
    at: receipt?.at ?? null,
    diagnostics: [],
    content: jsonDigest(sent),
    ...answer,
    ...(pointer === "" ? await whyFields(livePlan, { manifest, value, receipt }, pass) : {}),
    ...(versions === 0 || pointer !== ""
      ? {}
      : { versions: await newestVersions(found, { kind: manifest.kind, most: versions }, pass) }),
  };
}

// Newest first; null where they cannot be read.
async function newestVersions(
  found: Live | undefined,
  { kind, most }: { readonly kind: string; readonly most: number },
  { connection, run }: Pass,
): Promise<readonly ResourceVersion[] | null> {
  if (found?.state !== "present" || found.row.version === undefined) return [];
  const context = { reader: connection.session.reader, signal: run.stopping };
  const rows = await versionsSince(requireKind(kindsByType, kind), { ...found.row, version: 0, limit: most }, context);
  return (
    rows?.slice(0, most).map((row) => {
      const { subject = null, subjectId = null, at = null } = writerIn(row)?.changedBy ?? {};
      return { version: row.version ?? 0, subject, subjectId, at };
    }) ?? null
  );
}

// An item of a list may be named by its key too: what a patch removes has no index that would be the same on all sides.
function pathIn(shape: Shape, value: Json, pointer: string): readonly string[] {
  return pointerTokens(pointerIn(shape, [value], pointerTokens(pointer)));
}

async function isRemovedByPatch(
  { manifest: { kind, patched }, pointer }: { readonly manifest: SourceHead; readonly pointer: string },
  { stopping: signal }: Stoppable,
): Promise<boolean> {
  if (patched === undefined) return false;
  await using exact = new ExactProcess();
  const unpatched = await patched.unpatched({ exact, signal });
  return writtenValueAt(unpatched, pathIn(requireKind(kindsByType, kind).shape, unpatched, pointer)) !== undefined;
}

// A file that is the same in the commit has its lines there, whatever else in the folder differs.
function commitOf(file: string, { revision, changedSince, uncommitted }: Desired): string | null {
  if (revision !== null || changedSince === undefined) return revision;
  return uncommitted?.has(file) === false ? changedSince.commit : null;
}

// The errors of the source were shown when it was read.
async function invalidError(identity: Identity, { connection, read }: Pass): Promise<HoldfastError> {
  const refused = read.desired.refused.filter((one) => one.identity === identity);
  const [outcome] = await invalidOutcomes({ refused }, connection.session);
  if (outcome === undefined) return new HoldfastError("invalid", `${identity} is invalid`, { hint: VALIDATE });
  const { file, error, lastGood = null } = outcome;
  const diagnostics = read.desired.diagnostics.filter((one) => one.file === file && one.severity === "error");
  const message = `${identity} is invalid: ${placeText(outcome)}: ${error?.message ?? ""}`;
  return new HoldfastError("invalid", message, { hint: lastAppliedText(lastGood), diagnostics });
}

const VALIDATE = "holdfast validate says why";

// The longest declared identity counts; the rest is the pointer.
function splitField(asked: string, desired: Desired): { readonly identity: Identity; readonly pointer: string } {
  for (let end = asked.length; end > 0; end = asked.lastIndexOf("/", end - 1)) {
    const identity = asked.slice(0, end);
    if (desired.declared.has(identity)) return { identity, pointer: asked.slice(end) };
  }
  throw undeclared(asked, desired);
}

function undeclared(asked: string, { declared, nameless, diagnostics }: Desired): HoldfastError {
  const near = closestName(asked, [...declared]);
  const mayDeclare = declarersOf(asked, nameless);
  const files = new Set(mayDeclare.map(({ file }) => file));
  const places = mayDeclare.slice(0, MAX_PLACES).map(placeText).join(", ");
  const unread = files.size === 0 ? "" : `; it may be declared where a manifest cannot be read: ${places}`;
  return new HoldfastError("invalid", `${asked} names no resource that the source declares${unread}`, {
    hint: near === undefined ? FORM : `did you mean ${near}?`,
    diagnostics: diagnostics.filter(({ file, severity }) => severity === "error" && file !== null && files.has(file)),
  });
}

const MAX_PLACES = 3;
const FORM = "write an identity such as service/c1:ws1/api, and a field behind it: service/c1:ws1/api/replicas";

type Cause = Decision["differences"][number]["cause"] | null;

function causeAt(decision: Decision | undefined, pointer: string): Cause {
  const differing = decision?.differences.find(({ tokens }) => {
    const path = pointerOf(tokens);
    return path === pointer || path.startsWith(`${pointer}/`) || pointer.startsWith(`${path}/`);
  });
  return differing?.cause ?? null;
}

function liveOf(found: Live | undefined, valueIn: (value: Json) => Json, cause: Cause): WhyEvent["live"] {
  if (found?.state !== "present") return null;
  const { manifest, version = null } = found.row;
  const { subject = null, subjectId = null, at = null } = writerIn(found.row)?.changedBy ?? {};
  return {
    value: valueIn(manifest),
    version,
    subject,
    subjectId,
    at,
    cause,
    isSince: cause === "drift" || cause === "conflict",
  };
}
