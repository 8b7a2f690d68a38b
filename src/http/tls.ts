import { X509Certificate } from "node:crypto";
import type { Server } from "node:http";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { readGivenFile, whyUnreadable } from "../files/read-given-file.ts";

/** The paths of the certificate (with its chain) and the private key, both PEM. */
export type TlsFiles = { readonly certificate: string; readonly key: string };

/** A certificate or private key that cannot be used. */
export class TlsError extends Error {
  override readonly name = "TlsError";
}

/** Reads certificate and private key, and checks that they belong together. */
export async function readTls({ certificate, key }: TlsFiles): Promise<SecureContextOptions> {
  const read = { cert: readPem(certificate), key: readPem(key), minVersion: "TLSv1.2" } as const;
  try {
    createSecureContext(read);
    return read;
  } catch (cause) {
    throw new TlsError(`${certificate} and ${key} are not a certificate and its private key`, { cause });
  }
}

/** Replaces the certificate of a listening server with the current content of its files. */
export async function renewTls(server: Server, files: TlsFiles): Promise<SecureContextOptions> {
  const read = await readTls(files);
  if ("setSecureContext" in server && typeof server.setSecureContext === "function") server.setSecureContext(read);
  return read;
}

/** When the certificate that `readTls` has read expires, in epoch milliseconds. */
export function certificateExpiry({ cert }: SecureContextOptions): number | null {
  return Buffer.isBuffer(cert) ? Date.parse(new X509Certificate(cert).validTo) : null;
}

function readPem(path: string): Buffer {
  try {
    return readGivenFile(path);
  } catch (cause) {
    throw new TlsError(`${path} ${whyUnreadable(cause)}`, { cause });
  }
}
