import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { isCertificateType, readSshPublicKey, SSH_KEY_TYPES, type SshPublicKey } from "./ssh-public-key.ts";

/** The namespace of the signatures that approve plans. */
export const APPROVAL_NAMESPACE = "holdfast-plan";

/** A key whose signature approves plans. */
export type ApprovalKey = SshPublicKey & {
  /** Whose key it is; its fingerprint where its line does not say. */
  readonly name: string;
  /** When it begins and ends to count, in epoch milliseconds. */
  readonly validAfter: number | null;
  readonly validBefore: number | null;
  readonly line: string;
};

/** Which keys must sign a plan, and how many of them. */
export type ApprovalRule = { readonly atLeast: number; readonly keys: readonly ApprovalKey[] };

/** Reads a rule as a configuration or a plan has it; a text says what is wrong with it. */
export function readApprovalRule(given: Json): ApprovalRule | string {
  const { keys: texts, atLeast = null } = isObject(given) ? given : ({} as JsonObject);
  if (!Array.isArray(texts)) return "`approvals` names no `keys`";
  const lines = texts.flatMap((text) => String(text).split(/\r?\n/)).map((line) => line.trim());
  const keys: ApprovalKey[] = [];
  for (const line of lines) {
    if (line === "" || line.startsWith("#")) continue;
    const key = readKeyLine(line);
    if (typeof key === "string") return `\`approvals\` has a key that cannot be used (${shortened(line)}): ${key}`;
    const same = keys.find(({ blob }) => blob === key.blob);
    if (same !== undefined) return `\`approvals\` names one key twice, as ${same.name} and as ${key.name}`;
    keys.push(key);
  }
  const needed = atLeast ?? 1;
  if (typeof needed !== "number" || !Number.isSafeInteger(needed) || needed < 1)
    return "`approvals.atLeast` is no number from 1 on";
  if (needed > keys.length)
    return `\`approvals\` asks for ${needed} signatures, and has ${keys.length === 1 ? "one key" : `${keys.length} keys`}`;
  return { atLeast: needed, keys };
}

/** What both rules demand: the larger number of signatures, of keys that both allow. */
export function stricterRule(one: ApprovalRule | null, other: ApprovalRule | null): ApprovalRule | null {
  if (one === null || other === null) return one ?? other;
  const keys = one.keys.flatMap((key) => {
    const same = other.keys.find(({ blob }) => blob === key.blob);
    return same === undefined ? [] : [bothTimes(key, same)];
  });
  return { atLeast: Math.max(one.atLeast, other.atLeast), keys };
}

function bothTimes(one: ApprovalKey, other: ApprovalKey): ApprovalKey {
  const after = Math.max(one.validAfter ?? -Infinity, other.validAfter ?? -Infinity);
  const before = Math.min(one.validBefore ?? Infinity, other.validBefore ?? Infinity);
  const timeOrNull = (time: number): number | null => (Number.isFinite(time) ? time : null);
  return { ...one, validAfter: timeOrNull(after), validBefore: timeOrNull(before) };
}

// Words, of which quotes may hold spaces.
const WORD = /(?:[^\s"]|"[^"]*")+/g;

/**
 * A key as a file of public keys has it (type, key, comment), or as one of allowed signers has it (names, options, type,
 * key, comment).
 */
function readKeyLine(line: string): ApprovalKey | string {
  const words = line.match(WORD) ?? [];
  const at = words.findIndex((word) => SSH_KEY_TYPES.includes(word));
  const before = at < 0 ? words : words.slice(0, at);
  if (before.some((word) => isCertificateType(word) || word.split(",").includes("cert-authority")))
    return "certificates are not read: name the keys themselves";
  const blob = words[at + 1];
  if (at < 0 || blob === undefined) return `no key of a type that is read follows (${SSH_KEY_TYPES.join(", ")})`;
  const key = readSshPublicKey(words[at] ?? "", blob);
  if (typeof key === "string") return key;
  if (at > 0 && NO_NAME.test(words[0] ?? "")) return "its first word is the name of who signs, and options follow it";
  const times = readOptions(words.slice(1, at).join(","));
  if (typeof times === "string") return times;
  const name = (at === 0 ? words.slice(2).join(" ") : words[0]) || key.fingerprint;
  return { ...key, ...times, name, line };
}

// Options in the place of the name would be passed over, and a pattern names nobody.
const NO_NAME =
  /[="!*?]|^(?:restrict|cert-authority|pty|user-rc|(?:no-)?[a-z0-9]+-(?:forwarding|required|rc|pty)|no-(?:pty|user-rc))$/i;

type Times = Pick<ApprovalKey, "validAfter" | "validBefore">;

const OPTION = /(?<name>[a-z-]+)(?:="(?<value>[^"]*)")?(?:,|$)/gy;

function readOptions(text: string): Times | string {
  let times: Times = { validAfter: null, validBefore: null };
  const options = [...text.matchAll(OPTION)];
  if (options.map(([all]) => all).join("") !== text) return "its options cannot be read";
  for (const { groups: { name = "", value = "" } = {} } of options) {
    if (name === "namespaces") {
      if (!value.split(",").includes(APPROVAL_NAMESPACE)) return `its namespaces do not name ${APPROVAL_NAMESPACE}`;
    } else if (name === "valid-after" || name === "valid-before") {
      const time = readTime(value);
      if (time === null) return `${name} is no time in UTC such as 20270131Z or 202701311200Z`;
      times = name === "valid-after" ? { ...times, validAfter: time } : { ...times, validBefore: time };
    } else {
      return `the option ${name} is not supported`;
    }
  }
  return times;
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?Z$/;

// Without Z it is a local time for ssh-keygen, which differs between machines.
function readTime(text: string): number | null {
  const [, year, month, day, hours = "00", minutes = "00", seconds = "00"] = TIME.exec(text) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  // A day that no month has would be another one.
  return Number.isNaN(time) || new Date(time).getUTCDate() !== Number(day) ? null : time;
}

const SHOWN = 40;

function shortened(line: string): string {
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN)}…`;
}
