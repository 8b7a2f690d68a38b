import { execFileSync, spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync, sign as signData } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";

/** Whether OpenSSH is installed, which makes the keys and signatures of the tests. */
export const hasSsh: boolean = spawnSync("ssh-keygen", ["-?"]).error === undefined;

/** Ends a test that needs OpenSSH, and says why, where it is not installed. */
export function needsSsh({ skip }: Pick<TestContext, "skip">): void {
  skip(!hasSsh, "no ssh-keygen on this machine");
}

/** The types of keys that ssh-keygen makes and that may approve plans. */
export const keyTypes = ["ed25519", "rsa", "ecdsa-256", "ecdsa-384", "ecdsa-521"] as const;

/** A key that ssh-keygen has made. */
export type SshKey = { readonly file: string; readonly publicLine: string };

/** Makes a key without a passphrase in a folder. */
export function sshKey(folder: string, name: string, type: (typeof keyTypes)[number] | "rsa-1024" = "ed25519"): SshKey {
  const file = join(folder, name);
  const [algorithm = "", bits] = type === "rsa" ? ["rsa", "2048"] : type.split("-");
  const sized = bits === undefined ? [] : ["-b", bits];
  execFileSync("ssh-keygen", ["-q", "-t", algorithm, ...sized, "-N", "", "-C", name, "-f", file]);
  return { file, publicLine: readFileSync(`${file}.pub`, "utf8").trim() };
}

/** What `ssh-keygen -Y sign` makes of a text. */
export function sshSignature({ file }: Pick<SshKey, "file">, text: string, namespace = "holdfast-plan"): string {
  const args = ["-Y", "sign", "-q", "-f", file, "-n", namespace];
  return execFileSync("ssh-keygen", args, { input: text, encoding: "utf8" });
}

/** The types of keys of FIDO devices that may approve plans. */
export const fidoKeyTypes = ["sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"] as const;

/** A key as a FIDO device has it, here in the process of the test. */
export type FidoKey = Pick<SshKey, "publicLine"> & {
  /** What `ssh-keygen -Y sign` makes with it of a text (PROTOCOL.sshsig and PROTOCOL.u2f of OpenSSH). */
  readonly sign: (text: string, of?: { readonly flags?: number; readonly signedFlags?: number }) => string;
};

const APPLICATION = "ssh:";
const NAMESPACE = "holdfast-plan";

/** Makes a key of a FIDO device. */
export function fidoKey(name: string, type: (typeof fidoKeyTypes)[number]): FidoKey {
  const isEd25519 = type === "sk-ssh-ed25519@openssh.com";
  const { publicKey, privateKey } = isEd25519
    ? generateKeyPairSync("ed25519")
    : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const [first, second] = [x, y].map((text) => Buffer.from(text, "base64url")) as [Buffer, Buffer];
  const point = isEd25519 ? [first] : ["nistp256", Buffer.concat([Buffer.of(4), first, second])];
  const blob = wired(type, ...point, APPLICATION);
  const sign: FidoKey["sign"] = (text, { flags = 1, signedFlags = flags } = {}) => {
    const digest = createHash("sha512").update(text).digest();
    const message = Buffer.concat([Buffer.from("SSHSIG"), wired(NAMESPACE, "", "sha512", digest)]);
    const counter = Buffer.of(0, 0, 1, 2);
    const data = Buffer.concat([sha256(APPLICATION), Buffer.of(signedFlags), counter, sha256(message)]);
    const value = isEd25519 ? signData(null, data, privateKey) : numbersOf(signData("sha256", data, privateKey));
    const signature = Buffer.concat([wired(type, value), Buffer.of(flags), counter]);
    const head = Buffer.concat([Buffer.from("SSHSIG"), Buffer.of(0, 0, 0, 1)]);
    const base64 = Buffer.concat([head, wired(blob, NAMESPACE, "", "sha512", signature)]).toString("base64");
    const lines = base64.match(/.{1,70}/g) ?? [];
    return `-----BEGIN SSH SIGNATURE-----\n${lines.join("\n")}\n-----END SSH SIGNATURE-----\n`;
  };
  return { publicLine: `${type} ${blob.toString("base64")} ${name}`, sign };
}

function wired(...parts: readonly (Buffer | string)[]): Buffer {
  const strings = parts.map((part) => {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
  return Buffer.concat(strings);
}

function sha256(data: Buffer | string): Buffer {
  return createHash("sha256").update(data).digest();
}

// DER has the two numbers as SSH has them, each behind a tag and its length.
function numbersOf(der: Buffer): Buffer {
  const length = der[3] ?? 0;
  return wired(der.subarray(4, 4 + length), der.subarray(4 + length + 2));
}

/** Makes a certificate of a key, and returns its line. */
export function sshCertificate({ file }: SshKey, authority: SshKey): string {
  execFileSync("ssh-keygen", ["-q", "-s", authority.file, "-I", "test", "-n", "ada", `${file}.pub`]);
  return readFileSync(`${file}-cert.pub`, "utf8").trim();
}

/** Whether `ssh-keygen -Y verify` takes a signature. */
export function isVerifiedBySsh(
  folder: string,
  key: Pick<SshKey, "publicLine">,
  signature: string,
  text: string,
): boolean {
  const [signers, file] = [join(folder, "allowed"), join(folder, "signature")];
  writeFileSync(signers, `ada ${key.publicLine}\n`);
  writeFileSync(file, signature);
  const args = ["-Y", "verify", "-f", signers, "-I", "ada", "-n", "holdfast-plan", "-s", file];
  return execFileSync("ssh-keygen", args, { input: text, encoding: "utf8" }).startsWith("Good");
}
