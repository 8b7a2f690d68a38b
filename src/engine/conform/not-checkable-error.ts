/** Why a check cannot be made: it says nothing about the control plane. Its cause is the request that failed, if one did. */
export class NotCheckableError extends Error {
  override readonly name = "NotCheckableError";
}
