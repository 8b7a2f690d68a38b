import { type Ajv2020, nil, type ValidateFunction } from "ajv/dist/2020.js";
import type { SourceCode } from "ajv/dist/types/index.js";

/** The schemas whose validators go into one file; that of a kind is called from outside. */
type ModuleOf = { readonly file: string; readonly ids: readonly string[]; readonly isKind: boolean };

/**
 * Source texts of compiled schemas, by file: each function stands in the file of its schema, and the others import it.
 * Ajv itself writes one file for all, or each function again for every file.
 */
export function validatorModules(ajv: Ajv2020, modules: readonly ModuleOf[]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const { file, ids } of modules) for (const id of ids) owners.set(nameOf(sourceOf(ajv, id)), file);
  return new Map(modules.map((module) => [module.file, moduleText(ajv, module, owners)]));
}

function moduleText(ajv: Ajv2020, { file, ids, isKind }: ModuleOf, owners: ReadonlyMap<string, string>): string {
  const usedValues = {};
  const written = new Set<string>();
  const imports = new Map<string, string>();

  function functionText(source: SourceCode): string {
    const name = nameOf(source);
    const owner = owners.get(name) ?? file;
    if (owner !== file) imports.set(name, owner);
    if (owner !== file || written.has(name)) return "";
    written.add(name);
    const scope = ajv.scope.scopeCode(source.scopeValues, usedValues, ({ value }) => {
      const { ref } = value ?? {};
      if (typeof ref !== "function") throw new Error(`${name} refers to something that is no schema`);
      before.push(functionText(requireSource(ref as ValidateFunction, name)));
      return nil;
    });
    const evaluated = source.evaluated === undefined ? "" : `${name}.evaluated = ${source.evaluated};`;
    return `${scope}\n${source.validateCode}\n${evaluated}\n`;
  }

  const before: string[] = [];
  const functions = ids.map((id) => functionText(sourceOf(ajv, id)));
  const names = ids.map((id) => nameOf(sourceOf(ajv, id)));
  const lines = [...Map.groupBy(imports, ([, owner]) => owner)].map(
    ([owner, list]) => `import { ${list.map(([name]) => name).join(", ")} } from "./${owner}.cjs";`,
  );
  const exported = isKind ? `export { ${names[0]} as validate };` : `export { ${names.join(", ")} };`;
  return [...lines, ...before, ...functions, exported].join("\n");
}

function sourceOf(ajv: Ajv2020, id: string): SourceCode {
  const validate = ajv.getSchema(id);
  if (validate === undefined) throw new Error(`there is no schema ${id}`);
  return requireSource(validate as ValidateFunction, id);
}

function requireSource({ source }: ValidateFunction, id: string): SourceCode {
  if (source === undefined) throw new Error(`${id} was compiled without its source`);
  return source;
}

function nameOf({ validateName }: SourceCode): string {
  return String(validateName);
}
