import { declareCommand } from "../command.ts";

/** The declaration of `comment`. */
export const comment = declareCommand({
  name: "comment",
  arguments: "<plan>",
  argumentsAre: "what plan -o json wrote",
  reportsMissing: true,
  summary: "show a plan as a comment on its pull request, and as a commit status",
  flags: [
    "forge",
    "repository",
    "pullRequest",
    "revision",
    "apiUrl",
    "forgeTokenFile",
    "name",
    "unverified",
    "noStatus",
    "requireComment",
    "publish",
    "plansTokenFile",
  ],
  examples: ["holdfast comment plan.json", "holdfast comment plan.json --forge gitlab --pull-request 7"],
});
