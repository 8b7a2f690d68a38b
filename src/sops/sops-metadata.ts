import { isObject, type Json, type JsonObject, own, text } from "../contract/json.ts";
import { quoted } from "../yaml/fault.ts";
import type { AgeEntry } from "./data-key.ts";
import { DEFAULT_RULE, type EncryptionRule } from "./encryption-rule.ts";
import { SopsError } from "./sops-error.ts";

/** What the `sops` member of a file says. */
export type SopsMetadata = {
  readonly age: readonly AgeEntry[];
  /** The other key services whose keys decrypt it, such as `pgp`. */
  readonly otherServices: readonly string[];
  /** Whether its data key is split among groups of keys. */
  readonly isSplit: boolean;
  readonly mac: string;
  readonly lastModified: string;
  readonly macOnlyEncrypted: boolean;
  readonly rule: EncryptionRule;
};

const SERVICES = ["pgp", "kms", "gcp_kms", "azure_kv", "hc_vault", "hckms", "plugins"] as const;

/** Each try costs an exchange of keys. */
const MOST_RECIPIENTS = 100;

/** Reads the `sops` member of a file; throws a `SopsError` where it has another form. */
export function readMetadata(value: Json | undefined, file: string): SopsMetadata {
  if (!isObject(value)) {
    throw new SopsError(
      "not-sops",
      `${file}: it is no SOPS file: it has no \`sops\` member`,
      "encrypt it: `sops encrypt --in-place` or `holdfast secret set`",
    );
  }
  const groups = listOf(value, "key_groups", file);
  const [only] = groups;
  const holder = groups.length === 1 && isObject(only) ? only : value;
  const mac = required(value, "mac", file);
  const lastModified = required(value, "lastmodified", file);
  return {
    age: ageEntries(listOf(holder, "age", file), file),
    otherServices: SERVICES.filter((service) => listOf(holder, service, file).length > 0),
    isSplit: groups.length > 1,
    mac,
    lastModified,
    macOnlyEncrypted: own(value, "mac_only_encrypted") === true,
    rule: ruleIn(value, file, "malformed"),
  };
}

const RULES = [
  ["unencrypted_suffix", "unencryptedSuffix"],
  ["encrypted_suffix", "encryptedSuffix"],
  ["unencrypted_regex", "unencryptedRegex"],
  ["encrypted_regex", "encryptedRegex"],
] as const;

/** The rule that a file or a creation rule sets; that of SOPS where it sets none. */
export function ruleIn(value: JsonObject, file: string, fault: "malformed" | "not-writable"): EncryptionRule {
  for (const field of ["unencrypted_comment_regex", "encrypted_comment_regex"]) {
    if (!text(own(value, field))) continue;
    throw new SopsError(
      "unsupported",
      `${file}: \`${field}\` is not read`,
      "use another rule, such as `encrypted_regex`",
    );
  }
  const set = RULES.filter(([field]) => text(own(value, field)));
  const [first, second] = set;
  if (first === undefined) return DEFAULT_RULE;
  if (second !== undefined) {
    throw new SopsError(fault, `${file}: it sets ${first[0]} and ${second[0]}`, "keep one of them");
  }
  return { [first[1]]: text(own(value, first[0])) };
}

function required(value: JsonObject, field: string, file: string): string {
  const found = text(own(value, field));
  if (found) return found;
  const hint = "restore the file from git, or encrypt it again with sops";
  throw new SopsError("mac", `${file}: \`sops.${field}\` is missing, so its values cannot be verified`, hint);
}

function listOf(value: JsonObject, field: string, file: string): readonly Json[] {
  const found = own(value, field) ?? null;
  if (found === null) return [];
  if (Array.isArray(found)) return found;
  throw malformed(file, `\`sops.${field}\` is no list`);
}

function ageEntries(list: readonly Json[], file: string): readonly AgeEntry[] {
  if (list.length > MOST_RECIPIENTS) {
    throw new SopsError(
      "too-large",
      `${file}: it has more than ${MOST_RECIPIENTS} age recipients`,
      "share the identity of a team",
    );
  }
  return list.map((one) => {
    const recipient = isObject(one) ? text(own(one, "recipient")) : undefined;
    const enc = isObject(one) ? text(own(one, "enc")) : undefined;
    if (recipient === undefined || enc === undefined) {
      throw malformed(file, `an entry of ${quoted("sops.age")} has no recipient or no data key`);
    }
    return { recipient, enc };
  });
}

function malformed(file: string, what: string): SopsError {
  return new SopsError("malformed", `${file}: ${what}`, "restore the file from git, or encrypt it again with sops");
}
