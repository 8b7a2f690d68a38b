import type { Risk } from "../../contract/generated/output.ts";

/** A short description of each risk for reviewers. */
export const riskText: { readonly [risk in Risk]: string } = {
  adopts: "overwrites what somebody else manages",
  "privilege-growth": "gives somebody more rights",
  "scale-to-zero": "may leave no replica running",
  exposure: "changes what the network can reach",
  "secret-removed": "takes a secret away",
  reverts: "undoes a change that was made in live",
  "version-immutable": "would change a version that exists",
};
