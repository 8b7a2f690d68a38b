import { HoldfastError } from "../core/errors.ts";

/** The failure of a request to a forge, by the status that it answered; null where it answered nothing. */
export function forgeFailure(what: string, status: number | null, said: string, cause?: unknown): HoldfastError {
  const options = cause === undefined ? {} : { cause };
  const detail = said === "" ? "" : `: ${said.slice(0, 200)}`;
  if (status === null) {
    return new HoldfastError("error", `${what}: the forge cannot be reached${detail}`, {
      hint: "check its API address, and the network",
      ...options,
    });
  }
  const message = `${what}: the forge answered ${status}${detail}`;
  if (status === 401) {
    return new HoldfastError("unauthorized", message, { hint: "the token is not taken: give a valid one", ...options });
  }
  if (status === 429 || (status === 403 && /rate limit/i.test(said))) {
    return new HoldfastError("error", message, { hint: "it is asked too often: try later", ...options });
  }
  if (status === 403) {
    const hint = "the token may not do this: give the job the right to write to pull requests and statuses";
    return new HoldfastError("unauthorized", message, { hint, ...options });
  }
  if (status === 404) {
    const hint = "check repository and number; of what a token may not see, forges say that it is not there";
    return new HoldfastError("error", message, { hint, ...options });
  }
  const hint =
    status >= 300 && status < 400
      ? "the repository was moved, or that is not the forge's API: give the address that it has now"
      : "the forge has a fault, or that is not its API: try later";
  return new HoldfastError("error", message, { hint, ...options });
}

/** The failure of an answer that is not what its API documents, such as a page of a proxy. */
export function notAnApi(what: string): HoldfastError {
  return new HoldfastError("error", `${what}: the answer is not one of the forge's API`, {
    hint: "check the API address: a login page or a proxy may answer there",
  });
}
