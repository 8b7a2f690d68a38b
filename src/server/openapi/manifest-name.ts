/** Name of a manifest's schema in the document. */
export function manifestName(type: string): string {
  return `${pascal(type)}Manifest`;
}

/** `chat_prompt` and `chat-prompt` as `ChatPrompt`. */
export function pascal(name: string): string {
  return name
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
