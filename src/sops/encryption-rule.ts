import type { RE2JS } from "re2js";
import { SopsError } from "./sops-error.ts";

/** Which values of a file are encrypted, by the keys on the way to them. At most one is set. */
export type EncryptionRule = {
  readonly unencryptedSuffix?: string;
  readonly encryptedSuffix?: string;
  readonly unencryptedRegex?: string;
  readonly encryptedRegex?: string;
};

/** What SOPS uses where a file or a rule sets none. */
export const DEFAULT_RULE: EncryptionRule = { unencryptedSuffix: "_unencrypted" };

/** Whether the value below these keys is encrypted. */
export type IsEncrypted = (keys: readonly string[]) => boolean;

/** Compiles a rule; `file` is where it stands, for messages. */
export async function compileRule(rule: EncryptionRule, file: string): Promise<IsEncrypted> {
  const { unencryptedSuffix, encryptedSuffix, unencryptedRegex, encryptedRegex } = rule;
  if (encryptedSuffix !== undefined) return (keys) => keys.some((key) => key.endsWith(encryptedSuffix));
  if (unencryptedSuffix !== undefined) return (keys) => !keys.some((key) => key.endsWith(unencryptedSuffix));
  if (encryptedRegex !== undefined) return anyKey(await compileRegex(encryptedRegex, "encrypted_regex", file));
  if (unencryptedRegex === undefined) return compileRule(DEFAULT_RULE, file);
  const isUnencrypted = anyKey(await compileRegex(unencryptedRegex, "unencrypted_regex", file));
  return (keys) => !isUnencrypted(keys);
}

function anyKey(pattern: RE2JS): IsEncrypted {
  return (keys) => keys.some((key) => pattern.matcher(key).find());
}

/**
 * Compiles a regular expression of SOPS. They come from repositories: RE2, the engine of SOPS itself, takes time in
 * proportion to the text, where that of JavaScript could take for ever.
 */
export async function compileRegex(text: string, field: string, file: string): Promise<RE2JS> {
  const { RE2JS } = await import("re2js");
  try {
    return RE2JS.compile(text);
  } catch {
    throw new SopsError("malformed", `${file}: \`${field}\` is no regular expression`, "write it as RE2 has it");
  }
}
