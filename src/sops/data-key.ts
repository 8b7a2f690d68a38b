import { type AgeIdentities, GIVE_IDENTITY } from "./age-identities.ts";
import { SopsError } from "./sops-error.ts";

/** A data key, encrypted for one age recipient. */
export type AgeEntry = { readonly recipient: string; readonly enc: string };

const KEY_BYTES = 32;

/** Decrypts the data key of a file with the first identity that one of its recipients belongs to. */
export async function decryptDataKey(
  entries: readonly AgeEntry[],
  { from, identities }: AgeIdentities,
  file: string,
): Promise<Uint8Array> {
  const { armor, Decrypter, identityToRecipient } = await import("age-encryption");
  const decrypter = new Decrypter();
  const own = new Set<string>();
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity.open());
      own.add(await identityToRecipient(identity.open()));
    } catch {
      throw new SopsError("no-identity", `${from} has an age identity that is cut off or mistyped`, GIVE_IDENTITY);
    }
  }
  // Those that name our recipients first: another's entry is worth a try, since a recipient is only a label.
  const ordered = [...entries.filter(({ recipient }) => own.has(recipient)), ...entries];
  for (const { enc } of ordered) {
    try {
      const key = await decrypter.decrypt(armor.decode(enc));
      if (key.length === KEY_BYTES) return key;
    } catch {
      // Another recipient's, or damaged.
    }
  }
  if (entries.some(({ recipient }) => own.has(recipient))) {
    const what = "its data key for this identity was changed or cut off";
    throw new SopsError("damaged", `${file}: ${what}`, "restore the file from git");
  }
  const hint = `add ${[...own].join(", ")} to .sops.yaml and run \`sops updatekeys\`, or give the identity of a recipient`;
  throw new SopsError(
    "wrong-identity",
    `${file}: it is encrypted for ${recipientsText(entries)}, not for the identity of ${from}`,
    hint,
  );
}

/** Encrypts a data key for each recipient. */
export async function encryptDataKey(
  key: Uint8Array,
  recipients: readonly string[],
  file: string,
): Promise<readonly AgeEntry[]> {
  const { armor, Encrypter } = await import("age-encryption");
  return Promise.all(
    recipients.map(async (recipient) => {
      const encrypter = new Encrypter();
      try {
        encrypter.addRecipient(recipient);
      } catch {
        const shown = shownRecipient(recipient);
        throw new SopsError(
          "not-writable",
          `${file}: ${shown} is no age recipient`,
          "write it as age-keygen prints it: age1…",
        );
      }
      return { recipient, enc: armor.encode(await encrypter.encrypt(key)) };
    }),
  );
}

const RECIPIENT = /^age1[02-9ac-hj-np-z]{1,100}$/;
const MOST_SHOWN = 3;

function recipientsText(entries: readonly AgeEntry[]): string {
  const shown = entries.slice(0, MOST_SHOWN).map(({ recipient }) => shownRecipient(recipient));
  const more = entries.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

// Somebody may have written an identity in its place.
function shownRecipient(recipient: string): string {
  return RECIPIENT.test(recipient) ? recipient : "an unknown recipient";
}
