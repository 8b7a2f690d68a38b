import type { Server } from "node:http";
import type { SecureContextOptions } from "node:tls";
import { errorMessage } from "../../contract/error-message.ts";
import { certificateExpiry, readTls, renewTls, type TlsFiles } from "../../http/tls.ts";
import type { Context } from "../context.ts";
import { RecurringTask } from "../jobs/recurring-task.ts";

/** Reads the certificate at the start. Clients refuse an expired one, but its replacement is loaded without a restart. */
export async function readCertificate(files: TlsFiles, context: Context): Promise<SecureContextOptions> {
  const read = await readTls(files);
  warnIfExpired(read, files, context);
  return read;
}

function warnIfExpired(read: SecureContextOptions, files: TlsFiles, { clock, log }: Context): void {
  const end = certificateExpiry(read);
  if (end === null || end > clock.now()) return;
  const expired = new Date(end).toISOString();
  log.warn({ event: "certificate-expired", certificate: files.certificate, expired }, "the certificate has expired");
}

/** Loads the files of the certificate again whenever they change; why they cannot be read is logged once until it changes. */
export function followCertificate(
  server: Server,
  files: TlsFiles,
  inUse: {
    readonly current: () => SecureContextOptions | null;
    readonly replace: (read: SecureContextOptions) => void;
  },
  context: Context,
  fileCheckSeconds = 5,
): AsyncDisposable {
  const { clock, log } = context;
  const { certificate } = files;
  let trouble: string | null = null;
  const read = async (): Promise<number> => {
    const fresh = await renewTls(server, files);
    if (!isSame(fresh, inUse.current())) {
      const expires = certificateExpiry(fresh);
      const until = expires === null ? null : new Date(expires).toISOString();
      log.info({ event: "certificate-replaced", certificate, expires: until }, "the certificate was replaced");
      warnIfExpired(fresh, files, context);
    } else if (trouble !== null) {
      log.info({ event: "certificate-readable", certificate }, "the certificate can be read again");
    }
    trouble = null;
    inUse.replace(fresh);
    return clock.now() + fileCheckSeconds * 1000;
  };
  const failed = (error: unknown): void => {
    const reason = errorMessage(error);
    const fields = { event: "certificate-unreadable", certificate, reason };
    log[reason === trouble ? "debug" : "error"](
      fields,
      "the certificate cannot be read, and the present one stays in use",
    );
    trouble = reason;
  };
  const task = new RecurringTask(read, clock, failed);
  task.at(clock.now() + fileCheckSeconds * 1000);
  return { [Symbol.asyncDispose]: () => task.close() };
}

function isSame({ cert }: SecureContextOptions, other: SecureContextOptions | null): boolean {
  return Buffer.isBuffer(cert) && Buffer.isBuffer(other?.cert) && cert.equals(other.cert);
}
