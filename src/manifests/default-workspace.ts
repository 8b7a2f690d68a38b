import type { JsonObject } from "../contract/json.ts";
import type { Kind } from "../core/kind.ts";

/** The manifest with the default workspace, where its kind takes one and its own names none; never in place of its own. */
export function withDefaultWorkspace(
  { takesWorkspace }: Kind,
  value: JsonObject,
  { defaultWorkspace }: { readonly defaultWorkspace: string | null },
): JsonObject {
  if (defaultWorkspace === null || !takesWorkspace || (value.workspace_fqn ?? null) !== null) return value;
  return { ...value, workspace_fqn: defaultWorkspace };
}
