import type { OperationObject, ParameterObject, ReferenceObject } from "../../openapi/document-types.ts";

/** The curl command for an operation's example. */
export function curlCommand(method: string, path: string, { parameters = [], requestBody }: OperationObject): string {
  const verb = method === "get" ? "" : `-X ${method.toUpperCase()} `;
  const lines = [
    `curl ${verb}"$HOLDFAST_URL${filled(path, parameters)}"`,
    `-H "Authorization: Bearer $HOLDFAST_TOKEN"`,
    ...(requestBody === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d ${quoted(requestBody.content["application/json"].example)}`]),
  ];
  return lines.join(" \\\n  ");
}

function filled(path: string, parameters: readonly (ParameterObject | ReferenceObject)[]): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const found = parameters.find((one): one is ParameterObject => "name" in one && one.name === name);
    return encodeURIComponent(String(found?.example ?? name));
  });
}

function quoted(value: unknown): string {
  return `'${JSON.stringify(value, null, 2).replaceAll("'", `'\\''`)}'`;
}
