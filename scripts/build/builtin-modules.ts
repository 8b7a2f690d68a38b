import { isBuiltin } from "node:module";
import type { Plugin } from "rolldown";
import { parseAst } from "rolldown/parseAst";

type Statement = ReturnType<typeof parseAst>["body"][number];
type Import = Extract<Statement, { type: "ImportDeclaration" }>;
type ImportSpecifier = Extract<Import["specifiers"][number], { type: "ImportSpecifier" }>;

/**
 * Reads of Node's modules what is imported, and nothing else. An `import` reads every export: for those of `node:http` Node loads
 * a second HTTP client, which costs a start of `plan` a tenth.
 */
export const readBuiltinsByName: Plugin = {
  name: "read-builtins-by-name",
  renderChunk: (code) => {
    // A chunk begins with its imports: to parse the rest takes as long as the bundle.
    const [head = ""] = /^(?:import .*\n)*/.exec(code) ?? [];
    // From the last, so that the positions of those before it stay what they are.
    const declarations = parseAst(head)
      .body.filter(isOfBuiltin)
      .reduceRight((text, node) => text.slice(0, node.start) + declarationOf(node) + text.slice(node.end), head);
    return declarations + code.slice(head.length);
  },
};

function isOfBuiltin(node: Statement): node is Import {
  return node.type === "ImportDeclaration" && isBuiltin(node.source.value);
}

function declarationOf({ source, specifiers }: Import): string {
  const whole = specifiers.flatMap((one) => (one.type === "ImportSpecifier" ? [] : [one.local.name]));
  const named = specifiers.flatMap((one) => (one.type === "ImportSpecifier" ? [propertyOf(one)] : []));
  const builtin = `globalThis.process.getBuiltinModule(${source.raw})`;
  return [...whole, `{ ${named.join(", ")} }`].map((names) => `const ${names} = ${builtin};`).join("\n");
}

function propertyOf({ imported, local }: ImportSpecifier): string {
  return `${"name" in imported ? imported.name : imported.value}: ${local.name}`;
}
