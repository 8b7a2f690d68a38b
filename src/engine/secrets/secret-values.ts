import type { Stop } from "../../clock/clock.ts";
import type { JsonObject } from "../../contract/json.ts";
import { Secret } from "../../contract/secret.ts";
import type { Identity } from "../../core/manifest.ts";
import { hmacText } from "../../seal/hmac.ts";
import { generateKey } from "../../seal/seal-key.ts";
import type { AgeIdentities } from "../../sops/age-identities.ts";
import { type OpenedSopsFile, openSopsFile } from "../../sops/read-sops-value.ts";
import { SopsError } from "../../sops/sops-error.ts";
import type { SourceFile } from "../../source/revision.ts";
import { sopsProgram } from "./run-sops.ts";
import { type ReadSecret, readSecretSource, type SecretPlace, type SecretSource, textValue } from "./secret-source.ts";

/** The values that manifests name by reference, in the memory of one session. */
export type SecretValues = {
  /** Whether references may be resolved at all: not for a copy of a control plane, which is sent their text. */
  readonly isReadable: boolean;
  /** Starts to read what manifests name, each source once. */
  readonly reader: () => SecretReader;
  /** Keeps the values of a resource until they are written, by their stand-ins, and those before them. */
  readonly keep: (identity: Identity, values: ReadonlyMap<string, Secret>) => void;
  /**
   * Eight characters that are the same for the same value, and only in this session: a person sees which values are equal, and
   * nobody can try values against them later, since the key is random and never stored. Null for what stands for no value that was read.
   */
  readonly fingerprint: (identity: Identity, standIn: string) => string | null;
  /** The value that a stand-in is for; null for one that stands for none. */
  readonly open: (identity: Identity, standIn: string) => Secret | null;
};

/** Reads what references name. */
export type SecretReader = {
  /** Why a reference must not be read, such as a name that the operator has not listed; null where it may. */
  readonly refusal: (reference: ReferencedSecret) => string | null;
  readonly read: (reference: ReferencedSecret, stop: Stop) => Promise<ReadSecret>;
};

/** A reference in a manifest, and the file of the source that it names; undefined where it names none that is there. */
export type ReferencedSecret = { readonly named: JsonObject; readonly file: SourceFile | undefined };

/** Stand-ins of values that were read begin so. */
export const VALUE_DIGEST = "digest ";

/** Stand-ins of references that are not resolved begin so. */
export const UNREAD_REFERENCE = "reference ";

/** How references are resolved. */
export type SecretResolution = {
  readonly sources: readonly SecretSource[];
  /** What decrypts files of the source; fails where that cannot be read. */
  readonly identities: () => AgeIdentities | null;
  /** The program `sops` and its first arguments, for files that no identity decrypts; null where the operator names none. */
  readonly program: readonly string[] | null;
  /** Whether the text of a reference is sent as its value: to a copy of a control plane, which is thrown away. */
  readonly sendsReferences: boolean;
};

/** The values of a session. */
export function secretValues(
  { sources, sendsReferences, ...keys }: SecretResolution,
  place: Omit<SecretPlace, "hidden">,
): SecretValues {
  const byName = new Map(sources.map((source) => [source.name, source]));
  const hidden = new Set(sources.flatMap(({ env }) => env ?? []));
  const kept = new Map<Identity, readonly ReadonlyMap<string, Secret>[]>();
  const sessionKey = generateKey();
  const keptValue = (identity: Identity, standIn: string): Secret | undefined =>
    (kept.get(identity) ?? []).map((values) => values.get(standIn)).find((one) => one !== undefined);
  return {
    isReadable: !sendsReferences,
    reader: () => {
      const read = new Map<string, Promise<ReadSecret>>();
      const encrypted = encryptedFiles(keys, { ...place, hidden });
      return {
        refusal: (reference) => refusalOf(reference, byName),
        read: (reference, stop) => {
          if (reference.named.from === ENCRYPTED) return encrypted(reference, stop);
          const source = byName.get(String(reference.named.from));
          if (source === undefined) throw new TypeError("a reference that is refused is not read");
          const known = read.get(source.name) ?? readSecretSource(source, { ...place, hidden }, stop);
          read.set(source.name, known);
          return known;
        },
      };
    },
    keep: (identity, values) => {
      const [last] = kept.get(identity) ?? [];
      kept.set(identity, last === undefined ? [values] : [values, last]);
    },
    fingerprint: (identity, standIn) => {
      const value = keptValue(identity, standIn);
      return value === undefined ? null : hmacText(sessionKey, value.open()).slice(0, 8);
    },
    open: (identity, standIn) => {
      if (standIn.startsWith(UNREAD_REFERENCE)) {
        if (sendsReferences) return new Secret(standIn);
        throw new TypeError(`a value of ${identity} was not read`);
      }
      if (!standIn.startsWith(VALUE_DIGEST)) return null;
      const value = keptValue(identity, standIn);
      if (value === undefined) throw new TypeError(`a value of ${identity} is not known any more`);
      return value;
    },
  };
}

function refusalOf(
  { named, file: found }: ReferencedSecret,
  sources: ReadonlyMap<string, SecretSource>,
): string | null {
  const { from, file, key } = named;
  const name = String(from);
  if (name === ENCRYPTED) return found === undefined ? `${String(file)} is no YAML or JSON file of this source` : null;
  if ((file ?? key ?? null) !== null) return `${name}: file and key count only with from: ${ENCRYPTED}`;
  return sources.has(name) ? null : `${name} is not in secretSources`;
}

/** What a reference to an encrypted file has in place of a name. */
const ENCRYPTED = "sops";

// Each file is decrypted once.
function encryptedFiles(
  { identities, program }: Pick<SecretResolution, "identities" | "program">,
  place: SecretPlace,
): SecretReader["read"] {
  const opened = new Map<string, Promise<OpenedSopsFile>>();
  const open = async (file: SourceFile, stop: Stop): Promise<OpenedSopsFile> => {
    const bytes = await file.bytes(stop);
    if (bytes.length < file.size) throw new SopsError("unsupported", `${file.display}: it is too large`, "split it");
    const sops = program === null ? null : sopsProgram(program, place, stop);
    return openSopsFile({ file: file.display, bytes }, identities(), sops);
  };
  return async ({ named: { key }, file }, stop) => {
    if (file === undefined) throw new TypeError("a reference that is refused is not read");
    const opening = opened.get(file.path) ?? open(file, stop);
    opened.set(file.path, opening);
    try {
      return textValue(file.display, (await opening).value(String(key)).open());
    } catch (error) {
      stop.signal.throwIfAborted();
      if (error instanceof SopsError) return { why: `${error.message}: ${error.hint}` };
      throw error;
    }
  };
}
