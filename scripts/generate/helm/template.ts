import { stringify } from "yaml";
import { type Place, withContent } from "./place.ts";

/** A condition of a whole object: the path of a value, and whether it must not hold. */
export type Condition = { readonly value: string; readonly not?: true };

/** A value's place in an object, and how it is written there. */
export type Binding = {
  readonly at: Place;
  readonly value: string;
  /** A scalar; a list or an object; the same where it is not empty; the same as the text of a file. */
  readonly form: "scalar" | "nested" | "optional" | "text";
};

/** An object of the chart, with the places of its values. */
export type ChartObject = {
  readonly file: string;
  readonly object: object;
  readonly when: readonly Condition[];
  readonly bindings: readonly Binding[];
};

const MARK = /^(?<before>.*?)MARK(?<index>\d+)MARK$/;

/** The template of an object: only `.Values`, `toYaml` with its indentation, and `if`. */
export function templateOf({ object, when, bindings }: ChartObject): string {
  const marked = bindings.reduce<unknown>((whole, { at }, index) => withContent(whole, at, `MARK${index}MARK`), object);
  const lines = stringify(marked, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd().split("\n");
  const body = lines.map((line) => {
    const { before = "", index } = MARK.exec(line)?.groups ?? {};
    const binding = bindings[Number(index)];
    return binding === undefined ? line : boundText(before, binding);
  });
  return [...when.map(opening), ...body, ...when.map(() => "{{- end }}"), ""].join("\n");
}

function opening({ value, not }: Condition): string {
  return `{{- if .Values.${value} }}${not ? "\n{{- else }}" : ""}`;
}

function boundText(before: string, { value, form }: Binding): string {
  const path = `.Values.${value}`;
  // The content of a list's entry stands two columns to the right of its dash.
  const indent = (/^[ -]*/.exec(before)?.[0].length ?? 0) + 2;
  const nested = `{{- toYaml ${path} | nindent ${indent} }}`;
  switch (form) {
    case "scalar":
      return `${before}{{ toYaml ${path} }}`;
    case "nested":
      return `${before}${nested}`;
    case "optional":
      return `{{- if ${path} }}\n${before}${nested}\n{{- end }}`;
    case "text":
      return `${before}|\n${nested}`.replace("|\n{{-", "|{{");
  }
}
