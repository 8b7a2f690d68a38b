/** What makes a step dangerous. */
export type Risk =
  /** It overwrites what somebody else manages. */
  | "adopts"
  /** It gives somebody more rights. */
  | "privilege-growth"
  /** It may leave no replica running. */
  | "scale-to-zero"
  /** It changes what the network can reach. */
  | "exposure"
  /** It takes a secret away. */
  | "secret-removed"
  /** It undoes a change that was made in live. */
  | "reverts"
  /** It changes the content of a version that exists, which is refused. */
  | "version-immutable";
