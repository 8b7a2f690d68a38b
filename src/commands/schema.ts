import { editorSchemaFor, editorSchemaText, manifestEditorSchema } from "../schema/editor-schema.ts";
import { checkoutAt } from "../source/git/repository-paths.ts";
import type { InvocationOf } from "./command.ts";
import type { schema } from "./declarations/schema.ts";
import { unknownKind } from "./input/named-kind.ts";
import { outputPath } from "./output/output-path.ts";
import { writeSharedFile } from "./output/write-outputs.ts";
import { say, writeResult } from "./terminal.ts";

/** Prints the JSON Schema of manifests, or of one kind, or writes it to a file. */
export async function run({ args, flags, terminal }: InvocationOf<typeof schema>): Promise<number> {
  const [kind] = args;
  const found = kind === undefined ? manifestEditorSchema() : editorSchemaFor(kind);
  if (kind !== undefined && found === undefined) throw unknownKind(kind, ["config", "policy"]);
  const text = editorSchemaText(found);
  if (flags.into === undefined) {
    await writeResult(terminal, text);
    return 0;
  }
  const path = outputPath(flags.into, { cwd: terminal.cwd, content: checkoutAt(terminal.cwd) });
  writeSharedFile(path, text, { what: "schema", hint: "name a file in a folder that exists with --into" });
  say(terminal, `wrote ${flags.into}`);
  return 0;
}
