import type { Transaction } from "kysely";
import type { MlRepo, ModelVersion, PromptVersion } from "../../../contract/generated/resources.ts";
import { shapes } from "../../../contract/generated/shapes.ts";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import type { Shape } from "../../../contract/manifest-shape.ts";
import type { OperationName } from "../../../contract/operations.ts";
import { withoutSignature } from "../../../contract/staged-files.ts";
import { conflict, unprocessable } from "../../../http/http-error.ts";
import { checkSemantics } from "../../../schema/check-semantics.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordChange } from "../../database/audit.ts";
import { markChanged } from "../../database/digests.ts";
import { type JsonText, toText } from "../../database/json-text.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import { checkResourceSize } from "../../http/reply-size.ts";
import { comparableText, versionContent } from "../../manifest/put-declared.ts";
import {
  errorDetails,
  requiredName,
  requiredText,
  requireValidManifest,
} from "../../manifest/require-valid-manifest.ts";
import { countInRepo, requireWritableRepo } from "../ml-repo.ts";
import { completeStage } from "../staged-artifact/resource.ts";
import {
  type FoundArtifact,
  findArtifact,
  insertArtifact,
  type RegistryKey,
  type RegistryType,
  registryTypes,
  touchArtifact,
  versionFqn,
  versionIdentity,
} from "./rows.ts";
import {
  findVersion,
  insertVersionRow,
  releaseAlias,
  runExists,
  updateVersionRow,
  type VersionBase,
} from "./version-rows.ts";

/** A kind with numbered, immutable versions. */
export type VersionedKind<Version extends ModelVersion | PromptVersion> = {
  readonly type: RegistryType;
  readonly make: (base: VersionBase, artifactId: string) => Version;
};

/** A write in its transaction. */
type Write<Version extends ModelVersion | PromptVersion> = {
  readonly kind: VersionedKind<Version>;
  readonly transaction: Transaction<Tables>;
  readonly principal: Principal;
  readonly manifest: JsonObject;
  readonly place: RegistryKey;
  readonly repo: Stored<MlRepo>;
  readonly context: Context;
  readonly now: string;
};

type Outcome<Version> = {
  readonly resource: Version;
  readonly version: number;
  readonly isEffect: boolean;
  /** The manifest of the version that it follows or replaces. */
  readonly before: JsonObject | null;
};

/** What is compared of a version: its content, and its manifest without the number, both as text in normal form. */
type Compared = { readonly content: string; readonly manifest: string };

/** A stored version. */
export type VersionRow = Compared & { readonly version: number };

/** The decision on a write of a versioned manifest. */
export type VersionDecision<Stored extends VersionRow> =
  | { readonly decision: "create"; readonly version: number }
  /** The content is equal, but a field that may change in place differs. */
  | { readonly decision: "update"; readonly existing: Stored }
  | { readonly decision: "keep"; readonly existing: Stored }
  /** The content differs, but versions are immutable. */
  | { readonly decision: "conflict"; readonly version: number }
  /** The number is higher than the next one. */
  | { readonly decision: "gap"; readonly next: number };

/** Creates a version, updates one in place, or keeps it, by the rules of versions. */
export async function registerVersion<Version extends ModelVersion | PromptVersion>(
  kind: VersionedKind<Version>,
  operation: OperationName,
  { principal, body }: { readonly principal: Principal; readonly body: { readonly manifest: JsonObject } },
  context: Context,
): Promise<JsonText<Version>> {
  const manifest = requireValidManifest(context, [kind.type], withPlainSource(body.manifest));
  const place = { type: kind.type, repo: requiredText(manifest, "ml_repo"), name: requiredName(manifest) };
  return context.store.write(async (transaction) => {
    const repo = await requireWritableRepo(
      transaction,
      principal,
      manifest,
      errorDetails(checkSemantics(kind.type, manifest)),
      context,
    );
    const write = { kind, transaction, principal, manifest, place, repo, context, now: timestamp(context) };
    const { resource, version, isEffect, before } = await carryOut(write);
    const changed = { before, after: manifest };
    const effect = { principal, operation, resource: versionIdentity(place, version), changed };
    if (isEffect) await recordChange(transaction, context, effect);
    return checkResourceSize(toText(resource));
  });
}

/** A manifest without the signature of the address under which its files were staged, since whoever reads it would get it. */
function withPlainSource(manifest: JsonObject): JsonObject {
  const { source } = manifest;
  if (!isObject(source) || typeof source.uri !== "string") return manifest;
  return { ...manifest, source: { ...source, uri: withoutSignature(source.uri) } };
}

async function carryOut<Version extends ModelVersion | PromptVersion>(
  write: Write<Version>,
): Promise<Outcome<Version>> {
  const { kind, transaction, manifest, place, repo } = write;
  const artifact = await findArtifact(transaction, repo.id, place);
  const shape: Shape = shapes[place.type] ?? { is: "free" };
  const version = typeof manifest.version === "number" ? manifest.version : null;
  const newest = await findStored(transaction, shape, artifact, artifact?.newest ?? null);
  const numbered = await findStored(transaction, shape, artifact, version);
  const decision = decideVersion({ version, ...compared(shape, manifest) }, { newest, numbered });
  switch (decision.decision) {
    case "create":
      return {
        ...(await create(write, artifact ?? (await newArtifact(write)), decision.version)),
        before: newest?.base.manifest ?? null,
      };
    case "update":
      return { ...(await update(write, decision.existing)), before: decision.existing.base.manifest };
    case "keep": {
      const { base, artifact: existing } = decision.existing;
      const { version: kept } = decision.existing;
      return { resource: kind.make(base, existing.id), version: kept, isEffect: false, before: base.manifest };
    }
    case "conflict":
      throw conflict("version-immutable", `version ${decision.version} has other content, and versions never change`);
    case "gap":
      throw unprocessable([
        { pointer: "/version", message: `is too far ahead, the next is ${decision.next}`, code: "version-gap" },
      ]);
  }
}

