import { defineConfig } from "vitest/config";
import { bundledYamlReader } from "../../support/bundled-yaml-reader.ts";

export default defineConfig({
  plugins: [bundledYamlReader()],
  test: {
    // Each mutant is a run of the tests that reach it, so these are the ones about `src/core` without processes and servers.
    include: [
      "test/unit/{core,model}/**/*.test.ts",
      "test/unit/engine/policies/judge-plan.test.ts",
      "test/unit/daemon/{settled-pass,status-after-pass,written-changes}.test.ts",
      "test/unit/commands/output/warnings.test.ts",
    ],
    isolate: false,
    // Stryker ends what hangs.
    testTimeout: 420_000,
  },
});
