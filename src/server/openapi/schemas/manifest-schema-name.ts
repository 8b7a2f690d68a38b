// The interface prescribes these names for schemas in replies.
const replies: readonly string[] = ["HelmManifest"];

/** The name of a manifest's schema in the document; names of reply schemas are not used. */
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
