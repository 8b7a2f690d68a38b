import { expect, test } from "vitest";
import { catalogue } from "../../../src/server/resources/addon/catalogue.ts";

const text = expect.any(String);

test.each(catalogue.map((entry) => [entry.name, entry] as const))("the catalogue's %s is whole", (_, entry) => {
  expect(entry).toEqual({
    name: text,
    appName: text,
    namespace: text,
    description: text,
    repoUrl: expect.stringMatching(/^https:\/\//),
    chart: text,
    required: expect.any(Boolean),
    unsupportedClusterTypes: entry.unsupportedClusterTypes.map(() => text),
    knownCRDs: entry.knownCRDs.map(() => text),
    labels: entry.labels.map(() => text),
    releases: entry.releases.map(() => ({
      version: expect.stringMatching(/^v?\d+\.\d+\.\d+$/),
      values: expect.any(Object),
    })),
  });
  expect(entry.releases.length).toBeGreaterThan(0);
});

test("the catalogue is in the order of its names", () => {
  const names = catalogue.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)].toSorted());
});
