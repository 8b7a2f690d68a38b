/** The text that outputs show in place of a value that could be a secret. */
export const MASK = "(sensitive)";

/** The same for the newer of two values that differ. */
export const CHANGED_MASK = "(sensitive, changed)";

const CREDENTIAL_VALUES = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bA[KS]IA[0-9A-Z]{16}\b/,
  // Distinctive enough to match inside other letters.
  /gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22}/,
  /\bglpat-[A-Za-z0-9_-]{20,}/,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/,
  /\bAIza[A-Za-z0-9_-]{35}\b/,
  // Public keys of hardware tokens have types such as `sk-ecdsa-sha2-nistp256-cert-v01@openssh.com`.
  /\bsk-(?!(?:ssh|ecdsa)-)[A-Za-z0-9_-]{20,}/,
  /\bsk_live_[A-Za-z0-9]{20,}/,
  /\bhf_[A-Za-z0-9]{30,}\b/,
  /\bnpm_[A-Za-z0-9]{36}\b/,
  /\bpypi-[A-Za-z0-9_-]{50,}/,
  /\bAGE-SECRET-KEY-1[0-9A-Z]{50,}/,
  // The match starts at the first dot: starting at the beginning would take quadratic time on repeated prefixes.
  /(?<=\beyJ[A-Za-z0-9_-]{8,})\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+/,
  // The URL of such a webhook is enough to post to it.
  /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/]{20,}/,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{15,20}\/[\w-]{30,}/,
  /\.webhook\.office\.com\/webhookb2\/[\w@-]{36,}/,
  /[?&](?:access_)?token=[\w-]{16,}/,
] as const;

/** No known credential is shorter than this. */
export const SHORTEST_CREDENTIAL = 15;

// A single regular expression, because every text of every manifest is checked.
const CREDENTIAL = new RegExp(CREDENTIAL_VALUES.map(({ source }) => source).join("|"));

/** Whether a text is in a known credential format: private keys, cloud keys, forge tokens, JWTs. */
export function isCredential(value: string): boolean {
  return CREDENTIAL.test(value);
}

/** A text with its credentials replaced by the mask. */
export function redactCredentials(text: string): string {
  return isCredential(text) ? text.replaceAll(new RegExp(CREDENTIAL, "g"), MASK) : text;
}
