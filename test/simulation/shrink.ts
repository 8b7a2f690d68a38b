import type { Script } from "./script.ts";
import { type Ended, runScript } from "./world.ts";

/** The most runs with which a script is made shorter. */
const MOST_RUNS = 300;

/** Makes a script shorter that violates an invariant: what is left violates the same one. */
export async function shrink(script: Script, { violation }: Ended): Promise<Script> {
  let runs = 0;
  const fails = async (tried: Script): Promise<boolean> => {
    runs += 1;
    return (await runScript(tried)).violation?.invariant === violation?.invariant;
  };
  let shortest = script;
  const tryOne = async (tried: Script): Promise<boolean> => {
    if (runs >= MOST_RUNS || !(await fails(tried))) return false;
    shortest = tried;
    return true;
  };
  for (let rounds = 1; rounds < script.rounds.length; rounds += 1)
    if (await tryOne({ ...script, rounds: script.rounds.slice(0, rounds) })) break;
  if (shortest.reports) await tryOne({ ...shortest, reports: false });
  for (let size = Math.ceil(eventsIn(shortest) / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < eventsIn(shortest); ) if (!(await tryOne(without(shortest, from, size)))) from += size;
  // A round in which nothing happens only lets the world converge once more.
  for (let nth = shortest.rounds.length - 1; nth >= 0; nth -= 1)
    if (shortest.rounds[nth]?.length === 0) await tryOne({ ...shortest, rounds: shortest.rounds.toSpliced(nth, 1) });
  return shortest;
}

/** The number of events in a script. */
export function eventsIn({ rounds }: Script): number {
  return rounds.reduce((sum, { length }) => sum + length, 0);
}

function without(script: Script, from: number, size: number): Script {
  let at = 0;
  const isKept = (): boolean => {
    const nth = at++;
    return nth < from || nth >= from + size;
  };
  return { ...script, rounds: script.rounds.map((round) => round.filter(isKept)) };
}
