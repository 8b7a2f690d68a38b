import type { Server } from "node:http";
import type { SecureContextOptions } from "node:tls";
import { errorMessage } from "../../contract/error-message.ts";
import { certificateExpiry, readTls, renewTls, type TlsFiles } from "../../http/tls.ts";
import type { Context } from "../context.ts";
import { RecurringTask } from "../jobs/recurring-task.ts";
import type { ControlPlaneOptions } from "../options.ts";

type Certificate = Pick<SecureContextOptions, "cert">;

/** Reads the certificate at the start. Clients refuse an expired one, but its replacement is loaded without a restart. */
export async function readCertificate(files: TlsFiles, context: Context): Promise<SecureContextOptions> {
  const read = await readTls(files);
  warnIfExpired(read, files, context);
  return read;
}

function warnIfExpired(read: Certificate, files: TlsFiles, { clock, log }: Context): void {
  const end = certificateExpiry(read);
  if (end === null || end > clock.now()) return;
  const expired = new Date(end).toISOString();
  log.warn({ event: "certificate-expired", certificate: files.certificate, expired }, "the certificate has expired");
}

type CertificateOptions = Pick<ControlPlaneOptions, "fileCheckSeconds"> & {
  /** The certificate that is in use. */
  readonly current: () => Certificate | null;
  readonly replace: (read: SecureContextOptions) => void;
};

/** Loads the files of the certificate again whenever they change; why they cannot be read is logged once until it changes. */
export function followCertificate(
  server: Server,
  files: TlsFiles,
  { current, replace, fileCheckSeconds = 5 }: CertificateOptions,
  context: Context,
): AsyncDisposable {
  const { clock, log } = context;
  const { certificate } = files;
  let trouble: string | null = null;
  const read = async (): Promise<number> => {
    const fresh = await renewTls(server, files);
    if (!isSame(fresh, current())) {
      const expires = certificateExpiry(fresh);
      const until = expires === null ? null : new Date(expires).toISOString();
      log.info({ event: "certificate-replaced", certificate, expires: until }, "the certificate was replaced");
      warnIfExpired(fresh, files, context);
    } else if (trouble !== null) {
      log.info({ event: "certificate-readable", certificate }, "the certificate can be read again");
    }
    trouble = null;
    replace(fresh);
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

function isSame({ cert }: Certificate, other: Certificate | null): boolean {
  return Buffer.isBuffer(cert) && Buffer.isBuffer(other?.cert) && cert.equals(other.cert);
}
