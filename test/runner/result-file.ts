import { resolve } from "node:path";

/** Where a run of the suite leaves its result. */
export const RESULT_FILE: string = resolve(import.meta.dirname, "../../test-results/suite.json");
