import { isObject, type JsonObject, text } from "../../contract/json.ts";
import type { ListOperation } from "../../contract/operations.ts";
import { type AppliedWrite, type Check, needed, unlessRefused, written } from "./check.ts";
import type { ConformContext } from "./context.ts";
import { NotCheckableError } from "./not-checkable-error.ts";
import { oncePerContext } from "./once-per-context.ts";

/** The names of the prompt and the models that checks write. */
export const VERSIONED = {
  prompt: "holdfast-conform-prompt",
  model: "holdfast-conform-model",
  registered: "holdfast-conform-registered",
  staged: "holdfast-conform-staged",
} as const;

const write = { level: "write", part: "semantics" } as const;

/** The checks of prompts, models and staged versions, by writes of them in the named ml repo. */
export const versionChecks: readonly Check[] = [
  {
    ...{ ...write, check: "prompt", part: "interface", operations: ["putPromptVersion", "listPromptVersions"] },
    asserts: "a write answers {data: {id, fqn, manifest}}, and its version is listed right after it",
    without: "it cannot tell whether its write took effect: the outcome is unknown",
    find: async (context) => unlistedFault("listPromptVersions", (await prompts(context)).first, context),
  },
  {
    ...{ ...write, check: "identical-prompt", operations: ["putPromptVersion"] },
    asserts: "an identical prompt makes no new version",
    without: "a write whose reply was lost may be made twice",
    find: async (context) => {
      const { first, send } = await needed(prompts(context), "the prompt could not be written");
      const again = await send({});
      return versionOf(again) === versionOf(first) ? null : `it makes version ${versionOf(again)}`;
    },
  },
  {
    ...{ ...write, check: "immutable-prompt", operations: ["putPromptVersion"] },
    asserts: "other content at a version that exists is refused with 409",
    without: "versions that others use can be changed under them",
    find: async (context) => {
      const { first, send } = await needed(prompts(context), "the prompt could not be written");
      const messages = [{ role: "system", content: `Another text of ${context.unusedName}` }];
      return unlessRefused(send({ version: versionOf(first), messages }), 409);
    },
  },
  {
    ...{ ...write, check: "model", operations: ["putModelVersion", "listModelVersions"] },
    asserts: "a model version that is put is listed right after it, and put again makes no new one",
    without: "model versions are not written, or their outcome is unknown",
    find: async (context) => {
      const manifest = modelManifest(context, VERSIONED.model);
      const put = (): Promise<AppliedWrite> => written(context, "putModelVersion", { body: { manifest } });
      const first = await needed(put(), "it has no PUT for model versions (E2)");
      const fault = await unlistedFault("listModelVersions", first, context);
      if (fault !== null) return fault;
      const again = await put();
      return versionOf(again) === versionOf(first) ? null : `it makes version ${versionOf(again)} of the same content`;
    },
  },
  {
    ...{ ...write, check: "model-registered", part: "interface", operations: ["postModelVersion"] },
    asserts: "a model version that is posted is answered with an object",
    without: "model versions are written by PUT (E2) alone",
    find: async (context) => {
      await posted(context);
      return null;
    },
  },
  {
    ...{ ...write, check: "model-registers", operations: ["postModelVersion", "listModelVersions"] },
    asserts: "a model version that is posted is listed right after it",
    without: "model versions are written by PUT (E2) alone: on some platforms a POST deletes",
    find: async (context) => {
      await needed(posted(context), "the model could not be posted");
      const { rows } = await versionsNamed(context, VERSIONED.registered);
      return rows.length > 0 ? null : "it lists no version of it";
    },
  },
  {
    ...{ ...write, check: "stage", part: "interface", operations: ["stageArtifactVersion"] },
    asserts: "a version is staged, with {id, storage_root, artifact_id}",
    without: "files of models cannot be uploaded",
    find: async (context) => {
      const { data } = await staged(context);
      const missing = ["id", "storage_root", "artifact_id"].filter((field) => typeof data[field] !== "string");
      return missing.length === 0 ? null : `the reply has no ${missing.join(", ")}`;
    },
  },
  {
    ...{ ...write, check: "idempotency-key", operations: ["stageArtifactVersion"] },
    asserts: "a request with the Idempotency-Key of an earlier one gets its reply, and has no further effect",
    without: "a write whose reply was lost is not sent again: its outcome is unknown, and a one-time token is lost",
    find: async (context) => {
      const first = await needed(staged(context), "nothing could be staged");
      const again = await stage(context);
      return again.data.id === first.data.id ? null : "it stages another version";
    },
  },
  {
    ...{ ...write, check: "stage-failure", part: "interface", operations: ["markStageFailure"] },
    asserts: "a staged version is marked as failed, also repeatedly",
    without: "uploads that were given up stay open",
    find: async (context) => {
      const { data } = await needed(staged(context), "nothing could be staged");
      for (let times = 0; times < 2; times += 1) {
        await written(context, "markStageFailure", { body: { id: data.id ?? "" } });
      }
      return null;
    },
  },
];

