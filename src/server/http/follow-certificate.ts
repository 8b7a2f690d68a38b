import type { Server } from "node:http";
import type { SecureContextOptions } from "node:tls";
import { errorMessage } from "../../contract/error-message.ts";
import { certificateExpiry, readTls, renewTls, type TlsFiles } from "../../http/tls.ts";
import type { Context } from "../context.ts";
import { RecurringTask } from "../jobs/recurring-task.ts";

/**
 * The certificate of a server, and what keeps it current: its files are loaded again whenever they change. Clients refuse
 * an expired one, but its replacement is loaded without a restart.
 */
export async function openCertificate(files: TlsFiles, { clock, log }: Context, fileCheckSeconds = 5) {
  const { certificate } = files;
  const warnIfExpired = (): void => {
    const end = certificateExpiry(inUse);
    if (end === null || end > clock.now()) return;
    log.warn({ event: "certificate-expired", certificate, expired: toText(end) }, "the certificate has expired");
  };
  let inUse = await readTls(files);
  let trouble: string | null = null;
  warnIfExpired();
  const read = async (server: Server): Promise<number> => {
    const fresh = await renewTls(server, files);
    const isReplaced = !isSame(fresh, inUse);
    inUse = fresh;
    if (isReplaced) {
      const expires = certificateExpiry(fresh);
      const until = expires === null ? null : toText(expires);
      log.info({ event: "certificate-replaced", certificate, expires: until }, "the certificate was replaced");
      warnIfExpired();
    } else if (trouble !== null) {
      log.info({ event: "certificate-readable", certificate }, "the certificate can be read again");
    }
    trouble = null;
    return clock.now() + fileCheckSeconds * 1000;
  };
  // Why it cannot be read is logged once until that changes.
  const failed = (error: unknown): void => {
    const reason = errorMessage(error);
    const fields = { event: "certificate-unreadable", certificate, reason };
    log[reason === trouble ? "debug" : "error"](
      fields,
      "the certificate cannot be read, and the present one stays in use",
    );
    trouble = reason;
  };
  return {
    current: (): SecureContextOptions => inUse,
    follow: (server: Server): AsyncDisposable => {
      const task = new RecurringTask(() => read(server), clock, failed);
      task.at(clock.now() + fileCheckSeconds * 1000);
      return { [Symbol.asyncDispose]: () => task.close() };
    },
  };
}

function toText(moment: number): string {
  return new Date(moment).toISOString();
}

function isSame({ cert }: SecureContextOptions, other: SecureContextOptions): boolean {
  return Buffer.isBuffer(cert) && Buffer.isBuffer(other.cert) && cert.equals(other.cert);
}
