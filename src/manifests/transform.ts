import type { JsonObject } from "../contract/json.ts";
import type { Kind } from "../core/kind.ts";

/** The part of the configuration that says what manifests have and their documents lack. */
export type TransformRules = {
  readonly defaults?: {
    /** The workspace of applications that name none. */
    readonly workspace_fqn?: string | null;
  } | null;
};

/**
 * What stands between a document and the manifest that it declares. A field that a document does not have is reported at
 * its nearest existing parent, or at the start of the document.
 */
export type Transform = {
  /**
   * Everything that a manifest depends on apart from its document; empty if there is nothing. What an earlier pass knows of a
   * document or of its manifest holds only with the same key.
   */
  readonly key: string;
  /** The manifest that a document of a kind declares. */
  readonly manifestOf: (kind: Kind, document: JsonObject) => JsonObject;
};

/** The transform of a source with these rules. */
export function transformOf({ defaults }: TransformRules): Transform {
  const workspace = defaults?.workspace_fqn ?? null;
  return {
    key: workspace === null ? "" : JSON.stringify({ workspace }),
    manifestOf: (kind, document) => withDefaultWorkspace(kind, withoutSchema(document), workspace),
  };
}

// `$schema` tells an editor how to check a document. Few have one, and a copy of each would take long.
function withoutSchema(document: JsonObject): JsonObject {
  if (typeof document.$schema !== "string") return document;
  const { $schema: _, ...value } = document;
  return value;
}

function withDefaultWorkspace({ takesWorkspace }: Kind, value: JsonObject, workspace: string | null): JsonObject {
  if (workspace === null || !takesWorkspace || (value.workspace_fqn ?? null) !== null) return value;
  return { ...value, workspace_fqn: workspace };
}
