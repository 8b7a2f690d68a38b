import type { PromptVersion } from "../../contract/generated/resources.ts";
import { text } from "../../contract/json.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import { refTo } from "../openapi/json-schema.ts";
import { VERSION_DESCRIPTION } from "../openapi/operation-description.ts";
import type { ResourceDefinition } from "../resource.ts";
import { seedVersions } from "../seed/seed-rule.ts";
import { snapshotPart } from "../snapshot/snapshot-part.ts";
import { promptSnippets } from "./artifact/code-snippets.ts";
import { registerVersion, type VersionedKind } from "./artifact/register-version.ts";
import { copyVersion } from "./artifact/snapshot.ts";
import { listVersions, type VersionBase } from "./artifact/version-rows.ts";
import { repoScope } from "./ml-repo.ts";

/** Versions of prompts. */
const promptKind: VersionedKind<PromptVersion> = { type: "chat_prompt", make: makePrompt };

const putPromptVersion: Handler<"putPromptVersion"> = async (call, context) => ({
  data: await registerVersion(promptKind, "putPromptVersion", call, context),
});

const listPromptVersions: Handler<"listPromptVersions"> = ({ principal, query, page }, { store }) =>
  listVersions<PromptVersion>(store.read, principal, promptKind.type, { ...query, artifact_id: query.prompt_id }, page);

/** The operations on prompt versions: 3 and 12. */
export const resource: ResourceDefinition = {
  section: { name: "Prompt versions", description: "Versions of prompts." },
  operations: [
    defineOperation("putPromptVersion", putPromptVersion, {
      scope: ({ manifest }) => repoScope(text(manifest.ml_repo)),
      description: VERSION_DESCRIPTION,
      replySchema: "PromptVersion",
      manifest: { $ref: refTo("ChatPromptManifest") },
    }),
    defineOperation("listPromptVersions", listPromptVersions, {
      description: "Newest first.",
      replySchema: "PromptVersion",
      parameters: {
        tag: { description: "Only those with this tag", example: "stable" },
        prompt_id: { description: "Only versions of this prompt", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
        ml_repo_id: { description: "Only those in this ml repo", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
        version: { description: "Only this version", example: 3 },
      },
    }),
  ],
  seeds: { chat_prompt: seedVersions("putPromptVersion", "listPromptVersions", "chat_prompt") },
  snapshot: [
    snapshotPart("chat_prompt", {
      rows: "promptVersions",
      operation: "putPromptVersion",
      after: ["ml-repo"],
      copy: copyVersion(promptKind),
    }),
  ],
};

function makePrompt(base: VersionBase, artifactId: string): PromptVersion {
  const snippets = promptSnippets(base.fqn, base.manifest);
  const [first] = snippets;
  return {
    ...base,
    prompt_id: artifactId,
    ...(first !== undefined && { usage_code_snippet: first.code }),
    usage_code_snippets: snippets,
  };
}
