// src/server/seed: the resources that a new control plane begins with. See docs/control-plane.md#running-it.

import { join } from "node:path";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { ensureOwnFolder } from "../../files/own-folder.ts";
import { replaceFile } from "../../files/write-file.ts";
import { HttpError } from "../../http/http-error.ts";
import { redactCredentials } from "../../model/credential.ts";
import type { Context } from "../context.ts";
import { notImplemented, type ServedOperation } from "../http/define-operation.ts";
import type { SeedDocument } from "../options.ts";
import type { ResourceDefinition } from "../resource.ts";
import { type CallOperation, type SeedRule, seedPrincipal } from "./seed-rule.ts";

/** A document that needs another one to be created first. */
type Waiting = { readonly document: SeedDocument; readonly refusal: HttpError };

const CORRECT = "correct it and start again; what was created before it stays";

/**
 * Creates the resources of manifests that are absent; existing ones are not changed. A manifest with references that do
 * not exist yet is tried again in the next round, so that the order follows from the references.
 */
export async function seed(
  documents: readonly SeedDocument[],
  resources: readonly ResourceDefinition[],
  context: Context,
): Promise<void> {
  const served = resources.flatMap(({ operations }) => operations);
  const call = createCaller(served, context);
  const seedings = new Map(resources.flatMap(({ seeds = {} }) => Object.entries(seeds)));
  let pending = documents;
  let created = 0;
  while (pending.length > 0) {
    const waiting: Waiting[] = [];
    for (const document of pending) {
      const outcome = await seedDocument(document, seedings, call, context);
      if (outcome instanceof HttpError) waiting.push({ document, refusal: outcome });
      else if (outcome === "created") created += 1;
    }
    if (waiting.length > 0 && waiting.length === pending.length) throw stuck(waiting);
    pending = waiting.map(({ document }) => document);
  }
  context.log.info({ event: "seeded", created }, "seeded");
}

function createCaller(served: readonly ServedOperation[], context: Context): CallOperation {
  return async (name, { body, fqn }) => {
    const operation = served.find((candidate) => candidate.name === name);
    if (operation === undefined) throw notImplemented(name);
    const query = new Map(fqn === undefined ? [] : [["fqn", [fqn]]]);
    const pieces = await operation.run({ principal: seedPrincipal, path: {}, query, body }, context);
    return JSON.parse(pieces.join(""));
  };
}

/** Creates one document's resource; returns the error when it has to wait for another one. */
async function seedDocument(
  document: SeedDocument,
  seedings: ReadonlyMap<string, SeedRule>,
  call: CallOperation,
  context: Context,
): Promise<"created" | "exists" | HttpError> {
  const { manifest, place } = document;
  const type = text(manifest.type) ?? "";
  const seeding = seedings.get(type);
  if (seeding === undefined) {
    context.log.warn(
      { event: "not-seeded", place, type: redactCredentials(type) },
      "not seeded: this type is not managed",
    );
    return "exists";
  }
  try {
    return await createIfAbsent(seeding, manifest, call, context);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (!mayWait(error)) throw refused(document, error);
    return error;
  }
}

async function createIfAbsent(
  { operation, exists, prepare }: SeedRule,
  manifest: JsonObject,
  call: CallOperation,
  context: Context,
): Promise<"created" | "exists"> {
  await prepare?.(manifest, context);
  if (await exists(manifest, call)) return "exists";
  const reply = await call(operation, { body: { manifest } });
  const token = isObject(reply) ? text(reply.token) : undefined;
  if (token !== undefined) writeToken(context, text(manifest.name) ?? "", token);
  return "created";
}

// An existing file belongs to an account that does not exist any more.
function writeToken({ folder }: Context, name: string, token: string): void {
  ensureOwnFolder(join(folder, "tokens"));
  replaceFile(join(folder, "tokens", name), `${token}\n`, { durable: true });
}

function mayWait({ status, details }: HttpError): boolean {
  return status === 422 && details.length > 0 && details.every(({ code }) => WAITING.includes(code));
}

// Errors that another document may resolve: a missing reference, or the previous version.
const WAITING: readonly string[] = ["dangling-reference", "version-gap"];

function stuck(waiting: readonly Waiting[]): SeedError {
  const reasons = waiting.slice(0, MAX_REASONS).map(({ document, refusal }) => refused(document, refusal).message);
  const more = waiting.length > MAX_REASONS ? [`and ${waiting.length - MAX_REASONS} more`] : [];
  return new SeedError([...reasons, ...more].join("; "), { hint: COMPLETE });
}

const MAX_REASONS = 5;
const COMPLETE =
  "each reference must name an existing resource or one in the folder; secrets come from a manifest of type secret-group";

function refused({ place }: SeedDocument, { message }: HttpError): SeedError {
  return new SeedError(`${place}: ${message}`);
}

/** A seed that failed: which document, why, and what to do. */
export class SeedError extends Error {
  override readonly name = "SeedError";
  readonly hint: string;

  constructor(message: string, { hint = CORRECT, cause }: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.hint = hint;
  }
}
