import type { JsonObject } from "../contract/json.ts";
import type { Kind } from "../core/kind.ts";
import { readAgain } from "./again.ts";
import type { Declaration } from "./declaration.ts";
import type { FileContent } from "./declare.ts";
import type { Limits } from "./limits.ts";
import type { RememberedContent, RememberedDeclaration } from "./remembered.ts";
import type { SourceFile } from "./revision.ts";

/** What recalling needs to know. */
export type Recalling = { readonly kindOf: (type: string) => Kind | undefined; readonly limits: Limits };

/**
 * What a file contributes, by what is remembered of the same content; its manifests, unless they are given as JSON, are
 * read when first looked at.
 */
export function recall(
  file: SourceFile,
  { declarations, unmanaged }: RememberedContent,
  on: Recalling,
  values: readonly string[] = [],
): FileContent {
  const again = readAgain(file, on.limits);
  const recalled = declarations.map((one, nth): Declaration => {
    const readValue = valueReader(values[nth], () => again.value(one.index));
    const { type, identity, key, references, index, line, meaning } = one;
    return {
      kind: kindFor(one, on),
      type,
      identity,
      key,
      get value() {
        return readValue();
      },
      references,
      file,
      index,
      line,
      locate: again.locate(index, line),
      isSound: true,
      meaning,
    };
  });
  return { declarations: recalled, unmanaged, isReadable: true };
}

function valueReader(json: string | undefined, read: () => JsonObject): () => JsonObject {
  if (json === undefined) return read;
  let given: string | null = json;
  let value: JsonObject | undefined;
  return () => {
    // Either of them is enough to hold.
    value ??= JSON.parse(given ?? "") as JsonObject;
    given = null;
    return value;
  };
}

function kindFor({ type }: RememberedDeclaration, { kindOf }: Recalling): Kind {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`a manifest of no kind was remembered: ${type}`);
  return kind;
}
