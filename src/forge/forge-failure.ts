import { faultCode, isCertificateFault } from "../contract/fault-code.ts";
import { HoldfastError } from "../core/errors.ts";

/** The error of a failed request to a forge. `status` is null if no answer arrived. */
export function forgeFailure(what: string, status: number | null, reason: string, cause?: unknown): HoldfastError {
  const options = cause === undefined ? {} : { cause };
  const detail = reason === "" ? "" : `: ${reason.slice(0, 200)}`;
  if (isCertificateFault(cause)) {
    const message = `${what}: the forge's certificate is not trusted here (${faultCode(cause)})`;
    const hint =
      "name the certificate authority that issued it, such as your company's own, with NODE_EXTRA_CA_CERTS=FILE";
    return new HoldfastError("error", message, { hint, ...options });
  }
  if (status === null) {
    return new HoldfastError("error", `${what}: the forge cannot be reached${detail}`, {
      hint: "check its API address, and the network",
      ...options,
    });
  }
  const message = `${what}: the forge answered ${status}${detail}`;
  if (status === 401) {
    return new HoldfastError("unauthorized", message, {
      hint: "the token is not accepted: provide a valid one",
      ...options,
    });
  }
  if (status === 429 || (status === 403 && /rate limit/i.test(reason))) {
    return new HoldfastError("error", message, { hint: "the rate limit is exceeded: try again later", ...options });
  }
  if (status === 403) {
    const hint = "the token lacks a permission: allow the job to write to pull requests and statuses";
    return new HoldfastError("unauthorized", message, { hint, ...options });
  }
  if (status === 404) {
    const hint = "check the repository and the number; forges also answer this if the token has no access";
    return new HoldfastError("error", message, { hint, ...options });
  }
  const hint =
    status >= 300 && status < 400
      ? "the repository was moved, or this is not the forge's API: provide the current address"
      : "the forge has a fault, or this is not its API: try again later";
  return new HoldfastError("error", message, { hint, ...options });
}

/** The error of an answer that does not have the form of the forge's API, such as a proxy's page. */
export function notAnApi(what: string): HoldfastError {
  return new HoldfastError("error", `${what}: the answer does not come from the forge's API`, {
    hint: "check the API address: a login page or a proxy may have answered",
  });
}