/** A stored version, prepared for the comparison. */
type Found = VersionRow & { readonly base: VersionBase; readonly artifact: FoundArtifact };

async function findStored(
  transaction: Transaction<Tables>,
  shape: Shape,
  artifact: FoundArtifact | null,
  version: number | null,
): Promise<Found | null> {
  if (artifact === null || version === null) return null;
  const base = await findVersion(transaction, artifact.id, version);
  return base && { version, base, artifact, ...compared(shape, base.manifest) };
}

async function create<Version extends ModelVersion | PromptVersion>(
  write: Write<Version>,
  artifact: FoundArtifact,
  version: number,
): Promise<Omit<Outcome<Version>, "before">> {
  const { kind, transaction, principal, manifest, place, repo, context, now } = write;
  const base: VersionBase = {
    id: (await completeStage(transaction, manifest, artifact.id, context)) ?? context.newId(),
    fqn: versionFqn(place, version),
    ml_repo_id: repo.id,
    created_by_subject: principal.subject,
    created_at: now,
    updated_at: now,
    manifest: { ...manifest, version },
    tags: [],
  };
  const resource = kind.make(base, artifact.id);
  await moveAlias(write, artifact.id, base.id);
  await insertVersion(transaction, repo, artifact, { ...place, version }, resource);
  return { resource, version, isEffect: true };
}

/** Inserts a new version, and updates its artifact and the counts of its repo. */
export async function insertVersion(
  transaction: Transaction<Tables>,
  repo: Stored<MlRepo>,
  artifact: FoundArtifact,
  place: RegistryKey & { readonly version: number },
  resource: ModelVersion | PromptVersion,
): Promise<void> {
  const addition = await additionOf(transaction, artifact, resource.manifest, place);
  await insertVersionRow(transaction, artifact.id, place, resource);
  await touchArtifact(transaction, artifact, place.version, resource.updated_at);
  await countInRepo(transaction, repo, addition);
}

async function update<Version extends ModelVersion | PromptVersion>(
  write: Write<Version>,
  { base, version, artifact }: Found,
): Promise<Omit<Outcome<Version>, "before">> {
  const { kind, transaction, manifest, now } = write;
  const changed = { ...base, manifest: { ...manifest, version }, updated_at: now };
  const resource = kind.make(changed, artifact.id);
  await moveAlias(write, artifact.id, base.id);
  await updateVersionRow(transaction, resource);
  await touchArtifact(transaction, artifact, version, now);
  return { resource, version, isEffect: true };
}

// The version that had the alias changes too.
async function moveAlias<Version extends ModelVersion | PromptVersion>(
  { transaction, manifest, place, now, context }: Write<Version>,
  artifactId: string,
  newOwner: string,
): Promise<void> {
  const changed = await releaseAlias(transaction, artifactId, { alias: aliasOf(manifest), newOwner, now });
  for (const version of changed) await markChanged(transaction, versionIdentity(place, version), context);
}

function newArtifact<Version extends ModelVersion | PromptVersion>(write: Write<Version>): Promise<FoundArtifact> {
  const { transaction, repo, place, principal, context, now } = write;
  return insertArtifact(transaction, repo, place, principal.subject, { id: context.newId(), now });
}

async function additionOf(
  transaction: Transaction<Tables>,
  { newest, ml_repo_id }: FoundArtifact,
  manifest: JsonObject,
  { type }: RegistryKey,
) {
  const run = text(manifest.run_id);
  const isNewRun = run !== undefined && !(await runExists(transaction, ml_repo_id, run));
  return { artifactType: newest === 0 ? registryTypes[type] : null, isNewRun };
}

function aliasOf(manifest: JsonObject): string | null {
  return text(manifest.version_alias) ?? null;
}

function compared(shape: Shape, { version: _, ...manifest }: JsonObject): Compared {
  return { content: versionContent(shape, manifest), manifest: comparableText(shape, manifest) };
}

/** Decides a write, which has no number when the server chooses it, from the newest version and the one with the requested number, each null when absent. */
export function decideVersion<Stored extends VersionRow>(
  wanted: Compared & { readonly version: number | null },
  { newest, numbered }: { readonly newest: Stored | null; readonly numbered: Stored | null },
): VersionDecision<Stored> {
  const next = (newest?.version ?? 0) + 1;
  if (wanted.version === null) {
    return newest?.content === wanted.content ? inPlace(wanted, newest) : { decision: "create", version: next };
  }
  if (wanted.version > next) return { decision: "gap", next };
  if (numbered === null && wanted.version === next) return { decision: "create", version: next };
  if (numbered?.content !== wanted.content) return { decision: "conflict", version: wanted.version };
  return inPlace(wanted, numbered);
}

function inPlace<Stored extends VersionRow>(wanted: Compared, existing: Stored): VersionDecision<Stored> {
  return { decision: existing.manifest === wanted.manifest ? "keep" : "update", existing };
}
