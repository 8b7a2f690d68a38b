import { test } from "vitest";
import { useManyTargets } from "./many-targets.ts";

test.each([1, 2])("two hundred targets of one repository on %s control planes", async (planes) => {
  await useManyTargets({ targets: 200, planes });
});
