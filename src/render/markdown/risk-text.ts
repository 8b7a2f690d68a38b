import type { Risk } from "../../contract/generated/output.ts";

/** Each risk for a reviewer, in a few words. */
export const riskText: { readonly [risk in Risk]: string } = {
  adopts: "overwrites what somebody else manages",
  "privilege-growth": "gives somebody more rights",
  "scale-to-zero": "may leave no replica running",
  exposure: "changes what the network can reach",
  "secret-removed": "takes a secret away",
  reverts: "undoes a change that was made in live",
  "version-immutable": "would change a version that exists",
};