function repoOf({ names: { mlRepo } }: ConformContext): string {
  if (mlRepo === null) throw new NotCheckableError("it needs an ml repo: name one with --ml-repo");
  return mlRepo;
}

type Prompts = {
  readonly first: AppliedWrite;
  /** Sends it again with other members. */
  readonly send: (other: JsonObject) => Promise<AppliedWrite>;
};

const prompts = oncePerContext(async (context): Promise<Prompts> => {
  const manifest = {
    type: "chat_prompt",
    name: VERSIONED.prompt,
    ml_repo: repoOf(context),
    // Another one in each run, so that it is a new version.
    messages: [{ role: "system", content: `A check of holdfast conform: ${context.unusedName}` }],
  };
  const send = (other: JsonObject): Promise<AppliedWrite> =>
    written(context, "putPromptVersion", { body: { manifest: { ...manifest, ...other } } });
  return { first: await send({}), send };
});

function modelManifest(context: ConformContext, name: string): JsonObject {
  return {
    type: "model-version",
    name,
    ml_repo: repoOf(context),
    source: { type: "external", uri: `s3://holdfast-conform/${context.unusedName}` },
  };
}

// Some platforms delete by this operation, so it is only sent where there is no version that it could harm.
const posted = oncePerContext(async (context): Promise<AppliedWrite> => {
  const manifest = modelManifest(context, VERSIONED.registered);
  if ((await versionsNamed(context, VERSIONED.registered)).rows.length > 0) {
    throw new NotCheckableError(`${VERSIONED.registered} has a version, which some platforms delete by this operation`);
  }
  return written(context, "postModelVersion", { body: { manifest } });
});

async function versionsNamed(context: ConformContext, name: string) {
  const repo = repoOf(context);
  const repos = await needed(context.page("listMlRepos", { query: { name: repo } }), "the ml repo cannot be read");
  // A control plane may ignore the filter.
  const id = repos.rows.find(({ manifest }) => isObject(manifest) && manifest.name === repo)?.id;
  if (text(id) === undefined) throw new NotCheckableError(`the ml repo ${repo} is not listed`);
  const query = { name, ml_repo_id: text(id) ?? "" };
  return context.page("listModelVersions", { query, limit: 1 });
}

const stage = (context: ConformContext): Promise<AppliedWrite> => {
  const manifest = { type: "artifact-version", name: VERSIONED.staged, ml_repo: repoOf(context) };
  return written(context, "stageArtifactVersion", { body: { manifest }, idempotencyKey: context.unusedName });
};
const staged = oncePerContext(stage);

async function unlistedFault(
  list: ListOperation,
  { data }: AppliedWrite,
  context: ConformContext,
): Promise<string | null> {
  const missing = ["id", "fqn"].filter((field) => typeof data[field] !== "string");
  if (missing.length > 0) return `the reply has no ${missing.join(", ")}`;
  const { rows } = await context.page(list, { query: { fqn: text(data.fqn) ?? "" }, limit: 10 });
  return rows.some(({ id }) => id === data.id) ? null : "it is not listed by its fqn";
}

function versionOf({ data }: AppliedWrite): number {
  const version = isObject(data.manifest) ? data.manifest.version : null;
  if (typeof version !== "number") throw new NotCheckableError("the reply of the write has no version in its manifest");
  return version;
}
