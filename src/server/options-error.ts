/** An invalid option of a control plane. */
export class OptionsError extends Error {
  override readonly name = "OptionsError";
}
