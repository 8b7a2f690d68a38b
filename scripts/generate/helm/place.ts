/** The way to a place in an object: names of fields, in a list the `name` or the index of an entry. */
export type Place = readonly string[];

/** What stands at a place; undefined where there is none. */
export function contentAt(whole: unknown, [step, ...rest]: Place): unknown {
  if (step === undefined) return whole;
  if (typeof whole !== "object" || whole === null) return undefined;
  return contentAt(entriesOf(whole).find(([name]) => name === keyOf(whole, step))?.[1], rest);
}

/** The same object with other content at a place. */
export function withContent(whole: unknown, [step, ...rest]: Place, content: unknown): unknown {
  if (step === undefined) return content;
  const object = typeof whole === "object" && whole !== null ? whole : {};
  const key = keyOf(object, step);
  const inner = withContent(entriesOf(object).find(([name]) => name === key)?.[1], rest, content);
  return Array.isArray(object) ? object.with(Number(key), inner) : { ...object, [key]: inner };
}

function entriesOf(object: object): readonly (readonly [name: string, content: unknown])[] {
  return Object.entries(object);
}

function keyOf(object: object, step: string): string {
  if (!Array.isArray(object)) return step;
  const index = object.findIndex((entry) => entry?.name === step);
  return index < 0 ? step : `${index}`;
}
