import type { Place } from "./place.ts";
import type { Binding } from "./template.ts";

/** A value that is one word or number. */
export function scalar(value: string, ...at: Place): Binding {
  return { at, value, form: "scalar" };
}

/** A value that is a list or an object. */
export function nested(value: string, ...at: Place): Binding {
  return { at, value, form: "nested" };
}

/** A list or an object that is left out where it is empty. */
export function optional(value: string, ...at: Place): Binding {
  return { at, value, form: "optional" };
}

/** What operators set for the pods of a program, in a template of pods with one container of ours. */
export function podBindings(program: string, container: string, ...template: Place): readonly Binding[] {
  const spec = [...template, "spec"];
  return [
    optional(`${program}.podAnnotations`, ...template, "metadata", "annotations"),
    optional("imagePullSecrets", ...spec, "imagePullSecrets"),
    optional(`${program}.nodeSelector`, ...spec, "nodeSelector"),
    optional(`${program}.tolerations`, ...spec, "tolerations"),
    optional(`${program}.affinity`, ...spec, "affinity"),
    scalar("image", ...spec, "containers", container, "image"),
    nested(`${program}.args`, ...spec, "containers", container, "args"),
    nested(`${program}.resources`, ...spec, "containers", container, "resources"),
  ];
}
