// Generated from the files of this folder by `npm run generate`.
import type { Rule } from "../rule.ts";
import { rules as applicationSet } from "./application-set.ts";
import { rules as chatPrompt } from "./chat_prompt.ts";
import { rules as cluster } from "./cluster.ts";
import { rules as secretGroup } from "./secret-group.ts";
import { rules as service } from "./service.ts";
import { rules as virtualAccount } from "./virtual-account.ts";

/** The rules of the types that have some of their own. */
export const rulesByType: ReadonlyMap<string, readonly Rule[]> = new Map([
  ["application-set", applicationSet],
  ["chat_prompt", chatPrompt],
  ["cluster", cluster],
  ["secret-group", secretGroup],
  ["service", service],
  ["virtual-account", virtualAccount],
]);
