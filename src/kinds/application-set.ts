// src/kinds: one file for each kind. See docs/architecture.md#a-new-kind.

import type { ApplicationSetManifest } from "../contract/generated/manifests.ts";
import { isObject, type JsonObject } from "../contract/json.ts";
import { applicationKind } from "../core/application-kind.ts";
import { type Hardware, hardwareOfReplicas, hardwareSum } from "../core/hardware.ts";
import type { Kind } from "../core/kind.ts";

/** Applications that are created together, from a list or a template. */
export const kind: Kind = applicationKind<ApplicationSetManifest>("application-set", { hardware: hardwareOfServices });

// What a template makes is known to the control plane alone.
function hardwareOfServices({ components }: JsonObject): Hardware {
  const services = Array.isArray(components) ? components.filter(isObject).filter(isService) : [];
  return hardwareSum(services.map(hardwareOfReplicas));
}

// What runs all the time has an image, and nothing that starts it.
function isService({ image, trigger }: JsonObject): boolean {
  return isObject(image) && (trigger ?? null) === null;
}
