import { HoldfastError } from "../core/errors.ts";
import { jsonText, printable } from "../render/escape.ts";
import { explainReport, explainText } from "../render/explain.ts";
import { explainField } from "../schema/explain-field.ts";
import { manifestTypes, schemaFor } from "../schema/schemas.ts";
import type { InvocationOf } from "./command.ts";
import type { explain } from "./declarations/explain.ts";
import { unknownKind } from "./input/named-kind.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { writeResult } from "./terminal.ts";

/** Explains a kind of manifest or a field of one. */
export async function run(invocation: InvocationOf<typeof explain>): Promise<number> {
  const { args, terminal } = invocation;
  const { output, width } = terminalViewOf(invocation);
  const [kind = "", ...names] = (args[0] ?? "").split(".");
  const schema = manifestTypes.includes(kind) || kind === "config" ? schemaFor(kind) : undefined;
  if (schema === undefined) throw unknownKind(kind, ["config"]);
  const path = names.join(".");
  const found = explainField(schema, path);
  if (found.is === "unknown") throw unknownPath(kind, path, found);
  const explained = { kind, path, fields: found.fields };
  const report = () => jsonText(explainReport(explained, terminal.warnings.all()));
  await writeResult(terminal, output === "json" ? report() : explainText(explained, width));
  return 0;
}

type Unknown = Extract<ReturnType<typeof explainField>, { readonly is: "unknown" }>;

function unknownPath(kind: string, path: string, { name, near, names }: Unknown): HoldfastError {
  const above = [kind, ...path.split(".").slice(0, path.split(".").indexOf(name))].join(".");
  const others = names.length === 0 ? `${above} has no fields` : `the fields of ${above} are ${names.join(", ")}`;
  return new HoldfastError("invalid", printable(`${above} has no field ${name}`), {
    hint: printable(near.length === 0 ? others : `did you mean ${near.map((one) => `${kind}.${one}`).join(" or ")}?`),
  });
}
