/** The `code` of a connection fault; if several addresses were tried, the code of the first. */
export function faultCode(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  if (cause instanceof AggregateError) return faultCode(cause.errors[0]);
  return faultCode(cause.cause);
}

/** Whether a connection fault is about the certificate of the other side, such as one of an internal authority. */
export function isCertificateFault(cause: unknown): boolean {
  return CERTIFICATE.test(faultCode(cause) ?? "");
}

const CERTIFICATE = /^(?:CERT_|ERR_TLS_CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH)/;
