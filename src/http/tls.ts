import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { createSecureContext, type SecureContextOptions } from "node:tls";

/** Where certificate (with its chain) and private key are, both PEM. */
export type TlsFiles = { readonly certificate: string; readonly key: string };

/** A certificate that cannot be served with. */
export class TlsError extends Error {
  override readonly name = "TlsError";
}

/** What a server speaks TLS with; read from the files, and tried. */
export async function readTls({ certificate, key }: TlsFiles): Promise<SecureContextOptions> {
  const read = { cert: await readPem(certificate), key: await readPem(key), minVersion: "TLSv1.2" } as const;
  try {
    createSecureContext(read);
    return read;
  } catch (cause) {
    throw new TlsError(`${certificate} and ${key} are no certificate and its private key`, { cause });
  }
}

/** Gives a server that listens the certificate that its files hold now. */
export async function renewTls(server: Server, files: TlsFiles): Promise<void> {
  if ("setSecureContext" in server && typeof server.setSecureContext === "function") {
    server.setSecureContext(await readTls(files));
  }
}

async function readPem(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new TlsError(`${path} cannot be read`, { cause });
  }
}
