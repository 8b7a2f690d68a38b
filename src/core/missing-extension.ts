/** What is found of an extension whose route a control plane lacks. */
export const MISSING_EXTENSION = "this control plane does not have it";
