import type { PromptVersion } from "../../contract/resources.ts";
import type { Handler } from "../http/call.ts";
import { type Served, serve } from "../http/serve.ts";
import { listVersions } from "./artifact/list-versions.ts";
import { register, type VersionedKind } from "./artifact/register.ts";
import { promptSnippets } from "./artifact/snippet.ts";
import type { VersionBase } from "./artifact/version-rows.ts";

/** Prompts, version by version. */
export const promptKind: VersionedKind<PromptVersion> = { type: "chat_prompt", make: makePrompt };

const putPromptVersion: Handler<"putPromptVersion"> = async (call, context) => ({
  data: await register(promptKind, "putPromptVersion", call, context),
});

const listPromptVersions: Handler<"listPromptVersions"> = ({ principal, query, page }, { store }) =>
  listVersions<PromptVersion>(store.read, principal, promptKind.type, { ...query, artifact_id: query.prompt_id }, page);

/** The operations on prompt versions: 3 and 12. */
export const promptVersions: readonly Served[] = [
  serve("putPromptVersion", putPromptVersion),
  serve("listPromptVersions", listPromptVersions),
];

function makePrompt(base: VersionBase, artifactId: string): PromptVersion {
  const snippets = promptSnippets(base.fqn, base.manifest);
  return {
    ...base,
    prompt_id: artifactId,
    usage_code_snippet: snippets[0]?.code ?? null,
    usage_code_snippets: snippets,
  };
}
