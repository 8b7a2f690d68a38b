import { sizes } from "../soak/sizes.ts";
import { testSweeps } from "../soak/sweep-tests.ts";

// Each test runs the command a dozen times; `npm run soak` has the long form.
testSweeps(sizes.short, 2);
