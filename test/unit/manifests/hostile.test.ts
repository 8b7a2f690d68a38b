import { describe, expect, test } from "vitest";
import { diagnosticsText } from "../../../src/render/diagnostics.ts";
import { plain } from "../../../src/render/paint.ts";
import { excerptReader } from "../../../src/source/excerpt-reader.ts";
import { endingOf, hostileTexts } from "../../support/hostile-texts.ts";
import { processorMs, processorSlowness } from "../../support/processor-time.ts";
import { folderOf, loadRevision, read } from "../source/source.ts";

const KiB = 1024;

/** Milliseconds of computing that an input may hold up everybody else, and that all of its reading may take. */
const MAX_HELD = 100;
const MAX_TAKEN = 3000;

type Costs = { readonly held: number; readonly taken: number; readonly said: ReadonlySet<string | null> };

/**
 * Reads and reports a folder, and tells what it cost: computing is counted, as on the processor that the limits are stated
 * for, so that a busy machine fails no test.
 */
async function costsOf(files: { readonly [file: string]: string }): Promise<Costs> {
  const root = await folderOf(files);
  const slowness = processorSlowness();
  const before = process.cpuUsage();
  let [held, last] = [0, processorMs()];
  const look = () => {
    const now = processorMs();
    held = Math.max(held, now - last);
    last = now;
  };
  const looking = setInterval(look, 1);
  try {
    const { diagnostics } = await loadRevision(await read(root));
    look();
    diagnosticsText(diagnostics, { paint: plain, width: 80, excerptOf: excerptReader(root) });
    look();
    const { user, system } = process.cpuUsage(before);
    const taken = (user + system) / 1000;
    // A processor that others share changes its speed within seconds.
    const slowest = Math.max(slowness, processorSlowness());
    return { held: held / slowest, taken: taken / slowest, said: new Set(diagnostics.map(({ file }) => file)) };
  } finally {
    clearInterval(looking);
  }
}

const nameOf = (name: string, index: number) => `${index}.${endingOf(name)}`;

/** Compiling and collecting fall to whoever comes by: what is true of a text is true of it twice. */
async function provenCostsOf(files: { readonly [file: string]: string }, mostTaken: number): Promise<Costs> {
  const first = await costsOf(files);
  return first.held < MAX_HELD && first.taken < mostTaken ? first : costsOf(files);
}

describe("a hostile text blocks nothing, takes little memory and is reported", () => {
  test.each(Object.entries(hostileTexts))("%s", async (name, make) => {
    const { held, taken, said } = await provenCostsOf({ [nameOf(name, 0)]: make(60 * KiB) }, MAX_TAKEN);
    expect(held).toBeLessThan(MAX_HELD);
    expect(taken).toBeLessThan(MAX_TAKEN);
    expect([...said]).toEqual([nameOf(name, 0)]);
  });

  test("B20: nor where it is so large that it is read aside", async () => {
    const all = Object.entries(hostileTexts).map(([name, make], index) => [nameOf(name, index), make(72 * KiB)]);
    const { held, said } = await provenCostsOf(Object.fromEntries(all), Number.POSITIVE_INFINITY);
    expect(held).toBeLessThan(MAX_HELD);
    expect(said.size).toBe(all.length);
  });
});
