import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestCount } from "./judge-suite.ts";

/** The committed number of tests of each project, which `npm run test:count` alone writes. */
export const COUNT_FILE: string = join(import.meta.dirname, "test-count.json");

/** What it says. */
export const TEST_COUNT: TestCount = JSON.parse(readFileSync(COUNT_FILE, "utf8"));
