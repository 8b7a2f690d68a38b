import type { RegistryOnly } from "../../contract/generated/output.ts";
import { splitIdentity } from "../../core/manifest.ts";
import { codeElement } from "./code-markup.ts";
import type { MarkdownBlock } from "./fit-markdown.ts";

const HEADING = "#### Held by the registry alone\n\nNo manifest declares these; Holdfast never deletes.";

/** What the registry alone holds, as the last block of a report; empty where there is nothing. */
export function registryOnlyBlocks(kinds: readonly RegistryOnly[] = []): readonly MarkdownBlock[] {
  if (kinds.length === 0) return [];
  const groups = kinds.map(({ kind, count, identities }) => {
    const rows = identities.map((identity) => `<p>${codeElement(splitIdentity(identity).key)}</p>`);
    if (count === null) return { title: `${codeElement(kind)}: not known`, rows: ["They could not be listed."] };
    const cut = count > rows.length ? `, of which ${rows.length} are named` : "";
    return { title: `${codeElement(kind)}: ${count}${cut}`, rows };
  });
  return [{ heading: HEADING, groups }];
}
