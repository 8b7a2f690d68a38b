import type { SourceDiagnostic } from "../core/other-documents.ts";
import { ANNEX_TARGET, fileDiagnostic, POINTER } from "../source/file-diagnostic.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { decodeRoughly } from "../yaml/decode-text.ts";
import type { ParsedFile } from "../yaml/document.ts";
import { claimsType } from "./claims-type.ts";
import { isPlanText } from "./detect-manifest.ts";

/**
 * What a file above the size limit is: a report that Holdfast wrote, a manifest if its text names a claimed type, or
 * another document. Null if the file is within the limit.
 */
export function detectOversize(
  { size }: SourceFile,
  bytes: Uint8Array,
  { fileBytes }: Limits,
  claims: (text: string) => boolean = claimsType,
): "report" | "manifest" | "other" | null {
  if (size <= fileBytes) return null;
  const text = decodeRoughly(bytes);
  if (isPlanText(text)) return "report";
  return claims(text) ? "manifest" : "other";
}

/** Whether a file that is not text, or has a fault as a whole, names a claimed type. */
export function claimsFile(
  bytes: Uint8Array,
  { text }: ParsedFile,
  claims: (text: string) => boolean = claimsType,
): boolean {
  // UTF-16 without a mark is UTF-8 with NUL characters.
  return claims(text === "" || text.includes("\0") ? decodeRoughly(bytes) : text);
}

/** A format that stands in place of a whole file, by how it begins. */
type Envelope = { readonly code: string; readonly summary: string; readonly beginning: RegExp };

// Written by filters of git, which are not run on a commit: the checkout of a user may show a manifest instead.
const ENVELOPES: readonly Envelope[] = [
  pointer("lfs-pointer", "a Git LFS pointer", /^version https?:\/\/(?:git-lfs|hawser)\.github\.com\/spec\//),
  pointer("lfs-pointer", "a Git LFS pointer", /^version http:\/\/git-media\.io\/v\//),
  // Without symbolic links, git checks out the target of one as a text.
  pointer(POINTER.code, "a git-annex pointer", ANNEX_TARGET),
  pointer("pointer", "a git-xet pointer", /^# xet version \d/),
  pointer("pointer", "a git-fat pointer", /^#\$# git-fat [0-9a-f]{40} /),
  pointer("pointer", "a git-bigstore pointer", /^bigstore\n/),
  encrypted("git-crypt", /^\0GITCRYPT\0/),
  encrypted("Strongbox", /^# STRONGBOX ENCRYPTED RESOURCE/),
  encrypted("transcrypt", /^(?:Salted__|U2FsdGVkX1)/),
  encrypted("age", /^(?:age-encryption\.org\/v1\n|-----BEGIN AGE ENCRYPTED FILE-----)/),
  encrypted("Ansible Vault", /^\$ANSIBLE_VAULT;/),
  encrypted("PGP", /^-----BEGIN PGP MESSAGE-----/),
  encrypted("CMS", /^-----BEGIN (?:CMS|PKCS7)-----/),
];

function pointer(code: string, what: string, beginning: RegExp): Envelope {
  return { code, summary: `${what} stands in place of the manifest`, beginning };
}

function encrypted(by: string, beginning: RegExp): Envelope {
  return { code: "encrypted", summary: `encrypted with ${by}: what it holds is unknown`, beginning };
}

const HEAD_LENGTH = 256;

/** The first byte of each of them, and that of a byte-order mark, which an editor may have put before it. */
const FIRST_BYTES = new Set(Buffer.from("v/.#b\0SUa-$\xef", "latin1"));
const MARK = /^\xef\xbb\xbf/;

/** The error for a file whose content is behind a pointer or encrypted as a whole; null for other files. */
export function envelopeFault({ display }: SourceFile, bytes: Uint8Array): SourceDiagnostic | null {
  // Most files begin with a key, such as `type` or `name`.
  if (!FIRST_BYTES.has(bytes[0] ?? -1)) return null;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_LENGTH)).toString("latin1");
  const text = head.replace(MARK, "").replaceAll("\r\n", "\n");
  const found = ENVELOPES.find(({ beginning }) => beginning.test(text));
  if (found === undefined) return null;
  return fileDiagnostic("error", found.code, display, found.summary, POINTER.detail);
}
