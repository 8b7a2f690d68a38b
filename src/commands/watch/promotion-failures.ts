import { errorMessage } from "../../contract/error-message.ts";
import { UnsettledSourceError } from "../../source/source-error.ts";

/** What becomes of a look that has failed. `waiting`: a later look most likely does not. `known`: it has been told. */
export type FailedLook = { readonly is: "waiting" | "told" | "known"; readonly message: string };

/** What has failed in the looks of one promotion, one after the other. */
export type PromotionFailures = {
  readonly failed: (error: unknown) => FailedLook;
  readonly succeeded: () => void;
};

/** Creates the failures of a promotion; none is known. What lasts is told once, also what is away for hours. */
export function promotionFailures(): PromotionFailures {
  let last: FailedLook | null = null;
  return {
    failed: (error) => {
      const message = errorMessage(error);
      const isSame = last?.message === message;
      // Somebody is about to commit, or has just done so.
      if (error instanceof UnsettledSourceError && !isSame) last = { is: "waiting", message };
      else last = { is: isSame && last?.is !== "waiting" ? "known" : "told", message };
      return last;
    },
    succeeded: () => {
      last = null;
    },
  };
}
