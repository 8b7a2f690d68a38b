import { systemClock, systemRandom } from "../../src/clock/system.ts";

/** The clock and the randomness of this machine, as options take them. */
export const machine = { clock: systemClock, random: systemRandom };
