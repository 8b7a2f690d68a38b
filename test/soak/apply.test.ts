import { soakSizes } from "./sizes.ts";
import { testSweeps } from "./sweep-tests.ts";

testSweeps(soakSizes, 4);
