import { declareCommand } from "../command.ts";

/** The declaration of `completion`. */
export const completion = declareCommand({
  name: "completion",
  arguments: "<shell...>",
  argumentsAre: "bash, zsh or fish; the script calls this command again with the words typed so far, after --",
  summary: "print what makes a shell complete commands, flags and their values",
  flags: [],
  examples: [
    "source <(holdfast completion bash)",
    "holdfast completion zsh > ~/.zfunc/_holdfast",
    "holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
  ],
});
