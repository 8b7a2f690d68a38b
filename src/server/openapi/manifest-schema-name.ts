// Of these the interface has tables of its own, as addons answer them.
const replies: readonly string[] = ["HelmManifest"];

/** Name of a manifest's schema in the document; a reply of the interface keeps its name for itself. */
export function manifestSchemaName(type: string): string {
  const name = `${pascalCase(type)}Manifest`;
  return replies.includes(name) ? `Declared${name}` : name;
}

/** `chat_prompt` and `chat-prompt` as `ChatPrompt`. */
export function pascalCase(name: string): string {
  return name
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
