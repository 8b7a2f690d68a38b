import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey, type KeyRing, keyObject, type SealKey } from "../../../seal/seal-key.ts";

/** A stage and the time until which its signed address is valid, in epoch milliseconds. */
export type SignedStage = { readonly id: string; readonly expiresAt: number };

/** A stage with its end and their signature, as one segment of a path: whoever has it may use the files of the stage. */
export function signStage({ id, expiresAt }: SignedStage, { newest }: KeyRing): string {
  const signed = `${id}.${Math.floor(expiresAt / 1000)}`;
  return `${signed}.${signatureOf(signed, newest).toString("base64url")}`;
}

/** Whether a segment has the form of a signed stage, valid or not. */
export function isSignedStage(segment: string): boolean {
  return segment.includes(".");
}

/** The stage of a segment that one of the keys has signed and that has not expired; null for any other. */
export function readSignedStage(segment: string, { all }: KeyRing, now: number): SignedStage | null {
  const [, signed = "", id = "", seconds = "", signature = ""] = SIGNED.exec(segment) ?? [];
  const given = Buffer.from(signature, "base64url");
  if (!all.some((key) => isEqual(given, signatureOf(signed, key)))) return null;
  const expiresAt = Number(seconds) * 1000;
  return expiresAt > now ? { id, expiresAt } : null;
}

const SIGNED = /^(([\w-]{1,64})\.(\d{1,12}))\.([\w-]{43})$/;

function signatureOf(signed: string, key: SealKey): Buffer {
  return createHmac("sha256", keyObject(deriveKey(key, "staged files")))
    .update(signed)
    .digest();
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
