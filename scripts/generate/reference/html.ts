/** Markup that needs no escaping. */
export type Html = { readonly markup: string };

type Value = Html | string | number | null | readonly Html[];

/** Markup from a template: inserted values are escaped, unless they are markup. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { markup: strings.reduce((text, piece, at) => text + markupOf(values[at - 1] ?? null) + piece) };
}

function markupOf(value: Value): string {
  if (value === null) return "";
  if (typeof value === "string" || typeof value === "number") return escaped(String(value));
  if ("markup" in value) return value.markup;
  return value.map(({ markup }) => markup).join("");
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
