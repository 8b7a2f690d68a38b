import type { ChatPromptManifest } from "../contract/generated/manifests.ts";
import type { Kind } from "../core/kind.ts";
import { registryKind, registryRow as row } from "../core/registry-kind.ts";

/** A chat prompt: numbered versions whose content never changes. */
export const kind: Kind = registryKind<ChatPromptManifest>("chat_prompt", "listPromptVersions", {
  writeRoutes: [{ operation: "putPromptVersion", row }],
});
