/** Why a check cannot be made: it says nothing about the control plane. */
export class NotCheckableError extends Error {
  override readonly name = "NotCheckableError";
}
