import type { JsonObject } from "../../contract/json.ts";
import type {
  Artifact,
  MlRepo,
  ModelVersion,
  PromptVersion,
  StagedArtifact,
  Subject,
  Timestamp,
} from "../../contract/resources.ts";
import { accountId, tenantName } from "./common-resources.ts";
import {
  always,
  boolean,
  either,
  type Fields,
  free,
  id,
  integer,
  list,
  moment,
  named,
  nullable,
  number,
  object,
  text,
} from "./form.ts";

const owner: Fields<{ readonly created_by_subject: Subject }> = {
  created_by_subject: named<Subject>("Subject", "Who made it"),
};

const snakeStamps: Fields<{ readonly created_at: Timestamp; readonly updated_at: Timestamp }> = {
  created_at: moment("When it was made"),
  updated_at: moment("When it last changed"),
};

const repoId = id("ml repo");
const tags = list("Always empty: no operation sets tags", text("A tag", "stable"));

/** An ml repo. */
export const mlRepo = object<MlRepo>("A repository of models, prompts and runs", {
  id: nullable(id("ml repo; null in the rehearsal of a new one")),
  tenant_name: tenantName,
  account_id: accountId,
  manifest: named<JsonObject>("MlRepoManifest", "What was declared, defaults included"),
  created_at: moment("When it was made"),
  num_runs: integer("Runs in it", 0, { minimum: 0 }),
  datasets_count: integer("Data sets in it", 0, { minimum: 0 }),
  artifact_type_counts: free("Artifacts of each type in it", { model: 1, chat_prompt: 2 }),
  ...owner,
});

/** A model version. */
export const modelVersion = object<ModelVersion>("One version of a model", {
  id: id("version"),
  fqn: text("model:tenant/repo/name:version", "model:holdfast/ranking/ranker:3"),
  ml_repo_id: repoId,
  usage_code_snippet: nullable(text("Code that fetches it", "holdfast_client.get_model(…)")),
  manifest: named<JsonObject>("ModelVersionManifest", "What was declared, defaults and its version number included"),
  tags,
  model_id: id("model"),
  metrics: list(
    "What was measured",
    object("One measurement", {
      key: text("What was measured", "ndcg_at_10"),
      value: number("The value", 0.412),
      timestamp: number("When", 1_795_253_400_000, { "x-unit": "epoch milliseconds" }),
      step: integer("Step of the run", 1),
    }),
  ),
  deployable: boolean("Whether a service can be made of it", true),
  ...owner,
  ...snakeStamps,
});

/** A prompt version. */
export const promptVersion = object<PromptVersion>("One version of a prompt", {
  id: id("version"),
  fqn: text("chat_prompt:tenant/repo/name:version", "chat_prompt:holdfast/support/support-answer:1"),
  ml_repo_id: repoId,
  usage_code_snippet: nullable(text("Code that uses it", "curl …")),
  manifest: named<JsonObject>("ChatPromptManifest", "What was declared, defaults and its version number included"),
  tags,
  prompt_id: id("prompt"),
  usage_code_snippets: list(
    "Code that uses it, in several languages",
    object("One snippet", {
      display_name: text("Name of the language or library for people", "Python"),
      language: text("Language of the code", "python"),
      libraries: list("Libraries that the code needs", text("A library", "requests")),
      code: text("The code", "import requests"),
    }),
  ),
  ...owner,
  ...snakeStamps,
});

/** An artifact. */
export const artifact = object<Artifact>("A model, prompt or plain artifact: what its versions are versions of", {
  id: id("artifact: `artifact_id`, `model_id` or `prompt_id` of its versions"),
  ml_repo_id: repoId,
  name: text("Name, unique in the ml repo", "ranker"),
  fqn: text("type:tenant/repo/name", "model:holdfast/ranking/ranker"),
  type: text("What it is", "artifact"),
  latest_version: nullable(
    either(
      "Its newest version",
      named<ModelVersion>("ModelVersion", "Of a model"),
      named<PromptVersion>("PromptVersion", "Of a prompt"),
    ),
  ),
  run_steps: list("Steps of runs that made versions", integer("A step", 1)),
  ...owner,
  ...snakeStamps,
});

/** A staged artifact version. */
export const stagedArtifact = always(
  object<StagedArtifact>("Room for the files of a version that is not registered yet", {
    id: id("version to be"),
    storage_root: text("URI under which its files belong", "file:///var/lib/holdfast/artifacts/019aa2c4"),
    artifact_id: id("artifact"),
  }),
);
