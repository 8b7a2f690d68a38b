import type { RegistryOnly } from "../contract/generated/output.ts";
import { splitIdentity } from "../core/manifest.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { wrapWords } from "./wrap.ts";

/** The number of identities that a text names of each kind. */
const MAX_NAMED = 3;

/** What the registry alone holds, one text for each kind, which names at most so many. */
export function registryOnlyTexts(kinds: readonly RegistryOnly[], most = MAX_NAMED): readonly string[] {
  return kinds.map(({ kind, count, identities }) => {
    if (count === null) return `${kind}: not known, since they could not be listed`;
    const names = identities.slice(0, most).map((identity) => printable(splitIdentity(identity).key));
    return `${count} ${kind}: ${names.join(", ")}${count > names.length ? ", …" : ""}`;
  });
}

/** The same as a section of a report; empty where there is nothing. */
export function registryOnlyLines(
  kinds: readonly RegistryOnly[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  if (kinds.length === 0) return [];
  const title = "Held by the registry alone: no manifest declares it; Holdfast never deletes";
  return [
    ...wrapWords(title, { indent: "", width }),
    ...registryOnlyTexts(kinds).flatMap((text) => wrapWords(text, { indent: "  ", nextIndent: "    ", width })),
  ].map((line) => paint("dim", line));
}
