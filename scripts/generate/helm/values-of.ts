import { isDeepStrictEqual } from "node:util";
import { contentAt } from "./place.ts";
import type { ChartObject } from "./template.ts";
import { type ChartValue, chartValues } from "./values.ts";

/** A value with its default, which is what the objects of the cluster have without the chart. */
export type Value = ChartValue & { readonly path: string; readonly content: unknown };

/** Every value of the chart; throws where an object needs one that is not described, or one is described that none needs. */
export function valuesOf(objects: readonly ChartObject[]): readonly Value[] {
  const places = objects.flatMap(({ object, bindings }) =>
    bindings.map(({ value, at }) => ({ value, content: contentAt(object, at) })),
  );
  const needed = new Set([
    ...places.map(({ value }) => value),
    ...objects.flatMap(({ when }) => when.map(({ value }) => value)),
  ]);
  const different = needed.symmetricDifference(new Set(Object.keys(chartValues)));
  if (different.size > 0) throw new TypeError(`values without use or description: ${[...different].join(", ")}`);
  return Object.entries(chartValues).map(([path, value]) => {
    const found = places.filter((place) => place.value === path).map(({ content }) => content);
    const content = value.initial ?? found[0];
    const isOne = found.every((other) => isDeepStrictEqual(other, found[0]));
    // Its place is left out by default where the value has an initial content.
    if (content === undefined || !isOne || (value.initial !== undefined && found[0] !== undefined)) {
      throw new TypeError(`the objects do not agree on one default of ${path}`);
    }
    return { ...value, path, content };
  });
}
