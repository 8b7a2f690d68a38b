import { execFileSync, spawnSync } from "node:child_process";
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

/** Whether `ssh-keygen -Y verify` takes a signature. */
export function isVerifiedBySsh(folder: string, key: SshKey, signature: string, text: string): boolean {
  const [signers, file] = [join(folder, "allowed"), join(folder, "signature")];
  writeFileSync(signers, `ada ${key.publicLine}\n`);
  writeFileSync(file, signature);
  const args = ["-Y", "verify", "-f", signers, "-I", "ada", "-n", "holdfast-plan", "-s", file];
  return execFileSync("ssh-keygen", args, { input: text, encoding: "utf8" }).startsWith("Good");
}
