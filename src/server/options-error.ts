/** Something that a control plane is started with, and cannot be started with. */
export class OptionsError extends Error {
  override readonly name = "OptionsError";
}
