import { isObject, type Json, type JsonObject } from "../contract/json.ts";

/** Whether a reply is about the resource that the request declared; a reply that names no resource counts as such. */
export function isSameResource(body: JsonObject | undefined, data: unknown): boolean {
  const sent = body?.manifest;
  const echoed = isObject(data) ? data.manifest : undefined;
  if (!isObject(sent) || !isObject(echoed)) return true;
  return ["type", "name"].every((field) => isAlike(sent[field], echoed[field]));
}

function isAlike(sent: Json | undefined, echoed: Json | undefined): boolean {
  return sent === undefined || echoed === undefined || sent === echoed;
}
