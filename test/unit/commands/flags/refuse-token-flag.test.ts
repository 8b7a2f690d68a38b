import { expect, test } from "vitest";
import { refuseTokenFlag } from "../../../../src/commands/flags/raw-command-line.ts";
import { HoldfastError } from "../../../../src/core/errors.ts";

test.each([[["plan", "--token", "s3cret"]], [["plan", "--token=s3cret"]], [["--token"]]])(
  "%j is refused with how a token is given, and without the token",
  (args) => {
    const refused = (): void => refuseTokenFlag(args);
    expect(refused).toThrow(HoldfastError);
    expect(refused).toThrow(
      expect.objectContaining({ code: "invalid", hint: expect.stringMatching(/HOLDFAST_TOKEN.*--token-file FILE/) }),
    );
    expect(refused).not.toThrow(/s3cret/);
  },
);

test("other flags, and what follows `--`, are no tokens", () => {
  expect(() => refuseTokenFlag(["plan", "--token-file", "a", "--", "--token"])).not.toThrow();
});
